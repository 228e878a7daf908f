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
    let own = 0;
    return {
      take: (bytes) => {
        own += bytes;
        this.#bytes += bytes;
        return this.#bytes <= this.#bytesMax || this.#bytes === own;
      },
      close: () => {
        this.#bytes -= own;
        own = 0;
      },
    };
  }
}

export type ArrivingBody = {
  /** Counts bytes that have come; false when there is no room for them beside the other bodies. */
  readonly take: (bytes: number) => boolean;
  readonly close: () => void;
};
