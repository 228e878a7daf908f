// Limits the memory of all request bodies that are arriving at once: each may be 32 MB, and two
// thousand of them would end the process. Bytes count when they arrive, not when they are
// announced, so a client that announces much and sends nothing takes no room from others.

export class ArrivingBodies {
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** The bytes that have arrived of bodies that are not complete. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Returns true when a body of this length may begin to arrive. A single body always may, however
   * small the limit.
   */
  hasRoomFor(bytes: number): boolean {
    return this.#bytes === 0 || this.#bytes + bytes <= this.#bytesMax;
  }

  /** A body whose bytes count until it is complete or given up. */
  open(): ArrivingBody {
    return new ArrivingBody(this);
  }

  /** Adds bytes that have arrived, or takes them off again. */
  add(bytes: number): void {
    this.#bytes += bytes;
  }

  /**
   * Returns true while the arrived bytes fit. `own`: the bytes of the body that asks; it may exceed
   * the limit when it is alone.
   */
  fit(own: number): boolean {
    return this.#bytes <= this.#bytesMax || this.#bytes === own;
  }
}

class ArrivingBody {
  readonly #all: ArrivingBodies;
  #own = 0;

  constructor(all: ArrivingBodies) {
    this.#all = all;
  }

  /** Counts bytes that have arrived. Returns false when they do not fit beside the other bodies. */
  take(bytes: number): boolean {
    this.#own += bytes;
    this.#all.add(bytes);
    return this.#all.fit(this.#own);
  }

  close(): void {
    this.#all.add(-this.#own);
    this.#own = 0;
  }
}
