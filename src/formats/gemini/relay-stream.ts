// The straight path for a stream. Each chunk is sent on with the catalogue's model id. Those from the
// finish reason on wait for the charge, and the last gets its cost.
import type { ApiError, ErrorContext } from '../../canonical/errors.ts';
import { noUsage } from '../../canonical/usage.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import type { SseEvent } from '../../lib/sse.ts';
import { parseEventData } from '../event-data.ts';
import { AnswerStream } from '../answer-stream.ts';
import type { AnswerContext, StreamPipe } from '../format.ts';
import { shownUsage } from '../shown-usage.ts';
import { invalidOutput, unreadableEvent } from '../stream-progress.ts';
import { unfinished, readStreamFailure, writeError } from './errors.ts';
import { frame } from './frame.ts';
import {
  candidatesOf,
  meterChunk,
  notePages,
  noteSearches,
  partsOf,
  withoutContinuation,
} from './relay-meter.ts';
import { readStop } from './stop.ts';
import { hasToolInput, readUsage, writeUsage } from './usage.ts';
import { emptyPart, writeChunk } from './write-answer.ts';

export function relayStream(context: AnswerContext): StreamPipe<SseEvent> {
  return new ChunkRelay(context);
}

class ChunkRelay extends AnswerStream {
  /** From the finish reason on. */
  #held: JsonObject[] = [];
  /** The latest `usageMetadata`. */
  #usage: unknown;
  readonly #finished = new Set<unknown>();
  readonly #searches = new Set<string>();
  readonly #pages = new Set<string>();
  #hasCalls = false;

  push({ data }: SseEvent): string {
    if (this.progress.status !== 'running' || data === '[DONE]') return '';
    const chunk = parseEventData(data);
    const failure = readStreamFailure(chunk);
    if (failure) return this.breakOff(failure);
    if (!isObject(chunk)) return this.breakOff(unreadableEvent(data));
    this.#read(chunk);
    // The last chunk alone tells the usage: what is charged.
    const { usageMetadata: _early, ...rest } = withoutContinuation(chunk);
    const relayed = { ...rest, modelVersion: this.context.model };
    const isLast = candidatesOf(chunk).some(({ finishReason }) => finishReason);
    if (!isLast && !this.#isOver) return frame(relayed);
    this.#held.push(relayed);
    return '';
  }

  override end(): string {
    if (this.progress.status !== 'running') return '';
    if (!this.progress.stop) return this.breakOff(unfinished());
    const { brokeOff } = this.progress.stop;
    // Clients know Google's words for it, so it passes if Google counts it.
    if (brokeOff !== undefined && this.progress.usage === null)
      return this.breakOff(invalidOutput(`the model broke off: ${brokeOff}`, brokeOff));
    this.progress.status = 'finished';
    return '';
  }

  /** Ends the stream as if the upstream had reached its limit. */
  limit(): string {
    const ending = { finishReason: 'MAX_TOKENS' };
    this.#held = [writeChunk([emptyPart], this.context, ending)];
    this.#usage = undefined;
    this.progress.status = 'finished';
    this.progress.stop = { reason: 'length', sequence: null };
    return '';
  }

  close(costUsd: number): string {
    const counted = this.counted();
    const isWhole = counted === this.progress.usage && isObject(this.#usage);
    const shown = isWhole ? (shownUsage(this.#usage) as JsonObject) : writeUsage(counted);
    const [last, ...others] = this.#held.toReversed();
    const ending = { ...last, usageMetadata: { ...shown, cost: costUsd } };
    return [...others.toReversed(), ending].map(frame).join('');
  }

  fail(error: ApiError, asked: ErrorContext): string {
    return frame(writeError(error, asked));
  }

  /** All candidates have ended, or the prompt was blocked. */
  get #isOver(): boolean {
    return (
      this.progress.stop !== null &&
      this.#finished.size >= Math.min(this.context.request.choices, 8)
    );
  }

  #read(chunk: JsonObject): void {
    const { progress } = this;
    meterChunk(progress.output, chunk);
    if (isObject(chunk.usageMetadata)) this.#usage = chunk.usageMetadata;
    this.noteUsage(readUsage(chunk.usageMetadata));
    progress.searches = noteSearches(this.#searches, chunk);
    const pages = notePages(this.#pages, chunk);
    progress.pages = hasToolInput(this.#usage) ? 0 : pages;
    for (const candidate of candidatesOf(chunk)) {
      const parts = partsOf(candidate);
      this.#hasCalls ||= parts.some((part) => part['functionCall'] !== undefined);
      const codeRuns = parts.filter((part) => part['codeExecutionResult'] !== undefined).length;
      progress.codeRuns = (progress.codeRuns ?? 0) + codeRuns;
      const { finishReason, index } = candidate;
      if (typeof finishReason !== 'string' || finishReason === '') continue;
      this.#finished.add(index ?? 0);
      // One candidate that broke off is not made good by the next.
      progress.stop = { ...progress.stop, ...readStop(finishReason, this.#hasCalls) };
    }
    if (isObject(chunk.promptFeedback) && chunk.promptFeedback.blockReason) {
      for (let choice = 0; choice < this.context.request.choices; choice++)
        this.#finished.add(choice);
      progress.stop = readStop('PROHIBITED_CONTENT', false);
      // Without a count it did not run.
      if (progress.output.bytes === 0) progress.usage ??= noUsage;
    }
    progress.isComplete = this.#isOver && progress.usage !== null;
  }
}
