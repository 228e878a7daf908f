// Large requests begin one after the other. To parse, check and write anew a body of megabytes keeps the event loop for a tenth of a second
// or more: when a burst of them arrives, every stream may move between two of them, and the lag shows before all of them are taken.
import { setImmediate } from 'node:timers/promises';

export const largeBytes = 256 * 1024;

export class LargeBodies {
  #last: Promise<void> = Promise.resolve();

  /** Resolves when it is the body's turn, after one turn of the event loop for everybody else; nothing to wait for with a small one. */
  turn(body: unknown): Promise<void> | null {
    if (!(body instanceof Uint8Array) || body.length < largeBytes) return null;
    this.#last = this.#last.then(() => setImmediate());
    return this.#last;
  }
}
