// Where large requests wait for memory, in the order in which they came. What is inside is counted by the length of its bodies, from
// before they are read until their answers have ended. Nobody is passed by: a large one that must wait holds up the small ones behind it.

export type Place = {
  /** true: its turn has come. false: it has left before. */
  readonly admitted: Promise<boolean>;
  /** Less was needed than was asked for. */
  readonly shrinkTo: (bytes: number) => void;
  /** Gives the place up, in the queue or inside; any further time does nothing. */
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

  /** One that is larger than all of the room is let in alone. */
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
