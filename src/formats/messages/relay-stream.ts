// The straight path down, streamed: each event is handed on with the text it came in, save the first, which names the model, and the
// last, which waits for the charge.
import { countUsage } from '../../canonical/usage.ts';
import { isObject } from '../../lib/json.ts';
import { formatSse, type SseEvent } from '../../lib/sse.ts';
import { utf8Length } from '../../lib/tokens.ts';
import type { UpstreamFailure } from '../../canonical/event.ts';
import type { AnswerContext, JsonObject, StreamPipe, StreamProgress } from '../format.ts';
import { readFailure, writeError } from './errors.ts';
import { asText } from './read-answer.ts';
import { parseEvent } from './read-stream.ts';
import { readStop } from './stop.ts';
import { brokenStream, newProgress, unreadableEvent } from './stream-progress.ts';
import { StreamUsage, writeUsage } from './usage.ts';
import { closeFrames } from './write-stream.ts';

export function relayStream(context: AnswerContext): StreamPipe<SseEvent> {
  const relay = new MessageStreamRelay(context);
  return {
    push: (event) => relay.push(event),
    end: () => relay.end(),
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

  constructor(context: AnswerContext) {
    this.#context = context;
  }

  push(raw: SseEvent): string {
    if (this.progress.status !== 'running') return '';
    const event = parseEvent(raw.data);
    if (event === 'terminator') return '';
    if (!event) return this.#fail(unreadableEvent(raw.data));
    switch (event.type) {
      case 'message_start':
        return this.#relayStart(raw, event);
      case 'content_block_delta':
        this.progress.outputBytes += deltaBytes(event.delta);
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

  #relayStart(raw: SseEvent, event: JsonObject): string {
    const { message } = event;
    if (!isObject(message)) return frameOf(raw, event);
    this.#usage.start(message.usage);
    this.progress.earlyUsage = this.#usage.early;
    // Clients add the later counts to the usage of the start: without one, SDKs throw.
    const usage = this.#usage.early ? message.usage : writeUsage(countUsage({ ...this.#context, outputBytes: 0, early: null }));
    const relayed = { ...event, message: { ...message, model: this.#context.model, usage } };
    return frameOf({ event: raw.event, data: JSON.stringify(relayed) }, event);
  }

  /** Where the upstream has counted nothing by the end, the client is shown the own count that it is charged by. */
  #relayEnd(raw: SseEvent, event: JsonObject): string {
    const { delta, usage } = event;
    this.#usage.update(usage);
    if (!isObject(delta) || typeof delta.stop_reason !== 'string') return frameOf(raw, event);
    this.progress.stop = readStop(delta.stop_reason, delta.stop_sequence);
    if (this.#usage.total) return frameOf(raw, event);
    const counted = countUsage({ ...this.#context, outputBytes: this.progress.outputBytes, early: this.#usage.early });
    return frameOf({ event: raw.event, data: JSON.stringify({ ...event, usage: writeUsage(counted) }) }, event);
  }

  #finish(): string {
    this.progress.status = 'finished';
    this.progress.stop ??= { reason: 'end', sequence: null };
    this.progress.usage = this.#usage.total;
    return '';
  }

  #fail(failure: UpstreamFailure): string {
    this.progress.status = 'failed';
    this.progress.failure = failure;
    return '';
  }
}

function deltaBytes(delta: unknown): number {
  if (!isObject(delta)) return 0;
  return utf8Length(asText(delta.text ?? delta.thinking ?? delta.partial_json));
}

/** A frame's data is one line; JSON that came in several is written anew. */
function frameOf(raw: SseEvent, event: JsonObject): string {
  const data = raw.data.includes('\n') ? JSON.stringify(event) : raw.data;
  return formatSse(raw.event || asText(event.type) || null, data);
}
