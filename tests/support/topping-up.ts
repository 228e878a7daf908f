// Gateways that charge saved cards at a local Stripe, each with its own connections.
import { openDatabase } from '../../src/db/database.ts';
import { AutoTopUps, pausingOnReturns } from '../../src/domain/billing/auto-top-ups.ts';
import { recordBooking } from '../../src/domain/audit/audit-log.ts';
import { Payments } from '../../src/domain/billing/payments.ts';
import { createStripeClient } from '../../src/domain/billing/stripe-client.ts';
import { openLedger } from '../../src/domain/ledger/open-ledger.ts';
import type { Clock, SharedTime } from '../../src/lib/clock.ts';
import { createLog } from '../../src/lib/json-log.ts';
import { autoTopUpNotes } from '../../src/management/alerts/auto-top-up-notes.ts';

type ToppingUp = {
  readonly databaseUrl: string;
  readonly owner: string;
  readonly stripeUrl: string;
  readonly clock: Clock;
  readonly databaseTime?: SharedTime;
  readonly fixedCents?: number;
};

export async function openToppingUp({ databaseUrl, owner, stripeUrl, clock, ...more }: ToppingUp) {
  const { databaseTime, fixedCents = 0 } = more;
  const database = openDatabase(databaseUrl);
  const ledger = await openLedger({
    databaseUrl,
    owner,
    clock,
    ...(databaseTime && { databaseTime }),
  });
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
  const close = async () => {
    await ledger.close();
    await database.close();
  };
  return { database, ledger, payments, autoTopUps, close };
}

export type OpenToppingUp = Awaited<ReturnType<typeof openToppingUp>>;
