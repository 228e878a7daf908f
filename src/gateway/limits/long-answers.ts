// Shares memory between answers that are long whatever their request: a short request for thousands of
// vectors has an answer of a hundred megabytes, and sixty of them at once would end the process.
import { ApiError } from '../../canonical/errors.ts';

/** Shorter answers are not counted. */
const longBytes = 1024 * 1024;
const free = () => {};

type Waiting = { readonly bytes: number; readonly admit: () => void };

export class LongAnswers {
  readonly #bytesMax: number;
  readonly #queue: Waiting[] = [];
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /**
   * Resolves when there is room for an answer, with the function that frees it. One that needs all of
   * the room, or more, is alone. Throws ApiError `overloaded` when as much waits already, unless the
   * request `mayWait` for as long as it takes.
   */
  enter(bytes: number, { mayWait = false } = {}): (() => void) | Promise<() => void> {
    if (bytes < longBytes) return free;
    if (this.#queue.length === 0 && this.#fits(bytes)) return this.#admit(bytes);
    const waiting = this.#queue.reduce((sum, one) => sum + one.bytes, 0);
    if (!mayWait && waiting > 0 && waiting + bytes > this.#bytesMax) throw overloaded();
    return new Promise((resolve) => {
      this.#queue.push({ bytes, admit: () => resolve(this.#admit(bytes)) });
    });
  }

  #fits(bytes: number): boolean {
    return this.#bytes === 0 || this.#bytes + bytes <= this.#bytesMax;
  }

  #admit(bytes: number): () => void {
    this.#bytes += bytes;
    return () => {
      this.#bytes -= bytes;
      for (let next = this.#queue[0]; next && this.#fits(next.bytes); next = this.#queue[0]) {
        this.#queue.shift();
        next.admit();
      }
    };
  }
}

function overloaded(): ApiError {
  return new ApiError(
    'overloaded',
    'Answers as long as this one use up the memory for them at the moment. Nothing was charged; retry shortly, or ask for fewer at once.',
    { retryAfterSeconds: 1 },
  );
}
