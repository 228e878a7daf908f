// Keeps silent streams open: proxies and clients cut a connection on which nothing moves while a model thinks. One timer looks at all
// open streams, so that a request costs none of its own.
import type { CancelTimer, Clock } from '../lib/clock.ts';

/** A stream that may fall silent. */
export type KeptStream = {
  /** When something was last written to it, by the clock of `KeepAlives`. */
  readonly lastWriteMs: number;
  /** Writes one keep-alive where there is room for it. */
  readonly keepAlive: () => void;
};

/** A silence is noticed at most this part of its length too late. */
const sweepsPerSilence = 8;
const sweepMsMin = 10;

export class KeepAlives {
  readonly #silenceMs: number;
  readonly #clock: Clock;
  readonly #streams = new Set<KeptStream>();
  readonly #stopSweeping: CancelTimer;

  /** `silenceMs`: how long a stream may be silent before a keep-alive is written to it. */
  constructor(silenceMs: number, clock: Clock) {
    this.#silenceMs = silenceMs;
    this.#clock = clock;
    this.#stopSweeping = clock.every(Math.max(silenceMs / sweepsPerSilence, sweepMsMin), () => this.sweep());
  }

  nowMs(): number {
    return this.#clock.elapsedMs();
  }

  add(stream: KeptStream): void {
    this.#streams.add(stream);
  }

  remove(stream: KeptStream): void {
    this.#streams.delete(stream);
  }

  /** Writes to every stream that has been silent for long enough. */
  sweep(): void {
    const dueMs = this.nowMs() - this.#silenceMs;
    for (const stream of this.#streams) if (stream.lastWriteMs <= dueMs) stream.keepAlive();
  }

  close(): void {
    this.#stopSweeping();
  }
}
