// Rate limits for sign-ins and similar attempts: by client address in this process's memory, and by
// target user in the database. So neither many addresses nor many gateways help an attacker.
import { ApiError } from '../../canonical/errors.ts';
import type { Database } from '../../db/database.ts';
import type { AddressRates } from '../../domain/limits/address-rates.ts';
import {
  forgetAttempts,
  moveAttempts,
  takeAttempt,
  tidyAttempts,
  type Attempts,
} from '../../domain/users/attempts.ts';

/** Several people may share one address; a program that guesses needs thousands of attempts. */
const perMinute = 60;
/** After these seconds several attempts are free again. */
const retrySeconds = 5;
const tidyEvery = 500;

export class AttemptLimits {
  readonly #database: Database;
  readonly #nowMs: () => number;
  readonly #addressRates: AddressRates;
  #taken = 0;

  constructor(database: Database, addressRates: AddressRates, nowMs: () => number) {
    this.#database = database;
    this.#addressRates = addressRates;
    this.#nowMs = nowMs;
  }

  /** Counts an attempt from an address. Throws ApiError 429. */
  async takeFrom(address: string): Promise<void> {
    const { isGranted } = await this.#addressRates.take('sign-in attempts', address, perMinute);
    if (!isGranted) throw tooMany('Too many attempts came from this address.', retrySeconds);
  }

  /** Counts an attempt from an address against a user. Throws ApiError 429. */
  async take(address: string, attempts: Attempts): Promise<void> {
    await this.takeFrom(address);
    await this.takeAgainst(attempts);
  }

  /** Counts an attempt, whatever address it comes from. Throws ApiError 429. */
  async takeAgainst(attempts: Attempts): Promise<void> {
    const seconds = await takeAttempt(this.#database.transient, attempts, this.#nowMs());
    if (seconds > 0) throw tooMany('Too many attempts.', seconds);
    this.#taken += 1;
    if (this.#taken % tidyEvery === 0) await tidyAttempts(this.#database.transient, this.#nowMs());
  }

  move(from: Attempts, to: Attempts): Promise<void> {
    return moveAttempts(this.#database.transient, from, to);
  }

  forget(attempts: Attempts): Promise<void> {
    return forgetAttempts(this.#database.transient, attempts);
  }
}

function tooMany(what: string, retryAfterSeconds: number): ApiError {
  return new ApiError('rate_limit_exceeded', `${what} Try again in ${retryAfterSeconds} s.`, {
    retryAfterSeconds,
  });
}
