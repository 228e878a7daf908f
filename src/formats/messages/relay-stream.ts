// The straight path down, streamed: each event is handed on with the text it came in, save the first, which names the model, and the
// last, which waits for the charge.
import { countUsage, type Usage } from '../../canonical/usage.ts';
import { isObject } from '../../lib/json.ts';
import { formatSse, type SseEvent } from '../../lib/sse.ts';
import type { UpstreamFailure } from '../../canonical/event.ts';
import type { AnswerContext, JsonObject, StreamPipe, StreamProgress } from '../format.ts';
import { readFailure, writeError } from './errors.ts';
import { parseEvent, typeOf } from './read-stream.ts';
import { meterBlockStart, meterDelta, wholeInputOf } from './relay-meter.ts';
import { readStop } from './stop.ts';
import { brokenStream, newProgress, repeatedStart, unreadableEvent } from '../stream-progress.ts';
import { StreamUsage, writeMessageUsage, writeUsage } from './usage.ts';
import { isSearchDone, readSearches } from './web-search.ts';
import { closeFrames } from './write-stream.ts';

export function relayStream(context: AnswerContext): StreamPipe<SseEvent> {
  const relay = new MessageStreamRelay(context);
  return {
    push: (event) => relay.push(event),
    end: () => relay.end(),
    limit: () => relay.limit(),
    close: (comment) => closeFrames(comment, relay.lastFrame),
    fail: (error, requestId) => formatSse('error', JSON.stringify(writeError(error, requestId))),
    progress: relay.progress,
  };
}

class MessageStreamRelay {
  readonly progress: StreamProgress = newProgress();
  /** `message_stop`, the upstream's own once it has come. */
  lastFrame = formatSse('message_stop', '{"type":"message_stop"}');
  readonly #context: AnswerContext;
  readonly #usage = new StreamUsage();
  #hasStarted = false;
  #openIndex: unknown = null;
  /** The input of the open call, as its start brought it, until a delta repeats it. */
  #wholeInput = '';

  constructor(context: AnswerContext) {
    this.#context = context;
  }

  push(raw: SseEvent): string {
    if (this.progress.status !== 'running') return '';
    const event = parseEvent(raw.data);
    if (event === 'terminator') return '';
    if (!event) return this.#fail(unreadableEvent(raw.data));
    switch (typeOf(raw, event)) {
      case 'message_start':
        // Clients take a second start for a fault of their own.
        return this.#hasStarted ? this.#fail(repeatedStart()) : this.#relayStart(raw, event);
      case 'content_block_start':
        if (isSearchDone(event.content_block)) this.progress.searches = (this.progress.searches ?? 0) + 1;
        this.#openIndex = event.index;
        meterBlockStart(this.progress.output, event.content_block);
        this.#wholeInput = wholeInputOf(event.content_block);
        return frameOf(raw, event);
      case 'content_block_delta':
        meterDelta(this.progress.output, event.delta);
        this.#wholeInput = '';
        return frameOf(raw, event);
      case 'content_block_stop':
        this.#openIndex = null;
        this.progress.output.addText(this.#wholeInput);
        this.#wholeInput = '';
        return frameOf(raw, event);
      case 'message_delta':
        return this.#relayEnd(raw, event);
      case 'message_stop':
        this.lastFrame = frameOf(raw, event);
        return this.#finish();
      case 'error':
        return this.#fail(readFailure(event));
      default:
        return frameOf(raw, event);
    }
  }

  /** As in translation: with a stop reason the answer is whole, and only its last event is missing, which `close` makes up. */
  end(): string {
    if (this.progress.status !== 'running') return '';
    return this.progress.stop ? this.#finish() : this.#fail(brokenStream());
  }

  /** Goes on as if the upstream had met its limit here. */
  limit(): string {
    const push = (event: JsonObject & { type: string }) => this.push({ event: event.type, data: JSON.stringify(event) });
    const blockEnd = this.#openIndex === null ? '' : push({ type: 'content_block_stop', index: this.#openIndex });
    const delta = { stop_reason: 'max_tokens', stop_sequence: null };
    const end = push({ type: 'message_delta', delta, usage: writeUsage(this.#counted()) });
    return blockEnd + end + push({ type: 'message_stop' });
  }

  #relayStart(raw: SseEvent, event: JsonObject): string {
    this.#hasStarted = true;
    const { message } = event;
    if (!isObject(message)) return frameOf(raw, event);
    this.#usage.start(message.usage);
    this.progress.usage = this.#usage.soFar;
    // Clients add the later counts to the usage of the start: without one, SDKs throw.
    const usage = this.progress.usage ? message.usage : writeMessageUsage(this.#counted());
    const relayed = { ...event, message: { ...message, model: this.#context.model, usage } };
    return frameOf({ event: raw.event, data: JSON.stringify(relayed) }, event);
  }

  /** Where the upstream has counted nothing by the end, the client is shown the own count that it is charged by. */
  #relayEnd(raw: SseEvent, event: JsonObject): string {
    const { delta, usage } = event;
    this.#usage.update(usage);
    this.progress.usage = this.#usage.soFar;
    this.progress.searches = readSearches(usage) ?? this.progress.searches;
    if (!isObject(delta) || typeof delta.stop_reason !== 'string') return frameOf(raw, event);
    this.progress.stop = readStop(delta.stop_reason, delta.stop_sequence);
    const counted = this.#counted();
    if (counted === this.progress.usage) return frameOf(raw, event);
    return frameOf({ event: raw.event, data: JSON.stringify({ ...event, usage: writeUsage(counted) }) }, event);
  }

  #counted(): Usage {
    const { usage, output } = this.progress;
    return countUsage(usage, { ...this.#context, outputBytes: output.bytes });
  }

  #finish(): string {
    this.progress.status = 'finished';
    this.progress.stop ??= { reason: 'end', sequence: null };
    return '';
  }

  #fail(failure: UpstreamFailure): string {
    this.progress.status = 'failed';
    this.progress.failure = failure;
    return '';
  }
}

/** A frame's data is one line; JSON that came in several is written anew. */
function frameOf(raw: SseEvent, event: JsonObject): string {
  const data = raw.data.includes('\n') ? JSON.stringify(event) : raw.data;
  return formatSse(typeOf(raw, event) || null, data);
}
