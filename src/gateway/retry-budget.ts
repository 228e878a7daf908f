// How many retries there may be at a time, over all requests: when a provider fails, most requests fail at once instead of all of them
// being sent again and again, which would keep it down.

export type RetryBudgetOptions = {
  /** Of the requests under way. */
  readonly percent: number;
  /** However few requests are under way. */
  readonly floor: number;
};

export class RetryBudget {
  readonly #options: RetryBudgetOptions;
  #taken = 0;

  constructor(options: RetryBudgetOptions) {
    this.#options = options;
  }

  /**
   * Takes the right to one more call; false when there is none. `inFlight`: how many requests are under way. It is given back when an answer
   * has begun or the request has ended, and not before.
   */
  take(inFlight: number): boolean {
    const { percent, floor } = this.#options;
    if (this.#taken >= Math.max(floor, Math.floor((inFlight * percent) / 100))) return false;
    this.#taken += 1;
    return true;
  }

  giveBack(count: number): void {
    this.#taken -= count;
  }
}
