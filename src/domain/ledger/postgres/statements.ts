// The statements that begin a batch on PostgreSQL: one locks ledgers, one loads what the commands
// name, and a third loads ended holds. Rows are returned as JSON, so that each statement returns
// one value. save.ts has the statement that ends a batch.
import type { ClientBase } from 'pg';
import type { Tables } from '../../../db/schema.ts';
import { claimKey } from '../book.ts';
import type { EntryRow, HoldRow, LedgerRow, WindowRow } from '../columns.ts';
import type { LedgerId } from '../commands.ts';
import type { BatchIds } from './batch-ids.ts';

/**
 * Settings that give generic plans. They are made once and stay right when tables grow, because
 * every row is found by its key.
 */
export const ledgerSettings = {
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
  plan_cache_mode: 'force_generic_plan',
};

export type LoadedRows = {
  readonly now_ms: number;
  /** The end of the closed days, in Unix milliseconds; 0 without one. */
  readonly closed_until_ms: number;
  /** null when this process has no lease. */
  readonly lease_ends_at_ms: number | null;
  readonly holds: readonly HoldRow[];
  readonly entries: readonly EntryRow[];
  readonly windows: readonly WindowRow[];
};

/** Named, because the server refuses a prepared `ledgers.*` once a migration has added a column. */
const lockText = (ids: string) => `
select ledgers.id, account_id, mode, posted_micros, held_micros, input_tokens, output_tokens,
  last_entry_at_ms, frozen from ledgers join accounts on accounts.id = ledgers.account_id
where ledgers.id = any(${ids}) order by ledgers.id for update of ledgers`;

const lockNamedText = lockText('$1::text[]');

/**
 * $2: holds whose ledgers are locked too. For a hold that is no longer open, the journal names the
 * ledger.
 */
const lockAllText = lockText(`array(
  select unnest($1::text[])
  union select ledger_id from holds where id = any($2::text[])
  union select ledger_id from entries where kind = 'reserve' and id = any(array(
    select unnest($2::text[]) except select id from holds where id = any($2::text[])
  ))
)`);

/** The database's clock, or a test's. */
export const nowMs = (parameter: string) =>
  `coalesce(${parameter}::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint)`;

const startOf = (format: string) =>
  `(select to_char(to_timestamp(ms / 1000.0) at time zone 'UTC', '${format}') from moment)`;

/** The windows of holds or reservations, each found by its key. */
const windowsOf = (spent: string) => `
select found.* from (select distinct key_id, day, month from ${spent}) as spent, lateral (
  select * from key_windows where key_id = spent.key_id and kind = 'day' and starts_on = spent.day
  union all select * from key_windows where key_id = spent.key_id and kind = 'month' and starts_on = spent.month
) as found`;

const listOf = (rows: string) => `(select coalesce(json_agg(row), '[]') from ${rows} as row)`;

/**
 * A ledger's time may be ahead of the clock, so a new hold needs the current windows and any later
 * ones.
 */
const loadText = `
with moment as materialized (select ${nowMs('$4')} as ms),
held as materialized (select * from holds where id = any($1::text[])),
touched_windows as (
  ${windowsOf('held')}
  union all select * from key_windows where key_id = any($3::text[]) and kind = 'day' and starts_on >= ${startOf('YYYY-MM-DD')}
  union all select * from key_windows where key_id = any($3::text[]) and kind = 'month' and starts_on >= ${startOf('YYYY-MM')}
)
select json_build_object(
  'now_ms', (select ms from moment),
  'closed_until_ms', (select closed_until_ms from sealing where id = 1),
  'lease_ends_at_ms', (select expires_at_ms from hold_owners where owner = $5),
  'holds', ${listOf('held')},
  'entries', ${listOf('(select * from entries where id = any($2::text[]))')},
  'windows', ${listOf('touched_windows')}
) as loaded`;

/** The keys of members, and their windows since the earliest that a command can need. */
const loadMembersText = `
with moment as materialized (select ${nowMs('$4')} as ms),
owned as materialized (
  select key_owners.* from unnest($1::text[], $2::text[]) as named (ledger_id, user_id), lateral (
    select * from key_owners
    where key_owners.ledger_id = named.ledger_id and key_owners.user_id = named.user_id
  ) as key_owners
),
begun as materialized (
  select day, month from holds where id = any($3::text[])
  union select day, month from entries where kind = 'reserve' and id = any($3::text[])
)
select json_build_object(
  'owners', ${listOf('owned')},
  'windows', ${listOf(`(
    select found.* from (select distinct key_id from owned) as keys, lateral (
      select * from key_windows where key_id = keys.key_id and kind = 'day'
        and starts_on >= least(${startOf('YYYY-MM-DD')} collate "C", (select min(day) from begun))
      union all select * from key_windows where key_id = keys.key_id and kind = 'month'
        and starts_on >= least(${startOf('YYYY-MM')} collate "C", (select min(month) from begun))
    ) as found
  )`)}
) as loaded`;

