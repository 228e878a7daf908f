// Limits the total bytes of one request's images while they arrive.
export class ByteBudget {
  readonly #bytesMax: number;
  #bytesTaken = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Returns false when the budget is exceeded. */
  take(bytes: number): boolean {
    this.#bytesTaken += bytes;
    return this.#bytesTaken <= this.#bytesMax;
  }

  /** A clause for the client about the image that exceeded the budget. */
  get problem(): string {
    return `makes the images of this request larger than ${this.#bytesMax} bytes together`;
  }
}
