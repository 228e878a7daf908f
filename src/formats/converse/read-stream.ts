// Reads the events of ConverseStream. The usage follows the stop reason and ends the answer.
import type { StreamEvent } from '../../canonical/event.ts';
import type { Usage } from '../../canonical/usage.ts';
import { isObject } from '../../lib/json.ts';
import type { SseEvent } from '../../lib/sse.ts';
import { parseEventData } from '../event-data.ts';
import { EventReader } from '../event-reader.ts';
import type { StreamReader } from '../format.ts';
import { brokenStream, unreadableEvent } from '../stream-progress.ts';
import { AnswerReader } from './answer-reader.ts';

export function readStream(): StreamReader {
  return new ConverseStreamReader();
}

class ConverseStreamReader extends EventReader {
  readonly #answer = new AnswerReader();

  protected read({ event, data }: SseEvent): readonly StreamEvent[] {
    if (data === '') return [];
    const parsed = parseEventData(data);
    return isObject(parsed) ? this.#answer.read(event, parsed) : this.fail(unreadableEvent(data));
  }

  get usageSoFar(): Usage | null {
    return this.#answer.usage;
  }

  get isComplete(): boolean {
    return this.#answer.hasStopped && this.#answer.usage !== null;
  }

  protected close(): readonly StreamEvent[] {
    if (!this.#answer.hasStopped) return this.fail(brokenStream());
    const events = this.#answer.finish();
    this.hasEnded = true;
    return events;
  }
}
