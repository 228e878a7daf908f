// Accounts with their balances, for operators: all of them, or a page of a search.
import { sql, type SqlBool } from 'kysely';
import { contains } from '../../db/contains.ts';
import type { Database } from '../../db/database.ts';
import { readNewestFirst } from '../../db/newest-first.ts';
import { micros } from '../../lib/money.ts';
import { limitsOf } from './manage-accounts.ts';

export type FoundAccount = ReturnType<typeof toFound>;

type AccountSearch = {
  /** A part of the name, in any case, or the whole id. */
  readonly text?: string;
  readonly isFrozen?: boolean;
  readonly limit: number;
  /** The `next` of the previous page. */
  readonly cursor: string | null;
};

/**
 * Returns a page, newest first; its `next` is null on the last page. Returns null when the cursor
 * is invalid.
 */
export async function searchAccounts(
  database: Pick<Database, 'read'>,
  { text, isFrozen, limit, cursor }: AccountSearch,
): Promise<{ readonly accounts: readonly FoundAccount[]; readonly next: string | null } | null> {
  let query = accountsWithLedgers(database);
  if (text !== undefined) query = query.where(isNamed(text));
  if (isFrozen !== undefined) query = query.where('accounts.frozen', '=', isFrozen ? 1 : 0);
  const page = await readNewestFirst(query, { table: 'accounts', limit, cursor });
  return page && { accounts: page.rows.map(toFound), next: page.next };
}

/** Lists all accounts, oldest first. */
export async function listAccounts(database: Database) {
  const rows = await accountsWithLedgers(database)
    .selectAll('accounts')
    .orderBy('accounts.created_at_ms')
    .orderBy('accounts.id')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    created_at: new Date(row.created_at_ms).toISOString(),
    frozen: row.frozen === 1,
    retain_responses: row.retain_responses === 1,
    ...limitsOf(row),
    live_available_micros: micros(row.live_posted - row.live_held),
    test_available_micros: micros(row.test_posted - row.test_held),
  }));
}

/** Returns null when the account does not exist. */
export async function findAccount(
  database: Pick<Database, 'read'>,
  accountId: string,
): Promise<FoundAccount | null> {
  const row = await accountsWithLedgers(database)
    .where('accounts.id', '=', accountId)
    .executeTakeFirst();
  return row ? toFound(row) : null;
}

function accountsWithLedgers(database: Pick<Database, 'read'>) {
  return database.read
    .selectFrom('accounts')
    .innerJoin('ledgers as live', (join) =>
      join.onRef('live.account_id', '=', 'accounts.id').on('live.mode', '=', 'live'),
    )
    .innerJoin('ledgers as test', (join) =>
      join.onRef('test.account_id', '=', 'accounts.id').on('test.mode', '=', 'test'),
    )
    .select([
      'accounts.id',
      'accounts.name',
      'accounts.created_at_ms',
      'accounts.frozen',
      'accounts.price_multiplier_ppm',
      'live.posted_micros as live_posted',
      'live.held_micros as live_held',
      'test.posted_micros as test_posted',
      'test.held_micros as test_held',
    ]);
}

function isNamed(text: string) {
  return sql<SqlBool>`(${contains('accounts.name', text)} or accounts.id = ${text})`;
}

type Row = Awaited<ReturnType<ReturnType<typeof accountsWithLedgers>['execute']>>[number];

function toFound(row: Row) {
  return {
    id: row.id,
    name: row.name,
    createdAtMs: row.created_at_ms,
    isFrozen: row.frozen === 1,
    priceMultiplierPpm: row.price_multiplier_ppm,
    live: { postedMicros: row.live_posted, heldMicros: row.live_held },
    test: { postedMicros: row.test_posted, heldMicros: row.test_held },
  };
}
