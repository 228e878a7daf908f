// Keeps silent streams open: proxies and clients close a connection without traffic while a model
// thinks. One timer serves all open streams.
import type { CancelTimer, Clock } from '../lib/clock.ts';
import { ActiveSet } from '../lib/active-set.ts';

/**
 * An empty comment, valid in every format. It has to be no event: some clients take a format's
 * first event for the start of the stream.
 */
export const emptyComment = ': keep-alive\n\n';

/** A stream that may fall silent. */
export type KeptStream = {
  /** When something was last written, by `Clock.elapsedMs`. */
  readonly lastWriteMs: number;
  /** Writes one keep-alive if there is room. */
  readonly keepAlive: () => void;
};

/** How long a stream may be silent before a keep-alive. */
export const keepAliveMs = 10_000;
/** A silence is noticed at most so late. */
const sweepMs = keepAliveMs / 8;

export class KeepAlives {
  readonly #clock: Clock;
  readonly #streams = new ActiveSet<KeptStream>();
  readonly #stopSweeping: CancelTimer;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#stopSweeping = clock.every(sweepMs, () => this.#sweep());
  }

  /** Returns a function that removes the stream; further calls do nothing. */
  add(stream: KeptStream): () => void {
    return this.#streams.add(stream);
  }

  #sweep(): void {
    const dueMs = this.#clock.elapsedMs() - keepAliveMs;
    for (const stream of this.#streams.members())
      if (stream.lastWriteMs <= dueMs) stream.keepAlive();
  }

  close(): void {
    this.#stopSweeping();
  }
}
