// Guarantees two things about calls in translation, whatever an upstream or client sent: call ids
// are unique, and an answer's stop reason says "calls" if and only if there are calls. Agents wait
// for a call that the stop reason promised, and do not run one that it does not mention.
import { newIdWithPrefix } from '../../lib/ids.ts';
import type { StreamEvent } from '../../canonical/event.ts';
import type { Stop } from '../../canonical/stop.ts';
import type {
  AssistantPart,
  CanonicalRequest,
  Message,
  ToolResultPart,
} from '../../canonical/request.ts';

/** Returns a function that makes one answer's events consistent, called with each in turn. */
export function keepCallsConsistent(): (event: StreamEvent) => StreamEvent {
  const ids: TakenIds = new Map();
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

/**
 * Gives the calls of a request unique ids. A result answers the first call of its id that has no
 * result yet. Some hosts restart their numbering in each answer, and Anthropic refuses repeated
 * ids.
 */
export function separateCalls(request: CanonicalRequest): CanonicalRequest {
  const sent = request.messages.flatMap(({ role, content }) =>
    role === 'assistant' ? content.flatMap(idsOf) : [],
  );
  if (new Set(sent).size === sent.length) return request;
  const taken: TakenIds = new Map();
  const unanswered = new Map<string, string[]>();
  const answered = new Map<string, string>();
  const rename = (part: AssistantPart): AssistantPart => {
    if (part.type !== 'tool-call') return part;
    const id = takeId(part.id, taken);
    const waiting = unanswered.get(part.id);
    if (waiting) waiting.push(id);
    else unanswered.set(part.id, [id]);
    return withId(part, id);
  };
  const answer = (part: ToolResultPart): ToolResultPart => {
    const callId = unanswered.get(part.callId)?.shift() ?? answered.get(part.callId) ?? part.callId;
    answered.set(part.callId, callId);
    return { ...part, callId };
  };
  const messages = request.messages.map((message): Message => {
    if (message.role === 'assistant') return { ...message, content: message.content.map(rename) };
    return message.role === 'tool' ? { ...message, content: message.content.map(answer) } : message;
  });
  return { ...request, messages };
}

function idsOf(part: AssistantPart): string[] {
  return part.type === 'tool-call' ? [part.id] : [];
}

/** The number of calls by original id, and the ids that were assigned. */
type TakenIds = Map<string, number>;

/** Two calls with one id would get one result, and Anthropic refuses such a conversation. */
function takeId(id: string, taken: TakenIds): string {
  const base = id === '' ? newIdWithPrefix('call') : id;
  let count = taken.get(base) ?? 0;
  let free = base;
  for (; taken.has(free); free = `${base}_${count}`) count++;
  taken.set(free, 1);
  taken.set(base, Math.max(count, 1));
  return free;
}

function withId<T extends { readonly id: string }>(call: T, id: string): T {
  return call.id === id ? call : { ...call, id };
}

function agreeWithCalls(stop: Stop, hasCalls: boolean): Stop {
  if (stop.reason === 'tool-calls') return hasCalls ? stop : { ...stop, reason: 'end' };
  const isPlainEnd =
    stop.reason === 'end' || stop.reason === 'stop-sequence' || stop.reason === 'pause';
  return hasCalls && isPlainEnd ? { reason: 'tool-calls', sequence: null } : stop;
}
