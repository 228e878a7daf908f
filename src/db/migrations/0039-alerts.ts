// Events, who is told of them and what became of that: domain/alerts/. The thresholds of a low balance
// replace `balance_warnings`, which the version before still uses.
export const alerts = `
-- An event with a once_key is written once, however many gateways notice what it tells.
create table events (
  id ID primary key, type ID not null, account_id ID references accounts (id), once_key ID unique,
  data text not null, created_at_ms INT not null
) STRICT;
create index events_by_time on events (created_at_ms);

-- No account: an operator's own. No types: all that its owner may hear of.
create table alert_endpoints (
  id ID primary key, account_id ID references accounts (id),
  kind text not null check (kind in ('webhook', 'email', 'slack')), shown_address text not null,
  types text, sealed text, secret_id ID,
  created_at_ms INT not null, disabled_at_ms INT, disabled_reason text
) STRICT;
create index alert_endpoints_by_account on alert_endpoints (account_id, created_at_ms);

create table event_deliveries (
  id ID primary key, event_id ID not null references events (id) on delete cascade,
  endpoint_id ID not null references alert_endpoints (id) on delete cascade,
  attempts COUNT default 0, next_at_ms INT, created_at_ms INT not null, tried_at_ms INT,
  delivered_at_ms INT, problem text
) STRICT;
create index event_deliveries_due on event_deliveries (endpoint_id, next_at_ms)
  where next_at_ms is not null;
create index event_deliveries_by_endpoint on event_deliveries (endpoint_id, created_at_ms);
create index event_deliveries_by_event on event_deliveries (event_id);

create table balance_thresholds (
  account_id ID not null references accounts (id),
  threshold_micros INT not null check (threshold_micros > 0), warned_at_ms INT,
  primary key (account_id, threshold_micros)
) ORDERED;
insert into balance_thresholds (account_id, threshold_micros, warned_at_ms)
  select account_id, threshold_micros, warned_at_ms from balance_warnings;
insert into alert_endpoints (id, account_id, kind, shown_address, types, created_at_ms)
  select 'end_' || account_id, account_id, 'email', 'owners', '["balance.low"]', 0
  from balance_warnings;
`;
