// What the suites of both stores ask about books.
import assert from 'node:assert/strict';
import { sql } from 'kysely';
import type { Database } from '../../src/db/database.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { verify } from '../../src/domain/ledger/reports/verify.ts';
import { type Hooks, hooksOfFile } from '../support/file-hooks.ts';
import type { StoreKind } from './stores.ts';

/** A hold of the key `k` of the account `acc`. */
export function holdOf(holdId: string) {
  return { holdId, ledgerId: 'acc:live', keyId: 'k' } as const;
}

/** The clock of a store, which follows a test's clock. */
export function booksClockOf(clock: Pick<Clock, 'nowMs'>) {
  return {
    get nowMs() {
      return clock.nowMs();
    },
  };
}

export function typesOf(replies: readonly { readonly type: string }[]): string[] {
  return replies.map(({ type }) => type);
}

export function kindsOf(results: readonly { readonly kind: string }[]): string[] {
  return results.map(({ kind }) => kind);
}

/** Returns the rows of a query, each as its values in the order of the columns. */
export async function select({ read }: Pick<Database, 'read'>, query: string): Promise<unknown[]> {
  const { rows } = await sql.raw<object>(query).execute(read);
  return rows.map((row) => Object.values(row));
}

/** Verifies the books from the last seal and from the start. */
export async function assertVerifies({ read }: Pick<Database, 'read'>): Promise<void> {
  for (const all of [false, true]) {
    const result = await verify(read, [], { all });
    assert.ok(result.ok, JSON.stringify(result));
  }
}

/** What a change may concern, the tables that others refer to first. */
const changed = [
  'prices',
  'ledgers',
  'key_windows',
  'holds',
  'entries',
  'charges',
  'charge_tags',
  'charge_days',
  'tag_days',
  'loss_days',
];

/**
 * Books that a suite's tests change for a moment: `open` runs once, because a database for each
 * change takes longer than its test. Returns a function that changes them by SQL, looks, restores
 * them, and returns what was seen. Call it where the suite's tests are registered.
 */
export function changeableBooks(store: StoreKind, open: (hooks: Hooks) => Promise<Database>) {
  const hooks = hooksOfFile();
  const kept = changed.map((table) => `create table kept_${table} as select * from ${table}`);
  const restored = [
    ...changed.toReversed().map((table) => `delete from ${table}`),
    ...changed.map((table) => `insert into ${table} select * from kept_${table}`),
    // Of a seal only its state can be changed.
    `update sealed_days set state = (select state from kept_seals where kept_seals.day = sealed_days.day)`,
  ];
  const prepare = async () => {
    const database = await open(hooks);
    const seals = 'create table kept_seals as select * from sealed_days';
    await store.execute(database, [store.withoutGuards, ...kept, seals].join('; '));
    return database;
  };
  let opened: Promise<Database> | null = null;
  return async <Seen>(
    change: string,
    look: (database: Database) => Promise<Seen>,
  ): Promise<Seen> => {
    const database = await (opened ??= prepare());
    try {
      await store.execute(database, change);
      return await look(database);
    } finally {
      await store.execute(database, restored.join('; '));
    }
  };
}
