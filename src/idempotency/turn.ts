// One key's run as the requests of this process wait for it.
import type { StoredResponse } from './claim.ts';

export class Turn {
  readonly fingerprint: string;
  /** Whether the key is in use for this fingerprint, by us or another process: then any other is a conflict. */
  isConfirmed = false;
  readonly #ended = Promise.withResolvers<StoredResponse | null>();

  constructor(fingerprint: string) {
    this.fingerprint = fingerprint;
  }

  /** With what is stored; null: it failed, and the next one runs. */
  end(response: StoredResponse | null): void {
    this.#ended.resolve(response);
  }

  /** The response of a success; null when it failed, or the signal came first. */
  wait(signal: AbortSignal): Promise<StoredResponse | null> {
    return new Promise((resolve) => {
      const abandon = () => resolve(null);
      signal.addEventListener('abort', abandon, { once: true });
      void this.#ended.promise.then(resolve).finally(() => signal.removeEventListener('abort', abandon));
    });
  }
}
