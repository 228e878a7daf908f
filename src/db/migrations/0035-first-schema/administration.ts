// The audit log, keys of the admin API with its answers under Idempotency-Keys, card payments, and
// low-balance warnings.
export const administration = `
create table audit_log (
  id ID primary key,
  actor_kind text not null check (actor_kind in ('user', 'command', 'service', 'admin-key')),
  actor_id text not null, actor_name text not null, address text, account_id text,
  action ID not null, subject text not null, before text, after text, created_at_ms INT not null
);
create index audit_log_by_time on audit_log (created_at_ms desc, id desc);
create index audit_log_by_account on audit_log (account_id, created_at_ms desc, id desc);
create index audit_log_by_subject on audit_log (subject, created_at_ms desc, id desc);

create table admin_keys (
  id ID primary key, name text not null, scopes text not null, digest ID not null unique,
  hint text not null, allowed_addresses text, expires_at_ms INT, created_at_ms INT not null,
  revoked_at_ms INT
) STRICT;

create table admin_answers (
  admin_key_id ID not null references admin_keys (id), key_digest ID not null,
  fingerprint ID not null, body BYTES, expires_at_ms INT not null,
  primary key (admin_key_id, key_digest)
) STRICT;
create index admin_answers_by_expiry on admin_answers (expires_at_ms);

-- A payment belongs to a top-up when it was paid through the checkout created for it.
create table top_ups (
  id ID primary key, account_id ID not null references accounts (id), user_id text not null,
  amount_micros INT not null check (amount_micros > 0),
  state text not null check (state in ('open', 'processing', 'failed', 'expired', 'paid')),
  checkout_url text, created_at_ms INT not null, checkout_id ID,
  fee_micros COUNT default 0
) ORDERED;
create index top_ups_by_account on top_ups (account_id, created_at_ms desc, id desc);

create table payments (
  id ID primary key, top_up_id ID, account_id ID references accounts (id), amount_micros INT,
  currency text,
  problem text check (problem in ('unknown-account', 'wrong-amount', 'wrong-currency')),
  decision text check (decision in ('assigned', 'dismissed')), decided_note text, paid_at_ms INT,
  revision INT not null default 0, fee_micros COUNT default 0
) ORDERED;
create index payments_undecided on payments (paid_at_ms desc, id desc)
  where problem is not null;

-- Stripe's events. The bookings are recomputed from all of them whenever another arrives.
create table payment_events (
  id ID primary key, payment_id ID not null references payments (id), type text not null,
  object_id text not null, status text, amount_micros COUNT, currency text not null,
  began_at_ms INT not null, happened_at_ms INT not null, received_at_ms INT not null
) ORDERED;
create index payment_events_by_payment on payment_events (payment_id);

create table payment_bookings (
  payment_id ID not null references payments (id), seq INT not null,
  part text not null check (part in ('payment', 'refund', 'dispute')),
  account_id ID not null references accounts (id),
  delta_micros INT not null check (delta_micros <> 0), decided_at_ms INT not null,
  booked_at_ms INT,
  primary key (payment_id, seq)
) ORDERED;
create index payment_bookings_open on payment_bookings (decided_at_ms)
  where booked_at_ms is null;

create table balance_warnings (
  account_id ID primary key references accounts (id),
  threshold_micros INT not null check (threshold_micros > 0),
  claimed_until_ms INT not null default 0, warned_at_ms INT
) ORDERED;
`;
