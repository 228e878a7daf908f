// Gateways that charge saved cards at a local Stripe, each with its own connections to the database.
import { openDatabase } from '../../src/db/database.ts';
import { AutoTopUps, pausingOnReturns } from '../../src/domain/billing/auto-top-ups.ts';
import { recordBooking } from '../../src/domain/audit/audit-log.ts';
import { Payments } from '../../src/domain/billing/payments.ts';
import { createStripeClient } from '../../src/domain/billing/stripe-client.ts';
import type { AdminLedger } from '../../src/domain/ledger/open-ledger.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { createLog } from '../../src/lib/json-log.ts';
import { autoTopUpNotes } from '../../src/management/alerts/auto-top-up-notes.ts';

type ToppingUp = {
  readonly databaseUrl: string;
  readonly ledger: AdminLedger;
  readonly stripeUrl: string;
  readonly clock: Clock;
  readonly fixedCents?: number;
};

export function openToppingUp({
  databaseUrl,
  ledger,
  stripeUrl,
  clock,
  fixedCents = 0,
}: ToppingUp) {
  const database = openDatabase(databaseUrl);
  const note = autoTopUpNotes(clock);
  const payments = new Payments({
    database,
    ledger,
    recordBooking: pausingOnReturns({ recordBooking, note, clock }),
    clock,
  });
  const settings = {
    secret_key: 'sk_test_local_stripe',
    webhook_secret: 'whsec_of_the_local_stripe',
    fee_percent: 0,
    fee_fixed_cents: fixedCents,
    top_up_usd: { min: 1, max: 1_000, choices: [] },
  };
  const autoTopUps = new AutoTopUps({
    database,
    stripe: createStripeClient(settings, stripeUrl),
    fee: { percent: 0, fixedCents },
    payments,
    note,
    log: createLog('silent', { write: () => {}, writeBatch: () => {} }),
    clock,
  });
  return { payments, autoTopUps, close: () => database.close() };
}

export type OpenToppingUp = ReturnType<typeof openToppingUp>;
