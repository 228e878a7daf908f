// Limits the images that requests have fetched, in one request and in all together: a body of three
// addresses can fetch 50 MB.
import { ApiError } from '../../canonical/errors.ts';

/** The images of one request. */
export type ImageMemory = {
  /** Counts bytes that have arrived. Throws ApiError `overloaded` when there is no room for them. */
  readonly take: (bytes: number) => void;
  /** Call when they are needed no more. */
  readonly leave: () => void;
};

/** Limits the total bytes of one request's images while they arrive. */
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

export class FetchedBytes {
  readonly #bytesMax: number;
  readonly #byAccount = new Map<string, number>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  enter(accountId: string): ImageMemory {
    let held = 0;
    let hasLeft = false;
    const hold = (bytes: number) => {
      held += bytes;
      this.#bytes += bytes;
      const ofAccount = (this.#byAccount.get(accountId) ?? 0) + bytes;
      if (ofAccount > 0) this.#byAccount.set(accountId, ofAccount);
      else this.#byAccount.delete(accountId);
      return ofAccount;
    };
    return {
      take: (bytes) => {
        // A fetch may end later than its request.
        if (hasLeft) return;
        // An account has half of the room, so others always find some. A request may exceed it alone.
        const fits = hold(bytes) <= this.#bytesMax / 2 && this.#bytes <= this.#bytesMax;
        if (!fits && this.#bytes > held) throw overloaded();
      },
      leave() {
        hasLeft = true;
        hold(0 - held);
      },
    };
  }
}

function overloaded(): ApiError {
  return new ApiError(
    'overloaded',
    'Images by URL use up the memory for them at the moment. Nothing was charged; retry shortly, send fewer at once, or send their data.',
    { retryAfterSeconds: 5 },
  );
}
