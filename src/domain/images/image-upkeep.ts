// Removes expired images every hour. Every gateway does so, because removing twice is harmless. A
// missed removal is harmless too: no link opens an expired image.
import type { ImageStore } from './image-store.ts';
import type { CancelTimer, Clock } from '../../lib/clock.ts';

const everyMs = 60 * 60_000;
/**
 * The shortest wait before the first removal; the real one is up to twice as long. A start has
 * enough to do, and gateways should not all run at once.
 */
const firstMs = 60_000;

type ImageUpkeepOptions = {
  readonly onError: (error: unknown) => void;
  readonly clock: Clock;
  readonly waitMs?: number;
};

export class ImageUpkeep {
  readonly #stopping = new AbortController();
  readonly #store: ImageStore;
  readonly #onError: (error: unknown) => void;
  readonly #clock: Clock;
  #cancelNext: CancelTimer;
  #running: Promise<void> = Promise.resolve();

  constructor(
    store: ImageStore,
    { onError, clock, waitMs = firstMs * (1 + Math.random()) }: ImageUpkeepOptions,
  ) {
    this.#store = store;
    this.#onError = onError;
    this.#clock = clock;
    this.#cancelNext = this.#runAfter(waitMs);
  }

  /** Resolves when a running removal has finished its current step. */
  async close(): Promise<void> {
    this.#stopping.abort();
    this.#cancelNext();
    await this.#running;
  }

  #runAfter(waitMs: number): CancelTimer {
    return this.#clock.after(waitMs, () => {
      this.#running = this.#run();
    });
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    try {
      await this.#store.removeExpired(signal);
    } catch (error) {
      this.#onError(error);
    }
    if (!signal.aborted) this.#cancelNext = this.#runAfter(everyMs);
  }
}
