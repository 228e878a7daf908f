// Reads an upstream's stream as canonical events. Nothing marks its last chunk, and what follows
// the finish reason still counts, so an answer ends when the connection does, or falls silent. A whole
// answer is a stream of one chunk.
import type { StreamEvent } from '../../canonical/event.ts';
import { mergeUsage, noUsage, type Usage } from '../../canonical/usage.ts';
import { append } from '../../lib/append.ts';
import { isObject, type JsonObject, objectOf, listOf, objectsOf } from '../../lib/json.ts';
import type { SseEvent } from '../../lib/sse.ts';
import { parseEventData } from '../event-data.ts';
import { EventReader } from '../event-reader.ts';
import { type StreamReader, UnreadableAnswer } from '../format.ts';
import { unreadableEvent } from '../stream-progress.ts';
import { readCitations } from './citations.ts';
import { unfinished, readStreamFailure } from './errors.ts';
import { PartReader } from './part-reader.ts';
import { isBrokenOff, readStop } from './stop.ts';
import { readEarlyUsage, readUsage } from './usage.ts';

export function readStream(): StreamReader {
  return new AnswerReader();
}

export class AnswerReader extends EventReader {
  readonly #parts = new PartReader();
  #hasStarted = false;
  #finishReason: string | null = null;
  #finishMessage = '';
  #isPromptBlocked = false;
  /** Every chunk of a stream repeats and updates the counts; the last are valid. */
  usageSoFar: Usage | null = null;

  /**
   * True once Gemini has sent its stop reason. More may follow: often the usage, sometimes calls.
   */
  get hasStopped(): boolean {
    return this.#finishReason !== null || this.#isPromptBlocked;
  }

  /** Every chunk has usage, so the stop reason makes it final; a few hosts send it later. */
  get isComplete(): boolean {
    return this.hasStopped && this.usageSoFar !== null;
  }

  protected read({ data }: SseEvent): readonly StreamEvent[] {
    // Some proxies end every stream with OpenAI's last line.
    if (data === '[DONE]') return [];
    const chunk = parseEventData(data);
    const failure = readStreamFailure(chunk);
    if (failure) return this.fail(failure);
    return isObject(chunk) ? this.readChunk(chunk) : this.fail(unreadableEvent(data));
  }

  protected close(): readonly StreamEvent[] {
    return this.hasStopped ? this.finish() : this.fail(unfinished());
  }

  /** Throws UnreadableAnswer on a call without a name. */
  readChunk(chunk: JsonObject): StreamEvent[] {
    const events = this.#start(chunk.usageMetadata);
    this.usageSoFar = mergeUsage(this.usageSoFar, readUsage(chunk.usageMetadata));
    if (isObject(chunk.promptFeedback) && chunk.promptFeedback.blockReason)
      this.#isPromptBlocked = true;
    const candidate = firstCandidate(chunk);
    if (!candidate) return events;
    if (typeof candidate.finishReason === 'string' && candidate.finishReason !== '')
      this.#readFinish(candidate);
    const citations = readCitations(candidate);
    if (citations.length > 0) this.#parts.sources = citations;
    const parts = listOf(objectOf(candidate.content).parts);
    for (const part of parts) append(events, this.#parts.read(part, chunk.responseId));
    return events;
  }

  /**
   * Returns the rest of the answer. Throws UnreadableAnswer when the model broke off, for example
   * in a malformed call, unless it may.
   */
  finish({ mayBreakOff = false } = {}): StreamEvent[] {
    if (isBrokenOff(this.#finishReason) && !mayBreakOff) {
      throw new UnreadableAnswer(
        `the model broke off: ${this.#finishReason} ${this.#finishMessage}`.trim(),
        this.#finishReason,
      );
    }
    const events = this.#parts.finish();
    this.hasEnded = true;
    const finishReason = this.#finishReason ?? 'PROHIBITED_CONTENT';
    return [
      ...events,
      {
        type: 'finish',
        stop: readStop(finishReason, this.#parts.hasCalls),
        usage: this.#countedUsage(),
      },
    ];
  }

  #start(metadata: unknown): StreamEvent[] {
    if (this.#hasStarted) return [];
    this.#hasStarted = true;
    return [{ type: 'start', usage: readEarlyUsage(metadata) }];
  }

  #readFinish({ finishReason, finishMessage }: JsonObject): void {
    this.#finishReason = finishReason as string;
    if (typeof finishMessage === 'string') this.#finishMessage = finishMessage;
  }

  /** A blocked prompt without a count did not run and costs nothing. */
  #countedUsage(): Usage | null {
    return (
      this.usageSoFar ?? (this.#isPromptBlocked && this.#finishReason === null ? noUsage : null)
    );
  }
}

/** Returns the first candidate; the gateway never requests more. */
function firstCandidate({ candidates }: JsonObject): JsonObject | undefined {
  return objectsOf(candidates).find(({ index }) => (index ?? 0) === 0);
}
