// Runs the stages of large requests one after the other. Parsing, checking and writing a body of
// megabytes blocks the event loop for a tenth of a second each. Between two of them running streams
// continue, and the overload check sees the lag before a whole burst is accepted.
import { setImmediate } from 'node:timers/promises';

export const largeBytes = 256 * 1024;

export class LargeBodies {
  #last: Promise<void> = Promise.resolve();

  /**
   * Returns a function to wait with before each stage of a large body's request: it resolves when
   * it is the request's turn, after one turn of the event loop for everybody else. Returns null for
   * a small body.
   */
  turnsOf(body: unknown): (() => Promise<void>) | null {
    if (!(body instanceof Uint8Array) || body.length < largeBytes) return null;
    return () => (this.#last = this.#last.then(() => setImmediate()));
  }
}
