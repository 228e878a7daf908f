// What became of an account's exported spans, on both stores.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addResults, readResults } from '../../src/domain/telemetry/accounts/results.ts';
import { addAccount } from '../support/ledger/test-ledger.ts';
import { onEachStore } from './stores.ts';

onEachStore((store) => {
  test('gateways add their counts at once, and the last success and problem stay', async (t) => {
    const database = await store.openDatabase(t);
    await addAccount(database, 'acc', []);
    const counts = { sent: 2, dropped: 1, succeededAtMs: null, problem: null };
    await addResults(database.transient, 'acc', {
      ...counts,
      problem: { text: 'refused', atMs: 1_000 },
    });
    await Promise.all(
      Array.from({ length: 5 }, () => addResults(database.transient, 'acc', counts)),
    );
    await addResults(database.transient, 'acc', { ...counts, succeededAtMs: 2_000 });
    assert.deepEqual(await readResults(database.read, 'acc'), {
      sent_spans: 14,
      dropped_spans: 7,
      last_success_at: '1970-01-01T00:00:02.000Z',
      last_problem: 'refused',
      last_problem_at: '1970-01-01T00:00:01.000Z',
    });
  });
});
