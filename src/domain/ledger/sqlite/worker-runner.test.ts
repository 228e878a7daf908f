import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { sqlitePathOf } from '../../../db/database.ts';
import { connectSqlite } from '../../../db/sqlite/connection.ts';
import { createBatcher, LedgerUnavailable } from '../batcher.ts';
import {
  addAccount,
  creditOf,
  openTestDatabase,
} from '../../../../tests/support/ledger/test-ledger.ts';
import { systemClock } from '../../../lib/clock.ts';
import { readBalance } from '../reports/queries.ts';
import { createRetryingRunner } from '../retrying-runner.ts';
import { connectStore, startWorker } from './worker-runner.ts';

const ledgerId = 'acc:live';

test('a worker that ends before it is ready fails the start', async () => {
  const worker = new Worker('process.exit(3)', { eval: true });
  const settings = {
    path: 'unused',
    self: { owner: 'run_1', host: 'here', pid: 1, processStartedAtMs: 1 },
  };
  await assert.rejects(
    startWorker(settings, { onFailure: () => {}, onTrouble: () => {}, worker }),
    /ended with code 3 before it was ready/,
  );
});

test('a worker that cannot release abandoned holds reports it and starts nevertheless', async (t) => {
  const database = await openTestDatabase(t);
  const other = connectSqlite(sqlitePathOf(database.url), { readOnly: false });
  t.after(() => other.close());
  other.exec('begin immediate');
  const troubles: string[] = [];
  const settings = {
    path: sqlitePathOf(database.url),
    self: { owner: 'run_1', host: 'here', pid: 1, processStartedAtMs: 1 },
  };
  const store = await startWorker(settings, {
    onFailure: () => {},
    onTrouble: ({ message }) => troubles.push(message),
  });
  assert.deepEqual(troubles, ['database is locked']);
  await assert.rejects(store.run([]), { message: 'database is locked', errcode: 5 });
  other.exec('rollback');
  assert.deepEqual(await store.run([]), []);
  await store.close();
});

test('when the worker dies, commands in flight are rejected and the failure is reported once', async (t) => {
  const database = await openTestDatabase(t);
  const failures: Error[] = [];
  const settings = {
    path: sqlitePathOf(database.url),
    self: { owner: 'run_1', host: 'here', pid: 1, processStartedAtMs: 1 },
  };
  const store = await startWorker(settings, {
    onFailure: (error) => failures.push(error),
    onTrouble: () => {},
  });
  const ledger = createBatcher(
    createRetryingRunner(store, { onTrouble: () => {}, clock: systemClock }),
  );
  // Not a batch: a message that the worker cannot parse, so that it dies.
  await assert.rejects(
    store.run(undefined as never),
    /whether commands in flight were run is unknown: send them again/,
  );
  await assert.rejects(ledger.submit(creditOf(ledgerId, 1)), LedgerUnavailable);
  assert.equal(failures.length, 1);
  await ledger.close();
});

test('threads that are connected to the worker charge one ledger, and share its commits', async (t) => {
  const database = await openTestDatabase(t);
  const settings = {
    path: sqlitePathOf(database.url),
    self: { owner: 'run_1', host: 'here', pid: 1, processStartedAtMs: 1 },
  };
  await addAccount(database, 'acc', []);
  const store = await startWorker(settings, { onFailure: assert.fail, onTrouble: assert.fail });
  t.after(() => store.close());
  const others = Array.from({ length: 3 }, () =>
    connectStore(store.openPort(), { onTrouble: assert.fail }),
  );
  const amounts = [1, 10, 100, 1_000];
  const replies = await Promise.all(
    [store, ...others].map((each, index) =>
      each.run([creditOf(ledgerId, amounts[index]!), creditOf('nobody:live', 5)]),
    ),
  );
  assert.deepEqual(
    replies.map((own) => own.map(({ type }) => type)),
    amounts.map(() => ['credited', 'unknown-ledger']),
  );
  await Promise.all(others.map((other) => other.close()));
  const { length } = await store.run([creditOf(ledgerId, 10_000)]);
  assert.equal(length, 1);
  const balance = await readBalance(database.read, ledgerId);
  assert.equal(balance?.availableMicros, 11_111);
});
