// How many bytes the images of one request may have together, counted while they arrive.
export class ByteBudget {
  readonly #bytesMax: number;
  #bytesTaken = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** `false`: that is more than there is. */
  take(bytes: number): boolean {
    this.#bytesTaken += bytes;
    return this.#bytesTaken <= this.#bytesMax;
  }

  /** A clause for the client, about the image that went over. */
  get problem(): string {
    return `makes the images of this request larger than ${this.#bytesMax} bytes together`;
  }
}