const loadEndedText = `
with known as materialized (select * from entries where id = any($1::text[]))
select json_build_object(
  'entries', ${listOf('known')},
  'windows', ${listOf(`(${windowsOf(`known where kind = 'reserve'`)})`)}
) as loaded`;

/**
 * While a settlement runs, its key cannot be taken over: the other request waits for this lock and
 * then finds the stored answer. Taken after the ledger locks, by which requests of one account take
 * turns.
 */
const lockClaimsText = `
select key_id, key_digest, request_id from idempotent_responses
where (key_id, key_digest) in (select * from unnest($1::text[], $2::text[])) order by key_id, key_digest for update`;

/**
 * Locks the ledgers that a batch touches, always in the same order, and returns them. The locks
 * protect everything that is loaded afterwards.
 */
export async function lockLedgers(
  client: ClientBase,
  { ledgerIds, holdIdsWithoutLedger }: BatchIds,
): Promise<readonly LedgerRow[]> {
  const { rows } = await client.query<LedgerRow>(
    holdIdsWithoutLedger.length === 0
      ? { name: 'ledger-lock', text: lockNamedText, values: [ledgerIds] }
      : { name: 'ledger-lock-all', text: lockAllText, values: [ledgerIds, holdIdsWithoutLedger] },
  );
  return rows;
}

/** Returns, by `claimKey`, the requests that hold the keys until the end of the transaction. */
export async function lockClaims(
  client: ClientBase,
  { claims }: BatchIds,
): Promise<ReadonlyMap<string, string>> {
  if (claims.length === 0) return new Map();
  const values = [claims.map(({ keyId }) => keyId), claims.map(({ keyDigest }) => keyDigest)];
  const { rows } = await client.query<ClaimRow>({
    name: 'ledger-lock-claims',
    text: lockClaimsText,
    values,
  });
  return new Map(rows.map((row) => [claimKey(row.key_id, row.key_digest), row.request_id]));
}

type ClaimRow = Pick<Tables['idempotent_responses'], 'key_id' | 'key_digest' | 'request_id'>;

/**
 * Loads what the commands name. This is a separate statement, because the one that waited for the
 * locks sees a snapshot from before the wait.
 */
export async function loadRows(
  client: ClientBase,
  { holdIds, entryIds, keyIds }: BatchIds,
  { clockMs, owner }: { readonly clockMs: number | null; readonly owner: string | null },
): Promise<LoadedRows> {
  const values = [holdIds, entryIds, keyIds, clockMs, owner];
  const { rows } = await client.query<{ loaded: LoadedRows }>({
    name: 'ledger-load',
    text: loadText,
    values,
  });
  return rows[0]!.loaded;
}

export type LoadedMembers = {
  readonly owners: readonly { readonly key_id: string; ledger_id: LedgerId; user_id: string }[];
  readonly windows: readonly WindowRow[];
};

/** Loads the keys and spending of members with a budget; a statement of its own, as few have one. */
export async function loadMembers(
  client: ClientBase,
  { members, holdIds }: BatchIds,
  clockMs: number | null,
): Promise<LoadedMembers> {
  if (members.length === 0) return { owners: [], windows: [] };
  const values = [
    members.map(({ ledgerId }) => ledgerId),
    members.map(({ memberId }) => memberId),
    holdIds,
    clockMs,
  ];
  const { rows } = await client.query<{ loaded: LoadedMembers }>({
    name: 'ledger-load-members',
    text: loadMembersText,
    values,
  });
  return rows[0]!.loaded;
}

/** Loads the journal of holds that are no longer open, which is rare. */
export async function loadEnded(
  client: ClientBase,
  { holdIds }: BatchIds,
  loaded: LoadedRows,
): Promise<LoadedRows> {
  const ended = new Set(holdIds).difference(new Set(loaded.holds.map(({ id }) => id)));
  if (ended.size === 0) return loaded;
  const { rows } = await client.query<{ loaded: Pick<LoadedRows, 'entries' | 'windows'> }>({
    name: 'ledger-load-ended',
    text: loadEndedText,
    values: [[...ended]],
  });
  const { entries, windows } = rows[0]!.loaded;
  return {
    ...loaded,
    entries: [...loaded.entries.filter(({ id }) => !ended.has(id)), ...entries],
    windows: [...loaded.windows, ...windows],
  };
}
