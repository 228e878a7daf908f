// How often sign-ins and the like may be tried: for each address in this gateway's memory, and for whom it is about in the database, so that
// neither many addresses nor many gateways help.
import { ApiError } from '../../canonical/errors.ts';
import type { Database } from '../../db/database.ts';
import { clientGroupOf } from '../../lib/addresses.ts';
import { MemoryRates } from '../../limits/rates.ts';
import { forgetAttempts, takeAttempt, tidyAttempts, type Attempts } from '../../users/attempts.ts';

/** Several people may sit behind one address; a program that guesses needs thousands. */
const perMinute = 60;
const addressesMax = 20_000;
const tidyEvery = 500;

export class AttemptLimits {
  readonly #database: Database;
  readonly #nowMs: () => number;
  readonly #addresses: MemoryRates;
  #taken = 0;

  constructor(database: Database, nowMs: () => number) {
    this.#database = database;
    this.#nowMs = nowMs;
    this.#addresses = new MemoryRates(nowMs, addressesMax);
  }

  /** Counts a try of whoever is at an address. Throws ApiError 429. */
  takeFrom(address: string): void {
    const { isGranted } = this.#addresses.take({ id: clientGroupOf(address), perMinute }, 1);
    if (!isGranted) throw tooMany('Too many attempts came from this address.', Math.ceil(60 / perMinute) * 5);
  }

  /** Counts a try from an address that is about somebody. Throws ApiError 429. */
  async take(address: string, attempts: Attempts): Promise<void> {
    this.takeFrom(address);
    const seconds = await takeAttempt(this.#database, attempts, this.#nowMs());
    if (seconds > 0) throw tooMany('Too many attempts.', seconds);
    this.#taken += 1;
    if (this.#taken % tidyEvery === 0) await tidyAttempts(this.#database, this.#nowMs());
  }

  async forget(attempts: Attempts): Promise<void> {
    await forgetAttempts(this.#database, attempts);
  }
}

function tooMany(what: string, retryAfterSeconds: number): ApiError {
  return new ApiError('rate_limit_exceeded', `${what} Try again in ${retryAfterSeconds} s.`, { retryAfterSeconds });
}
