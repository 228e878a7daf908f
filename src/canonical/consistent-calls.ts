// What holds of the calls of every answer in translation, whatever its upstream said: their ids differ, and the answer ended for calls if
// and only if there are any. Agents wait for a call that a stop reason promised, and run none that it does not mention.
import { newIdWithPrefix } from '../lib/ids.ts';
import type { Answer } from './answer.ts';
import type { Stop, StreamEvent } from './event.ts';

/** Makes the events of one stream consistent, one after the other. */
export function keepCallsConsistent(): (event: StreamEvent) => StreamEvent {
  const ids = new Set<string>();
  return (event) => {
    switch (event.type) {
      case 'tool-call-start':
        return withId(event, takeId(event.id, ids));
      case 'finish':
        return { ...event, stop: agreeWithCalls(event.stop, ids.size > 0) };
      default:
        return event;
    }
  };
}

/** The same for a whole answer. */
export function makeCallsConsistent(answer: Answer): Answer {
  const ids = new Set<string>();
  const content = answer.content.map((part) => (part.type === 'tool-call' ? withId(part, takeId(part.id, ids)) : part));
  return { ...answer, content, stop: agreeWithCalls(answer.stop, ids.size > 0) };
}

/** Two calls of one id would get one result, and Anthropic refuses the conversation that they are in. */
function takeId(id: string, taken: Set<string>): string {
  const base = id === '' ? newIdWithPrefix('call') : id;
  let free = base;
  for (let count = 2; taken.has(free); count++) free = `${base}_${count}`;
  taken.add(free);
  return free;
}

function withId<T extends { readonly id: string }>(call: T, id: string): T {
  return call.id === id ? call : { ...call, id };
}

function agreeWithCalls(stop: Stop, hasCalls: boolean): Stop {
  if (stop.reason === 'tool-calls') return hasCalls ? stop : { ...stop, reason: 'end' };
  const isPlainEnd = stop.reason === 'end' || stop.reason === 'stop-sequence' || stop.reason === 'pause';
  return hasCalls && isPlainEnd ? { reason: 'tool-calls', sequence: null } : stop;
}
