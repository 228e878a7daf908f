// Accounts and their keys, and the revision that caches of keys poll.
export const accounts = `
create table accounts (
  id ID primary key, name text not null, created_at_ms INT not null,
  frozen FLAG not null default 0 check (frozen in (0, 1)),
  price_multiplier_ppm INT not null default 1000000 check (price_multiplier_ppm >= 0),
  retain_responses FLAG not null default 1 check (retain_responses = 0 or retain_responses = 1),
  cache_generation INT not null default 0, requests_per_minute LIMIT, tokens_per_minute LIMIT,
  concurrent_requests LIMIT, allowed_addresses text
) ORDERED;
create index accounts_purged on accounts (id, cache_generation, retain_responses)
  where cache_generation > 0 or retain_responses = 0;

create table api_keys (
  id ID primary key, account_id ID not null references accounts (id),
  mode text not null check (mode in ('live', 'test')), name text not null,
  digest ID not null unique, hint text not null, daily_cap_micros LIMIT, monthly_cap_micros LIMIT,
  models text, requests_per_minute LIMIT, created_at_ms INT not null, revoked_at_ms INT,
  tokens_per_minute LIMIT, concurrent_requests LIMIT, allowed_addresses text, expires_at_ms INT,
  disabled_at_ms INT, secret_id ID, scopes text, body_days INT
) ORDERED;
create index api_keys_by_account on api_keys (account_id, created_at_ms);

-- Earlier texts of rotated keys, which work until their overlap ends.
create table earlier_keys (
  digest ID primary key, key_id ID not null references api_keys (id), secret_id ID,
  hint text not null, expires_at_ms INT not null
) STRICT;
create index earlier_keys_by_key on earlier_keys (key_id);

create table key_uses (key_id ID primary key, last_used_at_ms INT not null) HOT;

-- The secrets that digests of keys were made with.
create table secrets (id ID primary key, current_since_ms INT not null) ORDERED;

create table account_model_prices (
  account_id ID not null references accounts (id), model_id ID not null, multiplier_ppm COUNT,
  primary key (account_id, model_id)
) ORDERED;

-- Where accounts export their own traces to, and what became of them.
create table account_telemetry (
  account_id ID primary key references accounts (id), endpoint text, header_names text not null,
  sealed_headers text, secret_id ID, sampling_ppm INT not null, include_content INT not null,
  version INT not null
) STRICT;

create table account_telemetry_results (
  account_id ID primary key references accounts (id), sent_spans INT not null,
  dropped_spans INT not null, last_success_at_ms INT, last_problem text, last_problem_at_ms INT
) STRICT;

create table revisions (name ID primary key, value INT not null) HOT;
insert into revisions (name, value) values ('keys', 0);
`;
