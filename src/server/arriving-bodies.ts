// The request bodies that are arriving at this moment, bounded together: each may be 32 MB, and two thousand of them would end the
// process. What has come is counted, not what was announced: whoever announces much and sends nothing takes no room from others.

export class ArrivingBodies {
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Whether a body of that length may begin to arrive. A single one always may, however small the bound. */
  hasRoomFor(bytes: number): boolean {
    return this.#bytes === 0 || this.#bytes + bytes <= this.#bytesMax;
  }

  /** A body whose bytes are counted until it is complete or given up. */
  open(): ArrivingBody {
    return new ArrivingBody(this);
  }

  /** Counts bytes in, or out again. */
  add(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Whether those that have come are few enough. `own`: of the body that asks, which may be alone. */
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

  /** Counts bytes that have come; false when there is no room for them beside the other bodies. */
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
