// Removal of kept bodies, on both databases: expiry, the most days, erasure and the budget.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changeTerms, raiseCacheGeneration } from '../../src/domain/accounts/manage-accounts.ts';
import { bodyUpkeep, removeErasedOf } from '../../src/domain/bodies/upkeep.ts';
import type { Database } from '../../src/db/database.ts';
import { insertAccount, startMs } from '../support/ledger/test-ledger.ts';
import { onEachStore } from './stores.ts';

const dayMs = 86_400_000;
const sizeBytes = 1_000;

type Row = {
  readonly id: string;
  readonly account?: string;
  readonly createdAtMs?: number;
  readonly days?: number;
  readonly generation?: number;
};

async function insert({ write }: Database, rows: readonly Row[]): Promise<void> {
  for (let start = 0; start < rows.length; start += 100)
    await write
      .insertInto('kept_bodies')
      .values(
        rows
          .slice(start, start + 100)
          .map(({ id, account = 'a', createdAtMs = startMs, days = 7, generation = 0 }) => ({
            account_id: account,
            request_id: id,
            key_id: 'k',
            generation,
            created_at_ms: createdAtMs,
            expires_at_ms: createdAtMs + days * dayMs,
            size_bytes: sizeBytes,
            streamed: 0 as const,
            request_bytes: 1,
            answer_bytes: null,
            request: Buffer.from('sealed'),
            answer: null,
          })),
      )
      .execute();
}

const idsIn = async ({ read }: Database) =>
  (await read.selectFrom('kept_bodies').select('request_id').orderBy('request_id').execute()).map(
    (row) => row.request_id,
  );

const upkeepOf = (database: Database, { daysMax = 7, diskBytes = 1_000_000 } = {}) =>
  bodyUpkeep({ database, daysMax, diskBytes });

onEachStore((store) => {
  test('expired bodies are removed, and those older than the most days', async (t) => {
    const database = await store.openDatabase(t);
    await insert(database, [{ id: 'one', days: 1 }, { id: 'three', days: 3 }, { id: 'seven' }]);
    const upkeep = upkeepOf(database);
    await upkeep(startMs + dayMs - 1);
    assert.deepEqual(await idsIn(database), ['one', 'seven', 'three']);
    await upkeep(startMs + dayMs);
    assert.deepEqual(await idsIn(database), ['seven', 'three']);
    await upkeepOf(database, { daysMax: 2 })(startMs + 2 * dayMs);
    assert.deepEqual(await idsIn(database), []);
  });

  test('beyond the budget the oldest are removed, a little more than is needed', async (t) => {
    const database = await store.openDatabase(t);
    const rows = Array.from({ length: 2_500 }, (_, index) => ({
      id: `r${String(index).padStart(4, '0')}`,
      createdAtMs: startMs + index,
    }));
    await insert(database, rows.slice(0, 1_500));
    const upkeep = upkeepOf(database, { diskBytes: 1_600 * sizeBytes });
    await upkeep(startMs);
    assert.equal((await idsIn(database)).length, 1_500, 'within it nothing is removed');
    await insert(database, rows.slice(1_500));
    await upkeep(startMs + 1);
    assert.deepEqual(
      await idsIn(database),
      rows.slice(-1_500).map(({ id }) => id),
      'the newest of 15/16',
    );
    await upkeep(startMs + 2);
    assert.equal((await idsIn(database)).length, 1_500);
  });

  test('an erasure removes an account’s own, and later what was stored meanwhile', async (t) => {
    const database = await store.openDatabase(t);
    await database.write.transaction().execute(async (transaction) => {
      await insertAccount(transaction, 'a', ['k']);
      await insertAccount(transaction, 'b', ['l']);
    });
    const many = Array.from({ length: 450 }, (_, index) => ({ id: `m${index}` }));
    await insert(database, [...many, { id: 'other', account: 'b' }]);
    assert.equal(await removeErasedOf(database, 'a'), 0, 'nothing was erased yet');
    await raiseCacheGeneration(database.write, 'a');
    assert.equal(await removeErasedOf(database, 'a'), 450);
    await insert(database, [{ id: 'late' }, { id: 'new', generation: 1 }]);
    const upkeep = upkeepOf(database);
    await upkeep(startMs);
    assert.deepEqual(await idsIn(database), ['new', 'other']);
    await changeTerms(database.write, 'a', { retainResponses: false });
    await upkeep(startMs);
    assert.deepEqual(await idsIn(database), ['other']);
  });
});
