// Card payments: the top-ups that were requested, Stripe's events about them, and the resulting
// bookings; and low-balance warnings. Stripe's events are append-only: the bookings are recomputed
// from all of them whenever another arrives.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

const tables = (integer: string, text: string) => [
  `create table top_ups (
    id ${text} primary key,
    account_id ${text} not null references accounts (id),
    user_id text not null,
    amount_micros ${integer} not null check (amount_micros > 0),
    state text not null check (state in ('open', 'processing', 'failed', 'expired', 'paid')),
    checkout_url text,
    created_at_ms ${integer} not null
  )`,
  `create index top_ups_by_account on top_ups (account_id, created_at_ms desc, id desc)`,

  `create table payments (
    id ${text} primary key,
    top_up_id ${text},
    account_id ${text} references accounts (id),
    amount_micros ${integer},
    currency text,
    problem text check (problem in ('unknown-account', 'wrong-amount', 'wrong-currency')),
    decision text check (decision in ('assigned', 'dismissed')),
    decided_note text,
    paid_at_ms ${integer},
    revision ${integer} not null default 0
  )`,
  `create index payments_undecided on payments (paid_at_ms desc, id desc) where problem is not null`,

  `create table payment_events (
    id ${text} primary key,
    payment_id ${text} not null references payments (id),
    type text not null,
    object_id text not null,
    status text,
    amount_micros ${integer} not null check (amount_micros >= 0),
    currency text not null,
    began_at_ms ${integer} not null,
    happened_at_ms ${integer} not null,
    received_at_ms ${integer} not null
  )`,
  `create index payment_events_by_payment on payment_events (payment_id)`,

  `create table payment_bookings (
    payment_id ${text} not null references payments (id),
    seq ${integer} not null,
    part text not null check (part in ('payment', 'refund', 'dispute')),
    account_id ${text} not null references accounts (id),
    delta_micros ${integer} not null check (delta_micros <> 0),
    decided_at_ms ${integer} not null,
    booked_at_ms ${integer},
    primary key (payment_id, seq)
  )`,
  `create index payment_bookings_open on payment_bookings (decided_at_ms) where booked_at_ms is null`,

  `create table balance_warnings (
    account_id ${text} primary key references accounts (id),
    threshold_micros ${integer} not null check (threshold_micros > 0),
    claimed_until_ms ${integer} not null default 0,
    warned_at_ms ${integer}
  )`,
];

const guards = ['update', 'delete'].map(
  (
    action,
  ) => `create trigger payment_events_refuse_${action} before ${action} on payment_events begin
    select raise(abort, 'payment_events are append-only: bookings follow from all of them');
  end`,
);

const postgresGuards = [
  ...['update', 'delete'].map(
    (action) =>
      `create trigger payment_events_refuse_${action} before ${action} on payment_events for each row execute function refuse_change()`,
  ),
  `create trigger payment_events_refuse_truncate before truncate on payment_events for each statement execute function refuse_change()`,
];

export const billing: Migration = migration([
  ...tables('integer', 'text').map(strictly),
  ...guards,
]);
export const billingOnPostgres: Migration = migration([
  ...tables('bigint', 'text collate "C"'),
  ...postgresGuards,
]);

/** Refuses text in a number's column. */
function strictly(statement: string): string {
  return statement.startsWith('create table') ? `${statement} strict, without rowid` : statement;
}

function migration(texts: readonly string[]): Migration {
  return {
    up: async (db) => {
      for (const text of texts) await sql.raw(text).execute(db);
    },
  };
}
