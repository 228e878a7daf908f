// Limits retries over all requests. When a provider fails, most requests fail at once, instead of
// all being sent again and again, which would keep it down.

/** The most retries at once, in percent of the requests in flight. */
const percent = 20;

export class RetryBudget {
  readonly #least: number;
  #taken = 0;

  /** `least`: the retries that are allowed however few requests are in flight. */
  constructor(least: number) {
    this.#least = least;
  }

  /**
   * Takes one retry; false when none is left. `inFlight`: the number of requests in flight. Give it
   * back when an answer has begun or the request has ended, not before.
   */
  take(inFlight: number): boolean {
    if (this.#taken >= Math.max(this.#least, Math.floor((inFlight * percent) / 100))) return false;
    this.#taken += 1;
    return true;
  }

  giveBack(count: number): void {
    this.#taken -= count;
  }
}
