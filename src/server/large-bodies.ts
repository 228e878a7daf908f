// Large requests start one after the other. Parsing, checking and writing a body of megabytes
// blocks the event loop for a tenth of a second or more. In a burst of them, every stream may move
// between two, and the lag shows before all are taken.
import { setImmediate } from 'node:timers/promises';

export const largeBytes = 256 * 1024;

export class LargeBodies {
  #last: Promise<void> = Promise.resolve();

  /**
   * Resolves when it is this body's turn, after one turn of the event loop for everybody else.
   * Returns undefined for a small body.
   */
  turn(body: unknown): Promise<void> | null {
    if (!(body instanceof Uint8Array) || body.length < largeBytes) return null;
    this.#last = this.#last.then(() => setImmediate());
    return this.#last;
  }
}
