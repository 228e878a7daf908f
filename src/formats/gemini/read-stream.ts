// Reads an upstream's stream as canonical events. Nothing marks its last chunk, and what follows
// the finish reason still counts, so an answer ends when the connection does, or falls silent.
import type { StreamEvent, UpstreamFailure } from '../../canonical/event.ts';
import type { Usage } from '../../canonical/usage.ts';
import { isObject } from '../../lib/json.ts';
import type { SseEvent } from '../../lib/sse.ts';
import { UnreadableAnswer, type StreamReader } from '../format.ts';
import { AnswerReader } from './answer-reader.ts';
import { parseEventData } from '../event-data.ts';
import { invalidOutput, unreadableEvent } from '../stream-progress.ts';
import { brokenStream, readStreamFailure } from './errors.ts';

export function readStream(): StreamReader {
  const reader = new GeminiStreamReader();
  return {
    push: (event) => reader.push(event),
    end: () => reader.end(),
    usageSoFar: () => reader.usageSoFar,
    isComplete: () => reader.isComplete,
  };
}

class GeminiStreamReader {
  readonly #answer = new AnswerReader();
  #hasEnded = false;

  push({ data }: SseEvent): StreamEvent[] {
    // Some proxies end every stream with OpenAI's last line.
    if (this.#hasEnded || data === '' || data === '[DONE]') return [];
    const chunk = parseEventData(data);
    const failure = readStreamFailure(chunk);
    if (failure) return this.#fail(failure);
    if (!isObject(chunk)) return this.#fail(unreadableEvent(data));
    return this.#guard(() => this.#answer.read(chunk));
  }

  get usageSoFar(): Usage | null {
    return this.#answer.usage;
  }

  /** Every chunk has usage, so the stop reason makes it final; a few hosts send it later. */
  get isComplete(): boolean {
    return this.#answer.hasStopped && this.#answer.usage !== null;
  }

  end(): StreamEvent[] {
    if (this.#hasEnded) return [];
    if (!this.#answer.hasStopped) return this.#fail(brokenStream());
    return this.#guard(() => {
      const events = this.#answer.finish();
      this.#hasEnded = true;
      return events;
    });
  }

  #guard(read: () => StreamEvent[]): StreamEvent[] {
    try {
      return read();
    } catch (error) {
      if (error instanceof UnreadableAnswer) return this.#fail(invalidOutput(error.message));
      throw error;
    }
  }

  #fail(failure: UpstreamFailure): StreamEvent[] {
    this.#hasEnded = true;
    return [{ type: 'error', failure }];
  }
}
