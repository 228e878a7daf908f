// What a stream's client is sent, kept for whoever sends the request again, as far as it is not too long.

export class Recording {
  readonly #bytesMax: number;
  #pieces: string[] = [];
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  add(text: string): void {
    this.#bytes += Buffer.byteLength(text);
    if (this.#bytes <= this.#bytesMax) this.#pieces.push(text);
    else this.#pieces = [];
  }

  /** null: it grew too long. */
  get text(): string | null {
    return this.#bytes <= this.#bytesMax ? this.#pieces.join('') : null;
  }
}
