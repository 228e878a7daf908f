// Rate limits for sign-ins and similar attempts: by client address in this gateway's memory, and by
// target user in the database. So neither many addresses nor many gateways help an attacker.
import { ApiError } from '../canonical/errors.ts';
import type { Database } from '../db/database.ts';
import { clientGroupOf } from '../lib/addresses.ts';
import { MemoryRates } from '../domain/limits/rates.ts';
import {
  forgetAttempts,
  takeAttempt,
  tidyAttempts,
  type Attempts,
} from '../domain/users/attempts.ts';

/** Several people may share one address; a program that guesses needs thousands of attempts. */
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

  /** Counts an attempt from an address. Throws ApiError 429. */
  takeFrom(address: string): void {
    const { isGranted } = this.#addresses.take({ id: clientGroupOf(address), perMinute }, 1);
    if (!isGranted)
      throw tooMany('Too many attempts came from this address.', Math.ceil(60 / perMinute) * 5);
  }

  /** Counts an attempt from an address against a user. Throws ApiError 429. */
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
  return new ApiError('rate_limit_exceeded', `${what} Try again in ${retryAfterSeconds} s.`, {
    retryAfterSeconds,
  });
}
