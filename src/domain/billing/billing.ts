// Payments of a running gateway. Connects Stripe if it is configured, and checks every minute for
// payments to book and for automatic top-ups.
import type { Config } from '../../config/schema.ts';
import type { Database } from '../../db/database.ts';
import type { CancelTimer, Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import { AutoTopUps, type NoteAutoTopUp, pausingOnReturns } from './auto-top-ups.ts';
import { feeOf } from './card-fee.ts';
import { Payments, type RecordBooking, type AdjustmentLedger } from './payments.ts';
import { createStripeClient, type StripeClient } from './stripe-client.ts';

type BillingOptions = {
  readonly database: Database;
  readonly config: Pick<Config, 'stripe' | 'tuning'>;
  readonly ledger: AdjustmentLedger;
  readonly recordBooking: RecordBooking;
  readonly noteAutoTopUp: NoteAutoTopUp;
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
  /** null: likewise. */
  readonly autoTopUps: AutoTopUps | null;
  /** When the last check succeeded, or the start, in Unix milliseconds. */
  checkedAtMs: number;
  readonly #options: BillingOptions;
  #stopChecking: CancelTimer = () => {};
  #running: Promise<void> | null = null;

  constructor(options: BillingOptions) {
    this.#options = options;
    this.checkedAtMs = options.clock.nowMs();
    const note = options.noteAutoTopUp;
    const recordBooking = pausingOnReturns({ ...options, note });
    this.payments = new Payments({ ...options, recordBooking });
    const { stripe, tuning } = options.config;
    this.stripe = stripe && createStripeClient(stripe, tuning.stripeUrl);
    const { payments, stripe: client } = this;
    this.autoTopUps =
      stripe && new AutoTopUps({ ...options, stripe: client!, fee: feeOf(stripe), payments, note });
  }

  /** Checks every minute from now on. One thread of the process does. */
  start(): void {
    this.#stopChecking = this.#options.clock.every(checkEveryMs, () => void this.check());
  }

  /** Runs one check at a time. Failures are logged, and the next check tries again. */
  check(): Promise<void> {
    return (this.#running ??= this.#checkOnce().finally(() => (this.#running = null)));
  }

  async #checkOnce(): Promise<void> {
    const { log, clock } = this.#options;
    const nowMs = clock.nowMs();
    try {
      await this.payments.bookPending(nowMs - bookingGraceMs);
      this.checkedAtMs = nowMs;
    } catch (err) {
      log.error({ err }, 'payments could not be booked; the next check tries again');
    }
    try {
      await this.autoTopUps?.check();
    } catch (err) {
      log.error({ err }, 'saved cards could not be charged; the next check tries again');
    }
  }

  /** Waits for a running check, because its resources are closed next. */
  async close(): Promise<void> {
    this.#stopChecking();
    await this.#running;
  }
}
