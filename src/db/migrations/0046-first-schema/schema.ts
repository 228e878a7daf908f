// The first schema, for each database. A later migration changes it, never an edit here.
import { guardsOn } from './guards.ts';
import { tables } from './tables.ts';
import { createTable, type Described, statementsOf, type Store } from './words.ts';

/**
 * Partitions of charges. The first is for those until the end of today; domain/ledger/seals/partitions.ts
 * makes those of later days. The default partition is for days whose partition could not be made in
 * time. A publication of deletes needs an identity, and there is no primary key.
 */
const onlyOnPostgres = `
create index charges_newest_first on charges (ledger_id, created_at_ms desc, id desc);
do $$ begin execute format(
  'create table charges_history partition of charges for values from (minvalue) to (%s)',
  (floor(extract(epoch from clock_timestamp()) / 86400)::bigint + 1) * 86400000
); end $$;
create table charges_default partition of charges default;
alter table charges_history replica identity full;
alter table charges_default replica identity full;
create index ledgers_by_account on ledgers (account_id);

-- The state that gateways share. Unlogged, because it describes only the present, is rewritten
-- constantly, and may be empty after a crash.
create unlogged table rate_buckets (
  id ID primary key, level double precision not null, per_minute double precision not null,
  updated_at_ms double precision not null
) HOT;
create unlogged table concurrency_slots (id ID primary key, holders jsonb not null) HOT;

-- Bodies are compressed and encrypted already.
alter table kept_bodies alter column request set storage external;
alter table kept_bodies alter column answer set storage external;
`;

/** The last is the owner of the holds of lines that wait (terms/batch.ts): it never ends. */
const rows = `
insert into revisions (name, value) values ('keys', 0);
insert into sealing (id, claimed_until_ms) values (1, 0);
insert into hold_owners (owner, host, pid, process_started_at_ms, expires_at_ms)
  values ('batches', '', 0, 0, 9000000000000000);
`;

export function firstSchema(store: Store): readonly string[] {
  const { 'primary key': _, ...partitioned } = tables.charges;
  const described: Readonly<Record<string, Described>> = {
    ...tables,
    ...(store === 'postgres' && { charges: partitioned }),
  };
  return [
    ...Object.entries(described).flatMap(([name, table]) => createTable(name, table, store)),
    ...statementsOf(store === 'postgres' ? onlyOnPostgres + rows : rows, store),
    ...guardsOn(store),
  ];
}
