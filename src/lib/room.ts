// A limit in bytes for what waits in memory.
export class Room {
  #bytesLeft: number;
  readonly #within: Room | null;

  /** `within`: a larger limit that counts the same bytes. */
  constructor(bytesMax: number, within: Room | null = null) {
    this.#bytesLeft = bytesMax;
    this.#within = within;
  }

  /** Returns false, and takes nothing, when there is not enough. */
  take(bytes: number): boolean {
    if (bytes > this.#bytesLeft || this.#within?.take(bytes) === false) return false;
    this.#bytesLeft -= bytes;
    return true;
  }

  give(bytes: number): void {
    this.#bytesLeft += bytes;
    this.#within?.give(bytes);
  }
}
