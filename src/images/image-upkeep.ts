// Removes expired images from time to time. Each gateway does: what another has removed is gone, and a removal that is missing does no harm,
// since no link opens an expired image.
import type { ImageStore } from './image-store.ts';

const everyMs = 60 * 60_000;
/** Not at the start, which has enough to do, and not with all gateways at once. */
const firstMs = 60_000;

export class ImageUpkeep {
  readonly #stopping = new AbortController();
  readonly #store: ImageStore;
  readonly #onError: (error: unknown) => void;
  #timer: NodeJS.Timeout;
  #running: Promise<void> = Promise.resolve();

  constructor(
    store: ImageStore,
    { onError, waitMs = firstMs * (1 + Math.random()) }: { onError: (error: unknown) => void; waitMs?: number },
  ) {
    this.#store = store;
    this.#onError = onError;
    this.#timer = setTimeout(() => this.#run(), waitMs).unref();
  }

  /** Resolves when a removal under way has come to its next step. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#stopping.abort();
    await this.#running;
  }

  #run(): void {
    this.#running = this.#store
      .removeExpired(this.#stopping.signal)
      .catch(this.#onError)
      .then(() => {
        if (!this.#stopping.signal.aborted) this.#timer = setTimeout(() => this.#run(), everyMs).unref();
      });
  }
}
