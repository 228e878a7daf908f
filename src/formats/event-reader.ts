// Base class of the readers of all formats' streams: a stream ends once, and output that cannot be
// read ends it.
import type { StreamEvent, UpstreamFailure } from '../canonical/event.ts';
import type { Usage } from '../canonical/usage.ts';
import type { SseEvent } from '../lib/sse.ts';
import { UnreadableAnswer, type StreamReader } from './format.ts';
import { invalidOutput } from './stream-progress.ts';

export abstract class EventReader implements StreamReader {
  protected hasEnded = false;
  abstract readonly usageSoFar: Usage | null;
  abstract readonly isComplete: boolean;

  push(event: SseEvent): readonly StreamEvent[] {
    if (this.hasEnded) return [];
    try {
      return this.read(event);
    } catch (error) {
      return this.#failAt(error);
    }
  }

  end(): readonly StreamEvent[] {
    if (this.hasEnded) return [];
    try {
      return this.close();
    } catch (error) {
      return this.#failAt(error);
    }
  }

  /** Both throw UnreadableAnswer. `close`: the upstream closed the connection. */
  protected abstract read(event: SseEvent): readonly StreamEvent[];
  protected abstract close(): readonly StreamEvent[];

  protected fail(failure: UpstreamFailure): readonly StreamEvent[] {
    this.hasEnded = true;
    return [{ type: 'error', failure }];
  }

  #failAt(error: unknown): readonly StreamEvent[] {
    if (error instanceof UnreadableAnswer)
      return this.fail(invalidOutput(error.message, error.brokeOff));
    throw error;
  }
}
