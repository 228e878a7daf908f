// Limits retries over all requests. When a provider fails, most requests fail at once, instead of
// all being sent again and again, which would keep it down.

type RetryBudgetOptions = {
  /** Retries allowed at once, as a share of the requests in flight. */
  readonly percent: number;
  /** Retries that are allowed however few requests are in flight. */
  readonly floor: number;
};

export class RetryBudget {
  readonly #options: RetryBudgetOptions;
  #taken = 0;

  constructor(options: RetryBudgetOptions) {
    this.#options = options;
  }

  /**
   * Takes one retry; false when none is left. `inFlight`: the number of requests in flight. Give it
   * back when an answer has begun or the request has ended, not before.
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
