// What the suites of both stores ask about books.
import assert from 'node:assert/strict';
import { sql } from 'kysely';
import type { Database } from '../../src/db/database.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { verify } from '../../src/domain/ledger/reports/verify.ts';

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
