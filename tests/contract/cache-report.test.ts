// The report on prompt caches over many charges, which are read and explained in steps.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Database } from '../../src/db/database.ts';
import { reportCaches } from '../../src/domain/ledger/reports/cache-report.ts';
import { keepPrice, noPrices } from '../../src/terms/price-terms.ts';
import {
  addAccount,
  creditOf,
  record,
  reserveOf,
  settleOf,
} from '../support/ledger/test-ledger.ts';
import { holdOf } from './books.ts';
import { onEachStore } from './stores.ts';

const ledgerId = 'acc:live';
const price = keepPrice({ list: noPrices, upstream: noPrices });
const charges = 3_000;
/** Pages to read, and steps to explain. */
const stepsMin = 2 * (charges / 500);

/** Remembers the queries that are sent through it. */
function watched({ read }: Database, name: string, queries: string[]) {
  return read.withPlugin({
    transformQuery: ({ node }) => {
      queries.push(name);
      return node;
    },
    transformResult: async ({ result }) => result,
  });
}

onEachStore((store) => {
  test('a long report lets other work run, and an account has one at a time', async (t) => {
    const database = await store.openDatabase(t);
    await addAccount(database, 'acc', ['k']);
    const books = store.openStore(t, database);
    const holds = Array.from({ length: charges }, (_, index) => holdOf(`h${index}`));
    await books.run([creditOf(ledgerId, 100_000), ...holds.map((hold) => reserveOf(hold, 1))]);
    const ofConversation = { ...record, conversation: 'c' };
    await books.run(holds.map((hold) => ({ ...settleOf(hold, 1), price, record: ofConversation })));
    const queries: string[] = [];
    const ask = (name: string) =>
      reportCaches(watched(database, name, queries), {
        ledgerIds: [ledgerId],
        fromMs: 0,
        toMs: Number.MAX_SAFE_INTEGER,
        by: 'model',
        upstreamModelOf: (id) => id,
      });
    let isRunning = true;
    let turnsOfOthers = 0;
    const countTurns = () => {
      turnsOfOthers += 1;
      if (isRunning) setImmediate(countTurns);
    };
    setImmediate(countTurns);
    const reports = await Promise.all([ask('first'), ask('second')]);
    isRunning = false;
    assert.deepEqual(
      reports.map(({ total }) => total.requests),
      [charges, charges],
    );
    assert.ok(turnsOfOthers >= 2 * stepsMin, String(turnsOfOthers));
    assert.ok(queries.lastIndexOf('first') < queries.indexOf('second'), queries.join());
  });
});
