// Sums and histories for the dashboard. The ledger writes the first three tables; the others are
// buffered in memory and count what is not booked too.
export const activity = `
create table charge_days (
  ledger_id ID not null, day ID not null, key_id ID not null, model_id ID not null,
  endpoint ID not null, requests COUNT, input_tokens COUNT, cached_tokens COUNT,
  output_tokens COUNT, images COUNT, cost_micros COUNT, upstream_cost_micros COUNT,
  loss_micros COUNT,
  primary key (ledger_id, day, key_id, model_id, endpoint)
) HOT;
create index charge_days_by_day on charge_days (day);

-- By the index, the tags of a charge are read, and old ones removed.
create table charge_tags (
  ledger_id ID not null, tag ID not null, created_at_ms INT not null, charge_id ID not null,
  primary key (ledger_id, tag, created_at_ms, charge_id)
) ORDERED;
create index charge_tags_by_time on charge_tags (ledger_id, created_at_ms, charge_id);

create table tag_days (
  ledger_id ID not null, tag ID not null, day ID not null, key_id ID not null,
  model_id ID not null, requests INT not null, input_tokens INT not null,
  output_tokens INT not null, cost_micros INT not null,
  primary key (ledger_id, tag, day, key_id, model_id)
) ORDERED;
create index tag_days_by_day on tag_days (ledger_id, day);

create table activity_days (
  account_id ID not null, mode ID not null IS_MODE,
  day ID not null, key_id ID not null, model_id ID not null, outcome ID not null, requests COUNT,
  saved_micros COUNT, input_tokens COUNT, output_tokens COUNT,
  primary key (account_id, mode, day, key_id, model_id, outcome)
) HOT;
create index activity_days_by_day on activity_days (day);

create table activity_hours (
  account_id ID not null, mode ID not null IS_MODE,
  hour ID not null, provider ID not null, requests INT not null, errors INT not null,
  cost_micros INT not null, input_tokens INT not null, output_tokens INT not null,
  primary key (account_id, mode, hour, provider)
) ORDERED;
create index activity_hours_by_hour on activity_hours (hour);

create table activity_tag_days (
  account_id ID not null, mode ID not null IS_MODE,
  day ID not null, tag ID not null, outcome ID not null, requests INT not null,
  saved_micros INT not null,
  primary key (account_id, mode, day, tag, outcome)
) ORDERED;
create index activity_tag_days_by_day on activity_tag_days (day);

-- Charged requests are listed from the ledger.
create table request_log (
  account_id ID not null, mode ID not null IS_MODE,
  created_at_ms INT not null, request_id ID not null, key_id ID not null, model_id ID not null,
  path text not null,
  outcome ID not null check (outcome in ('charged', 'hit', 'idempotent-replay', 'failed')),
  code ID, status INT not null, streamed INT not null, duration_ms INT, first_byte_ms INT,
  saved_micros INT not null, input_tokens INT not null, output_tokens INT not null,
  details text not null, tags text,
  primary key (account_id, mode, created_at_ms, request_id)
) ORDERED;
create index request_log_by_request on request_log (request_id);
create index request_log_by_age on request_log (created_at_ms);
create index request_log_uncharged
  on request_log (account_id, mode, created_at_ms desc, request_id desc) where outcome <> 'charged';

create table latency_sums (
  account_id ID not null, mode ID not null IS_MODE,
  grouped_by ID not null IS_GROUP, period ID not null, group_id ID not null,
  kind ID not null check (kind = 'first' or kind = 'whole'), latency_bucket INT not null,
  requests INT not null,
  primary key (account_id, mode, grouped_by, period, group_id, kind, latency_bucket)
) ORDERED;
create index latency_sums_by_period on latency_sums (period);

create table provider_hours (
  hour ID not null, provider ID not null,
  kind ID not null check (kind = 'stream' or kind = 'whole'), ending ID not null,
  latency_bucket INT not null, calls COUNT,
  primary key (hour, provider, kind, ending, latency_bucket)
) HOT;

-- These two are no longer used.
create table recent_errors (
  account_id ID not null, mode ID not null IS_MODE,
  created_at_ms INT not null, request_id ID not null, key_id ID not null, model_id ID not null,
  path text not null, code text not null,
  primary key (account_id, mode, created_at_ms, request_id)
) ORDERED;
create index recent_errors_by_age on recent_errors (created_at_ms);

create table latency_days (
  account_id ID not null, mode ID not null IS_MODE,
  day ID not null, key_id ID not null, model_id ID not null, provider ID not null,
  kind ID not null check (kind = 'first' or kind = 'whole'), latency_bucket INT not null,
  requests INT not null,
  primary key (account_id, mode, day, key_id, model_id, provider, kind, latency_bucket)
) ORDERED;
create index latency_days_by_day on latency_days (day);
`;
