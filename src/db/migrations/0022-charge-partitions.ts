// A partition of `charges` for each UTC day on PostgreSQL, so that an old day is dropped at once.
// The charges so far become one partition without a copy; the server reads them once to check their
// dates. Days to come get theirs from domain/ledger/seals/partitions.ts. SQLite needs none.
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { lockLedgerTables } from './lock-ledger-tables.ts';

const id = 'text collate "C"';
/** The name that the check has in the old table, which must have all checks of the new one. */
const check = (name: string, rule: string) =>
  `constraint charges_${name}_check check (${name} ${rule})`;
const count = (name: string) => `${name} bigint not null ${check(name, '>= 0')}`;

/** The old columns and checks, in the order that needs the least room: wide numbers first. */
const columns = [
  'created_at_ms bigint not null',
  ...['input_tokens', 'cache_read_tokens', 'cache_write_tokens', 'cache_write_1h_tokens'].map(
    count,
  ),
  ...['output_tokens', 'reasoning_tokens', 'upstream_cost_micros'].map(count),
  ...['cost_micros', 'loss_micros', 'hold_micros'].map(count),
  `attempts bigint not null default 1 ${check('attempts', '>= 1')}`,
  `duration_ms bigint ${check('duration_ms', '>= 0')}`,
  `first_byte_ms bigint ${check('first_byte_ms', '>= 0')}`,
  `web_searches integer not null default 0 ${check('web_searches', '>= 0')}`,
  `images integer not null default 0 ${check('images', '>= 0')}`,
  `streamed smallint not null ${check('streamed', 'in (0, 1)')}`,
  ...['id', 'ledger_id', 'key_id', 'model_id'].map((name) => `${name} ${id} not null`),
  ...['model_name', 'endpoint', 'provider'].map((name) => `${name} text not null`),
  `usage_source text not null ${check('usage_source', "in ('upstream', 'estimate')")}`,
  'price_version text not null',
  `price_id ${id}`,
  `ending text not null ${check('ending', "in ('complete', 'cut-off')")}`,
];

const guards = ['update', 'delete'].map((action) => ({
  name: `charges_refuse_${action}`,
  calls: action === 'delete' ? 'refuse_unsealed_delete()' : 'refuse_change()',
  action,
}));

const dayMs = 86_400_000;

const statements = (historyEndMs: number) => [
  ...guards.map(({ name }) => `drop trigger ${name} on charges`),
  `alter table charges rename to charges_history`,
  `alter index charges_newest_first rename to charges_history_newest_first`,
  `alter index charges_cut_off rename to charges_history_cut_off`,
  `create table charges (${columns.join(', ')}) partition by range (created_at_ms)`,
  `create index charges_newest_first on charges (ledger_id, created_at_ms desc, id desc)`,
  `create index charges_cut_off on charges (ledger_id, created_at_ms desc, id desc) where ending = 'cut-off'`,
  `alter table charges attach partition charges_history for values from (minvalue) to (${historyEndMs})`,
  // For days whose partition could not be made in time.
  `create table charges_default partition of charges default`,
  `alter table charges_default replica identity full`,
  ...guards.map(
    ({ name, action, calls }) =>
      `create trigger ${name} before ${action} on charges for each row execute function ${calls}`,
  ),
  ...['charges', 'charges_default'].map(
    (table) =>
      `create trigger ${table}_refuse_truncate before truncate on ${table} for each statement execute function refuse_change()`,
  ),
  copyOwner,
  copyPrivileges,
  copyPublications,
];

const copyOwner = `do $$ begin
  execute (select format('alter table charges owner to %I', pg_get_userbyid(relowner)) from pg_class where oid = 'charges_history'::regclass);
end $$`;

const copyPrivileges = `do $$ declare privilege record; begin
  for privilege in
    select acl.privilege_type, acl.grantee, acl.is_grantable from pg_class, aclexplode(relacl) as acl
    where pg_class.oid = 'charges_history'::regclass and acl.grantee <> relowner
  loop
    execute format('grant %s on charges to %s %s', privilege.privilege_type,
      case privilege.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(privilege.grantee)) end,
      case when privilege.is_grantable then 'with grant option' else '' end);
  end loop;
end $$`;

/** Subscribers keep one table `charges`. */
const copyPublications = `do $$ declare publication record; begin
  for publication in
    select pubname, puballtables from pg_publication where puballtables
      or oid in (select prpubid from pg_publication_rel where prrelid = 'charges_history'::regclass)
  loop
    execute format('alter publication %I set (publish_via_partition_root = true)', publication.pubname);
    if not publication.puballtables then
      execute format('alter publication %I add table charges', publication.pubname);
      execute format('alter publication %I drop table charges_history', publication.pubname);
    end if;
  end loop;
end $$`;

export const chargePartitions: Migration = { up: async () => {} };

export const chargePartitionsOnPostgres: Migration = {
  up: async (db: Kysely<unknown>) => {
    await lockLedgerTables(db);
    // A charge is never newer than the last entry of its ledger.
    const { rows } = await sql<{ ms: number | string }>`
      select greatest(floor(extract(epoch from clock_timestamp()) * 1000)::bigint,
        (select max(last_entry_at_ms) from ledgers)) as ms`.execute(db);
    const historyEndMs = (Math.floor(Number(rows[0]!.ms) / dayMs) + 1) * dayMs;
    for (const statement of statements(historyEndMs)) await sql.raw(statement).execute(db);
  },
};
