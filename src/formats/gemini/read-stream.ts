// Reads an upstream's stream as canonical events. Nothing marks its last chunk, and what follows
// the finish reason still counts, so an answer ends when the connection does, or falls silent.
import type { StreamEvent } from '../../canonical/event.ts';
import type { Usage } from '../../canonical/usage.ts';
import { isObject } from '../../lib/json.ts';
import type { SseEvent } from '../../lib/sse.ts';
import { parseEventData } from '../event-data.ts';
import { EventReader } from '../event-reader.ts';
import type { StreamReader } from '../format.ts';
import { unreadableEvent } from '../stream-progress.ts';
import { AnswerReader } from './answer-reader.ts';
import { unfinished, readStreamFailure } from './errors.ts';

export function readStream(): StreamReader {
  return new GeminiStreamReader();
}

class GeminiStreamReader extends EventReader {
  readonly #answer = new AnswerReader();

  protected read({ data }: SseEvent): readonly StreamEvent[] {
    // Some proxies end every stream with OpenAI's last line.
    if (data === '[DONE]') return [];
    const chunk = parseEventData(data);
    const failure = readStreamFailure(chunk);
    if (failure) return this.fail(failure);
    return isObject(chunk) ? this.#answer.read(chunk) : this.fail(unreadableEvent(data));
  }

  get usageSoFar(): Usage | null {
    return this.#answer.usage;
  }

  /** Every chunk has usage, so the stop reason makes it final; a few hosts send it later. */
  get isComplete(): boolean {
    return this.#answer.hasStopped && this.#answer.usage !== null;
  }

  protected close(): readonly StreamEvent[] {
    if (!this.#answer.hasStopped) return this.fail(unfinished());
    const events = this.#answer.finish();
    this.hasEnded = true;
    return events;
  }
}
