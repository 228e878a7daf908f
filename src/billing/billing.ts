// Payments and warnings of a running gateway: Stripe if it is configured, and a look every minute at what is left to do.
import type { Config } from '../config/schema.ts';
import type { Database } from '../db/database.ts';
import type { CancelTimer, Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import { type SendWarning, warnOfLowBalances } from './low-balance.ts';
import { Payments, type RecordBooking, type AdjustmentLedger } from './payments.ts';
import { createStripeClient, type StripeClient } from './stripe-client.ts';

type BillingOptions = {
  readonly database: Database;
  readonly config: Pick<Config, 'stripe'>;
  readonly ledger: AdjustmentLedger;
  readonly recordBooking: RecordBooking;
  /** null: no e-mail can be sent. */
  readonly sendWarning: SendWarning | null;
  readonly log: Logger;
  readonly clock: Clock;
};

const lookEveryMs = 60_000;
/** What is younger is being booked by whoever decided on it. */
const bookingMs = 30_000;

export class Billing {
  readonly payments: Payments;
  /** null: nobody can pay by card. */
  readonly stripe: StripeClient | null;
  readonly #options: BillingOptions;
  readonly #stopLooking: CancelTimer;
  #look: Promise<void> | null = null;

  constructor(options: BillingOptions) {
    this.#options = options;
    this.payments = new Payments(options);
    this.stripe = options.config.stripe && createStripeClient(options.config.stripe);
    this.#stopLooking = options.clock.every(lookEveryMs, () => void this.look());
  }

  /** Whether owners can be warned of a low balance. */
  get canWarn(): boolean {
    return this.#options.sendWarning !== null;
  }

  /** Never more than one at a time; failures are reported and left to the next. */
  look(): Promise<void> {
    return (this.#look ??= this.#lookOnce().finally(() => (this.#look = null)));
  }

  async #lookOnce(): Promise<void> {
    const { database, sendWarning, log, clock } = this.#options;
    const onError = (err: unknown) => log.error({ err }, 'payments or low balances cannot be looked at; it is tried again');
    const nowMs = clock.nowMs();
    try {
      await this.payments.bookWhatIsLeft(nowMs - bookingMs);
      if (sendWarning) await warnOfLowBalances(database, { send: sendWarning, onError, nowMs });
    } catch (error) {
      onError(error);
    }
  }

  /** Waits for a look that is under way: what it uses is closed next. */
  async close(): Promise<void> {
    this.#stopLooking();
    await this.#look;
  }
}
