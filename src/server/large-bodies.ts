// Starts large requests one after the other. Parsing, checking and writing a body of megabytes
// blocks the event loop for a tenth of a second or more. Between two of them running streams
// continue, and the overload check sees the lag before a whole burst is accepted.
import { setImmediate } from 'node:timers/promises';

export const largeBytes = 256 * 1024;

export class LargeBodies {
  #last: Promise<void> = Promise.resolve();

  /**
   * Resolves when it is this body's turn, after one turn of the event loop for everybody else.
   * Returns null for a small body.
   */
  turn(body: unknown): Promise<void> | null {
    if (!(body instanceof Uint8Array) || body.length < largeBytes) return null;
    this.#last = this.#last.then(() => setImmediate());
    return this.#last;
  }
}
