// Reads an upstream's Responses stream as canonical events. Hosts may leave out events: values that
// only a `done` event, a finished item or the final response has are taken from there. Blocks never
// overlap: an item that starts before the last one ended waits for it.
import type { StreamEvent, UpstreamFailure } from '../../canonical/event.ts';
import type { Usage } from '../../canonical/usage.ts';
import { isObject, type JsonObject, objectOf, listOf, textOf } from '../../lib/json.ts';
import type { SseEvent } from '../../lib/sse.ts';
import { EventReader } from '../event-reader.ts';
import { LastEvent } from '../last-event.ts';
import type { StreamReader } from '../format.ts';
import { readFailure } from './errors.ts';
import { createItemReader, type ItemReader } from './read-stream-item.ts';
import { readStop } from './stop.ts';
import { StreamItems } from './stream-items.ts';
import { parseStreamEvent, responseOf, type StreamMessage } from './stream-event.ts';
import { brokenStream, repeatedStart, unreadableEvent } from '../stream-progress.ts';
import { readUsage } from './usage.ts';

/** Unknown events are ignored. */
export function readStream(): StreamReader {
  return new ResponseStreamReader();
}

/** An item in the queue, with the events that wait until the items before it have ended. */
type QueuedItem = { readonly item: ItemReader; readonly waiting: StreamEvent[]; isDone: boolean };

class ResponseStreamReader extends EventReader {
  /** Only the last event has usage. */
  usageSoFar: Usage | null = null;
  #events: StreamEvent[] = [];
  readonly #lastEvent = new LastEvent();
  readonly #items = new StreamItems<QueuedItem>();
  /** Items that have not ended. Only the first may emit events. */
  #queue: QueuedItem[] = [];
  #hasStarted = false;
  #hasMessage = false;
  #id: string | null = null;
  readonly #has = { calls: false, refusal: false };

  get isComplete(): boolean {
    return this.usageSoFar !== null;
  }

  protected read(event: SseEvent): readonly StreamEvent[] {
    const isRepeated = this.#lastEvent.isRepeated(event.data);
    const message = parseStreamEvent(event);
    if (message === 'unreadable') return this.fail(unreadableEvent(event.data));
    if (isRepeated && message?.type === 'response.output_item.added')
      return this.fail(repeatedStart());
    return message ? this.#readMessage(message) : [];
  }

  protected close(): readonly StreamEvent[] {
    return this.fail(brokenStream());
  }

  #readMessage({ type, payload }: StreamMessage): readonly StreamEvent[] {
    switch (type) {
      case 'response.created': {
        const { id } = responseOf(payload);
        if (this.#id !== null && (id === '' || id !== this.#id)) return this.fail(repeatedStart());
        this.#id = textOf(id);
        this.#start();
        break;
      }
      case 'response.output_item.added':
        this.#readItem(
          this.#items.findAdded(payload) ?? this.#queueItem(payload, payload.item),
          (item) => item.start(itemOf(payload)),
        );
        break;
      case 'response.output_item.done':
        this.#close(this.#find(payload) ?? this.#queueItem(payload, payload.item), itemOf(payload));
        this.#items.end(payload);
        break;
      case 'response.completed':
      case 'response.incomplete':
        this.#finish(type, responseOf(payload));
        break;
      case 'response.failed':
      case 'response.cancelled':
      case 'error':
        this.usageSoFar = readUsage(responseOf(payload));
        return this.fail(readFailure(payload.response ?? payload));
      default:
        this.#readItem(this.#find(payload) ?? this.#queueItem(payload, impliedItem(type)), (item) =>
          item.read(type, payload),
        );
    }
    return this.#take();
  }

  #finish(type: string, response: JsonObject): void {
    this.#start();
    const output = listOf(response.output).map((item, index) => ({ output_index: index, item }));
    // Those of the stream first: several new items may have one id.
    const streamed = this.#items.findFinal(output);
    const hadMessage = this.#hasMessage;
    for (const [index, payload] of output.entries()) {
      const item = itemOf(payload);
      // A text that was not streamed may stand where the stream had reasoning.
      const isNew = item.type === 'message' && !hadMessage;
      const known = isNew ? null : streamed[index];
      this.#close(known ?? this.#queueItem(payload, item), item);
    }
    // Closing removes an item from the queue.
    for (const queued of this.#queue.slice()) this.#close(queued, {});
    const status = type.slice('response.'.length);
    this.#events.push({
      type: 'finish',
      stop: readStop({ ...response, status }, this.#has),
      usage: readUsage(response),
    });
    this.hasEnded = true;
  }

  protected override fail(failure: UpstreamFailure): readonly StreamEvent[] {
    this.#start();
    return [...this.#take(), ...super.fail(failure)];
  }

  #start(): void {
    if (!this.#hasStarted) this.#events.push({ type: 'start', usage: null });
    this.#hasStarted = true;
  }

  #find(payload: JsonObject): QueuedItem | null {
    const last = typeof payload.output_index === 'number' ? null : this.#queue.at(-1);
    return this.#items.find(payload) ?? last ?? null;
  }

  #queueItem(payload: JsonObject, item: unknown): QueuedItem | null {
    if (typeof payload.output_index !== 'number' || !isObject(item)) return null;
    const queued: QueuedItem = {
      item: createItemReader(textOf(item.type)),
      waiting: [],
      isDone: false,
    };
    this.#hasMessage ||= item.type === 'message';
    this.#items.add(payload, queued);
    this.#queue.push(queued);
    return queued;
  }

  #readItem(queued: QueuedItem | null, read: (item: ItemReader) => readonly StreamEvent[]): void {
    if (!queued || queued.isDone) return;
    this.#start();
    const events = read(queued.item);
    if (queued === this.#queue[0]) this.#emit(events);
    else queued.waiting.push(...events);
  }

  #close(queued: QueuedItem | null, item: JsonObject): void {
    if (!queued || queued.isDone) return;
    this.#readItem(queued, (reader) => reader.finish(item));
    queued.isDone = true;
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
  return objectOf(payload.item);
}

/**
 * Returns the kind of item that an event implies, for hosts that announce none. Never a call, which
 * needs a name.
 */
function impliedItem(type: string): JsonObject | null {
  if (/^response\.(?:output_text|refusal)\./.test(type)) return { type: 'message' };
  if (/^response\.reasoning_(?:text|summary_text)\./.test(type)) return { type: 'reasoning' };
  return null;
}
