// An upstream's Responses stream to canonical events. Tolerant of hosts that leave events out: what only a `done` event, a finished item or
// the final response tells is taken from there. Blocks never overlap: an item that starts before the last one ended waits for it.
import type { StreamEvent, UpstreamFailure } from '../../canonical/event.ts';
import type { Usage } from '../../canonical/usage.ts';
import { isObject } from '../../lib/json.ts';
import type { SseEvent } from '../../lib/sse.ts';
import { UnreadableAnswer, type JsonObject, type StreamReader } from '../format.ts';
import { readFailure } from './errors.ts';
import { textOf } from './read-answer.ts';
import { createItemReader, type ItemReader } from './read-stream-item.ts';
import { readStop } from './stop.ts';
import { parseStreamEvent, responseOf, type StreamMessage } from './stream-event.ts';
import { brokenStream, spoiltStream, unreadableEvent } from '../stream-progress.ts';
import { readUsage } from './usage.ts';

/** Reads the events of an OpenAI-style stream; unknown ones are ignored. */
export function readStream(): StreamReader {
  const reader = new ResponseStreamReader();
  return { push: (event) => reader.push(event), end: () => reader.end(), usageSoFar: () => reader.usageSoFar };
}

/** An item in the order of its start, with what it has to say once its turn comes. */
type Turn = { readonly item: ItemReader; readonly waiting: StreamEvent[]; isDone: boolean };

class ResponseStreamReader {
  /** Only the last event has one. */
  usageSoFar: Usage | null = null;
  #events: StreamEvent[] = [];
  readonly #turns = new Map<number, Turn>();
  /** Turns that are not over; only the first may speak. */
  #queue: Turn[] = [];
  #hasStarted = false;
  #hasEnded = false;
  readonly #has = { calls: false, refusal: false };

  push(event: SseEvent): readonly StreamEvent[] {
    if (this.#hasEnded) return [];
    const message = parseStreamEvent(event);
    if (message === 'unreadable') this.#fail(unreadableEvent(event.data));
    else if (message) this.#guard(() => this.#read(message));
    return this.#take();
  }

  end(): readonly StreamEvent[] {
    if (!this.#hasEnded) this.#fail(brokenStream());
    return this.#take();
  }

  #read({ type, payload }: StreamMessage): void {
    switch (type) {
      case 'response.created':
        this.#start();
        return;
      case 'response.output_item.added':
        this.#say(this.#turnOf(payload, payload.item), (item) => item.start(itemOf(payload)));
        return;
      case 'response.output_item.done':
        this.#close(this.#turnOf(payload, payload.item), itemOf(payload));
        return;
      case 'response.completed':
      case 'response.incomplete':
        this.#finish(type, responseOf(payload));
        return;
      case 'response.failed':
      case 'response.cancelled':
      case 'error':
        this.usageSoFar = readUsage(responseOf(payload).usage);
        this.#fail(readFailure(payload.response ?? payload));
        return;
      default:
        this.#say(this.#turnOf(payload, impliedItem(type)), (item) => item.read(type, payload));
    }
  }

  #finish(type: string, response: JsonObject): void {
    this.#start();
    const output = Array.isArray(response.output) ? response.output : [];
    for (const [index, item] of output.entries()) {
      if (isObject(item)) this.#close(this.#turnOf({ output_index: index }, item), item);
    }
    // Closing takes a turn out of the queue.
    for (const turn of this.#queue.slice()) this.#close(turn, {});
    const status = type.slice('response.'.length);
    this.#events.push({ type: 'finish', stop: readStop({ ...response, status }, this.#has), usage: readUsage(response.usage) });
    this.#hasEnded = true;
  }

  #fail(failure: UpstreamFailure): void {
    this.#start();
    this.#events.push({ type: 'error', failure });
    this.#hasEnded = true;
  }

  #guard(read: () => void): void {
    try {
      read();
    } catch (error) {
      if (!(error instanceof UnreadableAnswer)) throw error;
      this.#fail(spoiltStream(error.message));
    }
  }

  #start(): void {
    if (!this.#hasStarted) this.#events.push({ type: 'start', usage: null });
    this.#hasStarted = true;
  }

  /** The turn that an event belongs to; a new one where the event is the first that is heard of its item. */
  #turnOf(payload: JsonObject, item: unknown): Turn | null {
    const { output_index: index } = payload;
    if (typeof index !== 'number') return this.#queue.at(-1) ?? null;
    const known = this.#turns.get(index);
    if (known || !isObject(item)) return known ?? null;
    const turn: Turn = { item: createItemReader(textOf(item.type)), waiting: [], isDone: false };
    this.#turns.set(index, turn);
    this.#queue.push(turn);
    return turn;
  }

  #say(turn: Turn | null, speak: (item: ItemReader) => readonly StreamEvent[]): void {
    if (!turn || turn.isDone) return;
    this.#start();
    const events = speak(turn.item);
    if (turn === this.#queue[0]) this.#emit(events);
    else turn.waiting.push(...events);
  }

  #close(turn: Turn | null, item: JsonObject): void {
    if (!turn || turn.isDone) return;
    this.#say(turn, (reader) => reader.finish(item));
    turn.isDone = true;
    while (this.#queue[0]?.isDone) {
      this.#queue.shift();
      this.#emit(this.#queue[0]?.waiting.splice(0) ?? []);
    }
  }

  #emit(events: readonly StreamEvent[]): void {
    for (const event of events) {
      this.#has.calls ||= event.type === 'tool-call-start';
      this.#has.refusal ||= event.type === 'refusal-start';
      this.#events.push(event);
    }
  }

  #take(): readonly StreamEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }
}

function itemOf(payload: JsonObject): JsonObject {
  return isObject(payload.item) ? payload.item : {};
}

/** The kind of item that an event speaks of, for hosts that announce none. Calls are not among them: without a name they are nothing. */
function impliedItem(type: string): JsonObject | null {
  if (/^response\.(?:output_text|refusal)\./.test(type)) return { type: 'message' };
  if (/^response\.reasoning_(?:text|summary_text)\./.test(type)) return { type: 'reasoning' };
  return null;
}
