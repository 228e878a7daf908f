// Payments and low-balance warnings of a running gateway. Connects Stripe if it is configured, and
// checks every minute for payments to book and warnings to send.
import type { Config } from '../../config/schema.ts';
import type { Database } from '../../db/database.ts';
import type { CancelTimer, Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import { type SendWarning, warnOfLowBalances } from './low-balance.ts';
import { Payments, type RecordBooking, type AdjustmentLedger } from './payments.ts';
import { createStripeClient, type StripeClient } from './stripe-client.ts';

type BillingOptions = {
  readonly database: Database;
  readonly config: Pick<Config, 'stripe' | 'tuning'>;
  readonly ledger: AdjustmentLedger;
  readonly recordBooking: RecordBooking;
  /** null: no mail server is configured. */
  readonly sendWarning: SendWarning | null;
  readonly log: Logger;
  readonly clock: Clock;
};

const checkEveryMs = 60_000;
/** Younger decisions are still being booked by the process that made them. */
const bookingGraceMs = 30_000;

export class Billing {
  readonly payments: Payments;
  /** null: Stripe is not configured. */
  readonly stripe: StripeClient | null;
  /** When the last check succeeded, or the start, in Unix milliseconds. */
  checkedAtMs: number;
  readonly #options: BillingOptions;
  #stopChecking: CancelTimer = () => {};
  #running: Promise<void> | null = null;

  constructor(options: BillingOptions) {
    this.#options = options;
    this.checkedAtMs = options.clock.nowMs();
    this.payments = new Payments(options);
    const { stripe, tuning } = options.config;
    this.stripe = stripe && createStripeClient(stripe, tuning.stripeUrl);
  }

  /** Checks every minute from now on. One thread of the process does. */
  startChecking(): void {
    this.#stopChecking = this.#options.clock.every(checkEveryMs, () => void this.check());
  }

  /** True when owners can be warned of a low balance. */
  get canWarn(): boolean {
    return this.#options.sendWarning !== null;
  }

  /** Runs one check at a time. Failures are logged, and the next check tries again. */
  check(): Promise<void> {
    return (this.#running ??= this.#checkOnce().finally(() => (this.#running = null)));
  }

  async #checkOnce(): Promise<void> {
    const { database, sendWarning, log, clock } = this.#options;
    const onError = (err: unknown) =>
      log.error(
        { err },
        'payments or low balances could not be checked; the next check tries again',
      );
    const nowMs = clock.nowMs();
    try {
      await this.payments.bookPending(nowMs - bookingGraceMs);
      if (sendWarning) await warnOfLowBalances(database, { send: sendWarning, onError, nowMs });
      this.checkedAtMs = nowMs;
    } catch (error) {
      onError(error);
    }
  }

  /** Waits for a running check, because its resources are closed next. */
  async close(): Promise<void> {
    this.#stopChecking();
    await this.#running;
  }
}
