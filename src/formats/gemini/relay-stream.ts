// The straight path for a stream. Each chunk is sent on with the catalogue's model id. Those from the
// finish reason on wait for the charge, and the last gets its cost.
import { countUsage, mergeUsage, noUsage } from '../../canonical/usage.ts';
import type { UpstreamFailure } from '../../canonical/event.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import type { SseEvent } from '../../lib/sse.ts';
import { parseEventData } from '../event-data.ts';
import type { AnswerContext, StreamPipe, StreamProgress } from '../format.ts';
import { shownUsage } from '../shown-usage.ts';
import { invalidOutput, newProgress, unreadableEvent } from '../stream-progress.ts';
import { brokenStream, readStreamFailure, writeError } from './errors.ts';
import { frame } from './frame.ts';
import { candidatesOf, meterChunk, partsOf, readSearches } from './relay-meter.ts';
import { isBrokenOff, readStop } from './stop.ts';
import { readUsage, writeUsage } from './usage.ts';
import { writeChunk } from './write-answer.ts';

export function relayStream(context: AnswerContext): StreamPipe<SseEvent> {
  const relay = new ChunkRelay(context);
  return {
    push: (event) => relay.push(event),
    end: () => relay.end(),
    limit: () => relay.limit(),
    close: (costUsd) => relay.close(costUsd),
    fail: (error, asked) => frame(writeError(error, asked)),
    progress: relay.progress,
  };
}

class ChunkRelay {
  readonly progress: StreamProgress = newProgress();
  readonly #context: AnswerContext;
  /** From the finish reason on. */
  #held: JsonObject[] = [];
  /** The latest `usageMetadata`. */
  #usage: unknown;
  readonly #finished = new Set<unknown>();
  #broken: string | null = null;
  #hasCalls = false;

  constructor(context: AnswerContext) {
    this.#context = context;
  }

  push({ data }: SseEvent): string {
    if (this.progress.status !== 'running' || data === '' || data === '[DONE]') return '';
    const chunk = parseEventData(data);
    const failure = readStreamFailure(chunk);
    if (failure) return this.#fail(failure);
    if (!isObject(chunk)) return this.#fail(unreadableEvent(data));
    this.#read(chunk);
    // The last chunk alone tells the usage: what is charged.
    const { usageMetadata: _early, ...rest } = chunk;
    const relayed = { ...rest, modelVersion: this.#context.model };
    const isLast = candidatesOf(chunk).some(({ finishReason }) => finishReason);
    if (!isLast && !this.#isOver) return frame(relayed);
    this.#held.push(relayed);
    return '';
  }

  end(): string {
    if (this.progress.status !== 'running') return '';
    if (!this.progress.stop) return this.#fail(brokenStream());
    if (this.#broken !== null) return this.#fail(invalidOutput(this.#broken));
    this.progress.status = 'finished';
    return '';
  }

  /** Ends the stream as if the upstream had reached its limit. */
  limit(): string {
    const ending = { finishReason: 'MAX_TOKENS' };
    this.#held = [writeChunk([], this.#context, ending)];
    this.#usage = undefined;
    this.progress.status = 'finished';
    this.progress.stop = { reason: 'length', sequence: null };
    return '';
  }

  close(costUsd: number): string {
    const { usage, output } = this.progress;
    const counted = countUsage(usage, { ...this.#context, outputBytes: output.bytes });
    const isWhole = counted === usage && isObject(this.#usage);
    const shown = isWhole ? (shownUsage(this.#usage) as JsonObject) : writeUsage(counted);
    const [last, ...others] = this.#held.toReversed();
    const ending = { ...last, usageMetadata: { ...shown, cost: costUsd } };
    return [...others.toReversed(), ending].map(frame).join('');
  }

  /** All candidates have ended, or the prompt was blocked. */
  get #isOver(): boolean {
    return (
      this.progress.stop !== null &&
      this.#finished.size >= Math.min(this.#context.request.choices, 8)
    );
  }

  #read(chunk: JsonObject): void {
    const { progress } = this;
    meterChunk(progress.output, chunk);
    if (isObject(chunk.usageMetadata)) this.#usage = chunk.usageMetadata;
    progress.usage = mergeUsage(progress.usage, readUsage(chunk.usageMetadata));
    progress.searches = readSearches(chunk) ?? progress.searches;
    for (const candidate of candidatesOf(chunk)) {
      this.#hasCalls ||= partsOf(candidate).some((part) => part['functionCall'] !== undefined);
      const { finishReason, finishMessage, index } = candidate;
      if (typeof finishReason !== 'string' || finishReason === '') continue;
      this.#finished.add(index ?? 0);
      if (isBrokenOff(finishReason))
        this.#broken =
          `the model broke off: ${finishReason} ${typeof finishMessage === 'string' ? finishMessage : ''}`.trim();
      progress.stop = readStop(finishReason, this.#hasCalls);
    }
    if (isObject(chunk.promptFeedback) && chunk.promptFeedback.blockReason) {
      for (let choice = 0; choice < this.#context.request.choices; choice++)
        this.#finished.add(choice);
      progress.stop = readStop('PROHIBITED_CONTENT', false);
      // Without a count it did not run.
      if (progress.output.bytes === 0) progress.usage ??= noUsage;
    }
    progress.isComplete = this.#isOver && progress.usage !== null;
  }

  #fail(failure: UpstreamFailure): string {
    this.progress.status = 'failed';
    this.progress.failure = failure;
    return '';
  }
}
