// Reads an upstream's Responses stream as canonical events. Hosts may leave out events: values that
// only a `done` event, a finished item or the final response has are taken from there. Blocks never
// overlap: an item that starts before the last one ended waits for it.
import type { StreamEvent, UpstreamFailure } from '../../canonical/event.ts';
import type { Usage } from '../../canonical/usage.ts';
import { isObject, type JsonObject, objectOf, listOf, textOf } from '../../lib/json.ts';
import type { SseEvent } from '../../lib/sse.ts';
import { EventReader } from '../event-reader.ts';
import type { StreamReader } from '../format.ts';
import { readFailure } from './errors.ts';
import { createItemReader, type ItemReader } from './read-stream-item.ts';
import { readStop } from './stop.ts';
import { parseStreamEvent, responseOf, type StreamMessage } from './stream-event.ts';
import { brokenStream, unreadableEvent } from '../stream-progress.ts';
import { readUsage } from './usage.ts';

/** Unknown events are ignored. */
export function readStream(): StreamReader {
  return new ResponseStreamReader();
}

/**
 * An item in the queue, with the events that wait until the items before it have ended. `ids`: its own
 * and its call's, as far as the stream names them.
 */
type QueuedItem = {
  readonly item: ItemReader;
  readonly ids: Set<unknown>;
  readonly waiting: StreamEvent[];
  isDone: boolean;
};

class ResponseStreamReader extends EventReader {
  /** Only the last event has usage. */
  usageSoFar: Usage | null = null;
  #events: StreamEvent[] = [];
  readonly #items: QueuedItem[] = [];
  /** The last item that had the index. */
  readonly #atIndex = new Map<unknown, QueuedItem>();
  /** Items that have not ended. Only the first may emit events. */
  #queue: QueuedItem[] = [];
  #hasStarted = false;
  readonly #has = { calls: false, refusal: false };

  get isComplete(): boolean {
    return this.usageSoFar !== null;
  }

  protected read(event: SseEvent): readonly StreamEvent[] {
    const message = parseStreamEvent(event);
    if (message === 'unreadable') return this.fail(unreadableEvent(event.data));
    return message ? this.#readMessage(message) : [];
  }

  protected close(): readonly StreamEvent[] {
    return this.fail(brokenStream());
  }

  #readMessage({ type, payload }: StreamMessage): readonly StreamEvent[] {
    switch (type) {
      case 'response.created':
        this.#start();
        break;
      case 'response.output_item.added':
        this.#readItem(this.#addedItem(payload), (item) => item.start(itemOf(payload)));
        break;
      case 'response.output_item.done':
        this.#close(this.#find(payload) ?? this.#queueItem(payload, payload.item), itemOf(payload));
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
    const streamed = output.map((payload) => this.#find(payload));
    for (const [index, payload] of output.entries())
      this.#close(streamed[index] ?? this.#queueItem(payload, payload.item), itemOf(payload));
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

  /**
   * Returns the item that begins. Some hosts give it the index of another
   * (github.com/theopenco/llmgateway/pull/2908, read 2026-12-01).
   */
  #addedItem(payload: JsonObject): QueuedItem | null {
    const known = this.#atIndexOf(payload);
    const ids = idsOf(payload);
    const isOther = known && known.ids.size > 0 && ids.length > 0 && !hasOne(known, ids);
    if (!known || isOther) return this.#queueItem(payload, payload.item);
    for (const id of ids) known.ids.add(id);
    return known;
  }

  /**
   * Returns the item of an event that does not begin it, by its id if the one at its index has
   * another: indices may have gaps, which the final response has not
   * (github.com/diegosouzapw/OmniRoute/pull/12445, read 2026-12-01).
   */
  #find(payload: JsonObject): QueuedItem | null {
    const ids = idsOf(payload);
    const atIndex = this.#atIndexOf(payload);
    if (atIndex && hasOne(atIndex, ids)) return atIndex;
    return this.#items.find((queued) => hasOne(queued, ids)) ?? atIndex;
  }

  #atIndexOf({ output_index: index }: JsonObject): QueuedItem | null {
    return (typeof index === 'number' ? this.#atIndex.get(index) : this.#queue.at(-1)) ?? null;
  }

  #queueItem(payload: JsonObject, item: unknown): QueuedItem | null {
    const { output_index: index } = payload;
    if (typeof index !== 'number' || !isObject(item)) return null;
    const queued: QueuedItem = {
      item: createItemReader(textOf(item.type)),
      ids: new Set(idsOf(payload)),
      waiting: [],
      isDone: false,
    };
    this.#items.push(queued);
    this.#atIndex.set(index, queued);
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

function idsOf(payload: JsonObject): readonly unknown[] {
  const { id, call_id } = itemOf(payload);
  return [payload.item_id, id, call_id].filter(
    (value) => typeof value === 'string' && value !== '',
  );
}

function hasOne({ ids }: QueuedItem, wanted: readonly unknown[]): boolean {
  return wanted.some((id) => ids.has(id));
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
