// Large requests wait here for memory, in the order in which they arrive. Memory is counted by the
// length of bodies, from before they are read until their answers end. Nobody overtakes: a large
// request that must wait holds up the small ones behind it.

export type Place = {
  /** Resolves to true when its turn has come, to false when it left before. */
  readonly admitted: Promise<boolean>;
  /** Gives back memory that turned out not to be needed. */
  readonly shrinkTo: (bytes: number) => void;
  /** Leaves the queue or frees the memory; further calls do nothing. */
  readonly leave: () => void;
};

type Guest = { readonly bytes: number; readonly admit: () => void };

export class WaitingRoom {
  readonly #bytesMax: number;
  readonly #queue = new Set<Guest>();
  #bytesInside = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytesInside(): number {
    return this.#bytesInside;
  }

  /** The number of requests that wait. */
  get waiting(): number {
    return this.#queue.size;
  }

  /** Queues a request. One that is larger than the whole room is let in alone. */
  enter(bytes: number): Place {
    let own = 0;
    const decision = Promise.withResolvers<boolean>();
    const count = (change: number) => {
      own += change;
      this.#bytesInside += change;
    };
    const admit = () => {
      count(bytes);
      decision.resolve(true);
    };
    const guest = { bytes, admit };
    this.#queue.add(guest);
    this.#admitNext();
    return {
      admitted: decision.promise,
      shrinkTo: (needed) => {
        count(-Math.max(own - needed, 0));
        this.#admitNext();
      },
      leave: () => {
        this.#queue.delete(guest);
        decision.resolve(false);
        count(-own);
        this.#admitNext();
      },
    };
  }

  #admitNext(): void {
    for (const guest of this.#queue) {
      if (this.#bytesInside > 0 && this.#bytesInside + guest.bytes > this.#bytesMax) return;
      this.#queue.delete(guest);
      guest.admit();
    }
  }
}
