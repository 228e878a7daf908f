// The ledger. Its tables carry their rules as checks and triggers, so that the database itself
// refuses a bug or a mistake at the SQL prompt. `charges.ts` has the charges.
export const ledger = `
create table ledgers (
  id ID primary key, account_id ID not null references accounts (id),
  mode text not null check (mode in ('live', 'test')), posted_micros MICROS not null default 0,
  held_micros COUNT default 0, input_tokens COUNT default 0, output_tokens COUNT default 0,
  last_entry_at_ms INT not null default 0,
  check (id = account_id || ':' || mode)
) HOT;

-- Every reserve writes here, so this one reference keeps an unknown key from spending.
create table key_windows (
  key_id ID not null references api_keys (id), kind ID not null check (kind in ('day', 'month')),
  starts_on ID not null, settled_micros COUNT, held_micros COUNT,
  primary key (key_id, kind, starts_on)
) HOT;

-- The costs are the likely loss when the hold of a killed process is released.
create table holds (
  id ID primary key, ledger_id ID not null OF_LEDGER, key_id ID not null,
  amount_micros COUNT, day ID not null, month ID not null, daily_cap_micros INT,
  monthly_cap_micros INT, owner ID not null, created_at_ms INT not null,
  cost_at_once_micros COUNT default 0, cost_per_second_micros COUNT default 0
) HOT;

create table hold_owners (
  owner ID primary key, host text not null, pid INT not null, process_started_at_ms INT not null,
  expires_at_ms INT not null
) HOT;

-- Adjustments and losses are rare: without an index they would be searched for in all rows.
create table entries (
  seq SEQUENCE primary key, id ID not null, kind ID not null IS_KIND,
  ledger_id ID not null OF_LEDGER, key_id ID,
  posted_delta_micros MICROS not null, held_delta_micros MICROS not null, loss_micros COUNT,
  available_micros MICROS not null, day ID, month ID, daily_cap_micros INT,
  monthly_cap_micros INT, note text, created_at_ms INT not null,
  provoked FLAG not null default 0 check (provoked = 0 or provoked = 1),
  unique (id, kind)
) STRICT;
create index entries_adjustments on entries (ledger_id, created_at_ms desc, seq desc)
  where key_id is null;
create index entries_losses on entries (created_at_ms) where loss_micros > 0;

-- Losses that the account could provoke, which count against its loss budget.
create table loss_days (
  ledger_id ID not null, day ID not null, provoked_micros COUNT,
  forgiven_micros INT not null default 0 check (forgiven_micros between 0 and provoked_micros),
  primary key (ledger_id, day)
) ORDERED;

-- The prices of each charge, so that charges can be recomputed.
create table prices (id ID primary key, terms text not null) ORDERED;

-- Where in the journal a day ends, and digests of what it contained, chained to the day before.
create table sealed_days (
  day ID primary key, until_ms INT not null, after_seq INT not null, last_seq INT not null,
  ahead text not null, entries INT not null, charges INT not null, entries_digest text not null,
  charges_digest text not null, sums_digest text not null, state_digest text not null,
  previous_digest text not null, digest text not null, state text, sealed_at_ms INT not null,
  removing_since_ms INT, removed_at_ms INT, tags_digest text
) STRICT;

-- One row: who seals now, and whether the clock is trusted.
create table sealing (
  id INT primary key check (id = 1), trusted_ms INT, doubted_since_ms INT, doubted_at_ms INT,
  owner text, claimed_until_ms INT not null, closed_until_ms INT not null default 0
) STRICT;
insert into sealing (id, claimed_until_ms) values (1, 0);
`;
