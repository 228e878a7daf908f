// The straight path down, for a stream: each chunk is parsed once, gets the catalogue's model id, and goes on. `[DONE]` is kept back until
// the charge is recorded.
import type { UpstreamFailure } from '../../canonical/event.ts';
import { countUsage, mergeUsage, type Usage } from '../../canonical/usage.ts';
import { isObject } from '../../lib/json.ts';
import { formatSse, type SseEvent } from '../../lib/sse.ts';
import type { AnswerContext, JsonObject, StreamPipe } from '../format.ts';
import { brokenStream, newProgress, unreadableStream } from '../stream-progress.ts';
import { readStreamFailure, writeError } from './errors.ts';
import { parseChunk } from './read-stream.ts';
import { meterMessage } from './relay-meter.ts';
import { isBrokenOff, readStop } from './stop.ts';
import { readUsage, wantsStreamUsage, writeUsage } from './usage.ts';
import { countSearches } from './web-search.ts';
import { chunkHead, closeStream } from './write-stream.ts';

export function relayStream(context: AnswerContext): StreamPipe<SseEvent> {
  const relay = new ChatStreamRelay(context);
  return {
    push: (event) => relay.push(event),
    end: () => relay.end(),
    limit: () => relay.limit(),
    close: (comment) => relay.close(comment),
    fail: (error, requestId) => formatSse(null, JSON.stringify(writeError(error, requestId))),
    progress: relay.progress,
  };
}

class ChatStreamRelay {
  readonly progress = newProgress();
  readonly #context: AnswerContext;
  readonly #wantsUsage: boolean;
  /** Choices by index, each with its finish reason once it has one. */
  readonly #choices = new Map<unknown, string | null>();
  #hasToolCalls = false;
  #hasRefusal = false;
  /** The usage that the client saw last. */
  #shown: Usage | null = null;
  /** Gives a usage chunk of our own its id and time. */
  #lastChunk: JsonObject = {};

  constructor(context: AnswerContext) {
    this.#context = context;
    this.#wantsUsage = wantsStreamUsage(context.request);
  }

  push(event: SseEvent): string {
    if (this.progress.status !== 'running' || event.data === '') return '';
    if (event.data.startsWith('[DONE]'))
      return this.#choices.size > 0 ? this.#finish() : this.#fail(brokenStream('the stream has no answer'));
    const chunk = parseChunk(event.data);
    if (!chunk) return this.#fail(unreadableStream('a chunk of the stream is not a JSON object'));
    const failure = readStreamFailure(event, chunk);
    return failure ? this.#fail(failure) : this.#relayChunk(chunk);
  }

  /** Some hosts forget `[DONE]`: the stream is whole when every choice has its finish reason. */
  end(): string {
    if (this.progress.status !== 'running') return '';
    const reasons = [...this.#choices.values()];
    const isWhole = reasons.length >= this.#context.request.choices && !reasons.includes(null);
    return isWhole ? this.#finish() : this.#fail(brokenStream('the stream ended in mid-answer'));
  }

  /** Goes on as if the upstream had met its limit here. */
  limit(): string {
    const { id, object, created } = this.#lastChunk;
    // Azure opens a stream with a chunk that has no choice.
    if (this.#choices.size === 0) this.#choices.set(0, null);
    const open = [...this.#choices].filter(([, reason]) => reason === null);
    const choices = open.map(([index]) => ({ index, delta: {}, finish_reason: 'length' }));
    return this.#relayChunk({ id, object, created, choices }) + this.#finish();
  }

  /** A client that asked for usage is shown what it is charged, where the upstream has not counted just that. */
  close(comment: string): string {
    const counted = this.#counted();
    if (!this.#wantsUsage || (this.#shown && isSameUsage(this.#shown, counted))) return closeStream(comment);
    const usage = writeUsage(counted);
    const head = chunkHead(this.#context);
    const { id = head.id, created = head.created } = this.#lastChunk;
    return formatSse(null, JSON.stringify({ ...head, id, created, choices: [], usage })) + closeStream(comment);
  }

  #relayChunk(chunk: Record<string, unknown>): string {
    const choices: unknown[] = Array.isArray(chunk.choices) ? chunk.choices : [];
    for (const choice of choices) {
      if (isObject(choice)) this.#readChoice(choice);
    }
    if (this.progress.status !== 'running') return '';
    this.#lastChunk = chunk;
    this.progress.searches = countSearches(this.#context.request);
    this.#readUsage(chunk);
    if (!this.#wantsUsage && chunk.usage !== undefined) {
      // The gateway asked for it: neither the chunk that carries only usage nor `usage: null` on the others is the client's.
      if (choices.length === 0) return '';
      if (chunk.usage === null) chunk.usage = undefined;
    }
    chunk.model = this.#context.model;
    return formatSse(null, JSON.stringify(chunk));
  }

  /** What is charged is shown; a half that was not counted may still be, by a later chunk. */
  #readUsage(chunk: Record<string, unknown>): void {
    const told = readUsage(chunk.usage);
    if (!told) return;
    this.progress.usage = mergeUsage(this.progress.usage, told);
    this.#shown = this.#counted();
    if (!isSameUsage(this.#shown, told)) chunk.usage = writeUsage(this.#shown);
  }

  #counted(): Usage {
    const { usage, output } = this.progress;
    return countUsage(usage, { ...this.#context, outputBytes: output.bytes });
  }

  #readChoice(choice: JsonObject): void {
    const { delta, message, finish_reason: reason } = choice;
    const index = choice.index ?? 0;
    const hasReason = typeof reason === 'string' && reason !== '';
    // As in translation: a first chunk may be a message; a later message repeats the deltas.
    const added = isObject(delta) ? delta : this.#choices.has(index) ? null : message;
    if (isObject(added)) this.#readDelta(added);
    if (hasReason || !this.#choices.has(index)) this.#choices.set(index, hasReason ? reason : null);
    if (hasReason && isBrokenOff(reason)) this.#fail(brokenStream(`the stream broke off: ${reason}`));
  }

  #readDelta(delta: JsonObject): void {
    meterMessage(this.progress.output, delta);
    if (Array.isArray(delta.tool_calls) && delta.tool_calls.length > 0) this.#hasToolCalls = true;
    if (typeof delta.refusal === 'string' && delta.refusal !== '') this.#hasRefusal = true;
  }

  #finish(): string {
    const reasons = this.#choices;
    const reason = reasons.get(0) ?? reasons.values().next().value;
    this.progress.stop = readStop(reason, { hasToolCalls: this.#hasToolCalls, hasRefusal: this.#hasRefusal });
    this.progress.status = 'finished';
    return '';
  }

  #fail(failure: UpstreamFailure): string {
    this.progress.status = 'failed';
    this.progress.failure = failure;
    return '';
  }
}

function isSameUsage(one: Usage, other: Usage): boolean {
  return (Object.keys(one) as (keyof Usage)[]).every((name) => one[name] === other[name]);
}
