// Limits the total bytes of one request's images while they arrive.
import type { ImageMemory } from './fetched-bytes.ts';

export class ByteBudget {
  readonly #bytesMax: number;
  readonly #memory: Pick<ImageMemory, 'take'>;
  #bytesTaken = 0;

  constructor(bytesMax: number, memory: Pick<ImageMemory, 'take'>) {
    this.#bytesMax = bytesMax;
    this.#memory = memory;
  }

  /** Returns false when the budget is exceeded. Throws ApiError `overloaded`. */
  take(bytes: number): boolean {
    this.#memory.take(bytes);
    this.#bytesTaken += bytes;
    return this.#bytesTaken <= this.#bytesMax;
  }

  /** A clause for the client about the image that exceeded the budget. */
  get problem(): string {
    return `makes the images of this request larger than ${this.#bytesMax} bytes together`;
  }
}
