// A lock between threads for changes of shared memory that take microseconds.

const free = 0;
const taken = 1;

export class SharedLock {
  readonly #state: Int32Array<SharedArrayBuffer>;

  /** `state`: one number, 0 at first, which all threads share. */
  constructor(state: Int32Array<SharedArrayBuffer>) {
    this.#state = state;
  }

  /** Runs the action while no other thread runs one. Blocks meanwhile. */
  run<Result>(action: () => Result): Result {
    while (Atomics.compareExchange(this.#state, 0, free, taken) !== free)
      Atomics.wait(this.#state, 0, taken);
    try {
      return action();
    } finally {
      Atomics.store(this.#state, 0, free);
      Atomics.notify(this.#state, 0, 1);
    }
  }
}
