// Answers of the admin API under Idempotency-Keys, the same on both databases.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { adminScopes } from '../../src/terms/admin-scope.ts';
import { KeptAnswers, removeExpiredAnswers } from '../../src/domain/idempotency/kept-answers.ts';
import { insertAdminKey } from '../../src/domain/keys/admin-keys.ts';
import { createSecret, type Secrets } from '../../src/lib/secrets.ts';
import { startMs } from '../support/ledger/test-ledger.ts';
import { until } from '../support/until.ts';
import { select } from './books.ts';
import { onEachStore, type StoreKind } from './stores.ts';

const [first, second] = [createSecret('a secret'), createSecret('another secret')];
const dayMs = 24 * 60 * 60_000;

async function open(t: TestContext, store: StoreKind) {
  const database = await store.openDatabase(t);
  const order = { name: 'A shop', scopes: adminScopes };
  const { listing } = await insertAdminKey(database.write, order, startMs);
  const nameOf = (fingerprint = 'request', keyDigest = 'order-1') => ({
    keyId: listing.id,
    keyDigest,
    fingerprint,
  });
  const errors: unknown[] = [];
  const answersUnder = (secrets: Secrets) =>
    new KeptAnswers({ secrets, onError: (error) => errors.push(error) });
  return { database, nameOf, answersUnder, answers: answersUnder([first]), errors };
}

onEachStore((store) => {
  test('a kept answer is found by the same request only', async (t) => {
    const { database, nameOf, answers } = await open(t, store);
    const { write } = database;
    assert.deepEqual(await answers.claim(write, nameOf(), startMs), { kind: 'open' });
    assert.deepEqual(await answers.claim(write, nameOf('other'), startMs), { kind: 'conflict' });
    // It ran without keeping its answer: the same request may run again.
    assert.deepEqual(await answers.claim(write, nameOf(), startMs), { kind: 'open' });
    await answers.keep(write, nameOf(), '{"id":"one"}');
    assert.deepEqual(await answers.claim(write, nameOf(), startMs + dayMs - 1), {
      kind: 'kept',
      answer: '{"id":"one"}',
    });
    assert.deepEqual(await answers.claim(write, nameOf('other'), startMs), { kind: 'conflict' });
    assert.deepEqual(await answers.claim(write, nameOf('other', 'order-2'), startMs), {
      kind: 'open',
    });
  });

  test('after a day the key is free', async (t) => {
    const { database, nameOf, answers } = await open(t, store);
    const { write } = database;
    await answers.claim(write, nameOf(), startMs);
    await answers.keep(write, nameOf(), '1');
    const laterMs = startMs + dayMs;
    assert.deepEqual(await answers.claim(write, nameOf('other'), laterMs), { kind: 'open' });
    assert.deepEqual(await answers.claim(write, nameOf(), laterMs), { kind: 'conflict' });
  });

  test('the same request waits for the transaction that runs it', async (t) => {
    const { database, nameOf, answers } = await open(t, store);
    const order: string[] = [];
    const run = (name: string, holdMs: number) =>
      database.write.transaction().execute(async (transaction) => {
        const claimed = await answers.claim(transaction, nameOf(), startMs);
        order.push(`${name} ${claimed.kind}`);
        if (claimed.kind !== 'open') return;
        await sleep(holdMs);
        await answers.keep(transaction, nameOf(), '1');
        order.push(`${name} ends`);
      });
    const running = run('first', 50);
    await until(() => order.length === 1);
    await Promise.all([running, run('second', 0)]);
    assert.deepEqual(order, ['first open', 'first ends', 'second kept']);
  });

  test('a claim is undone with its transaction', async (t) => {
    const { database, nameOf, answers } = await open(t, store);
    await assert.rejects(
      database.write.transaction().execute(async (transaction) => {
        await answers.claim(transaction, nameOf(), startMs);
        throw new Error('refused');
      }),
    );
    assert.deepEqual(await answers.claim(database.write, nameOf('other'), startMs), {
      kind: 'open',
    });
  });

  test('an answer outlives a new secret, and is unreadable once its secret has ended', async (t) => {
    const { database, nameOf, answers, answersUnder, errors } = await open(t, store);
    const { write } = database;
    await answers.claim(write, nameOf(), startMs);
    await answers.keep(write, nameOf(), 'tg_live_text');
    const rows = await database.read.selectFrom('admin_answers').selectAll().execute();
    assert.ok(!Buffer.from(rows[0]!.body!).includes('tg_live_text'));
    const rotated = answersUnder([second, first]);
    assert.equal((await rotated.claim(write, nameOf(), startMs)).kind, 'kept');
    assert.equal(errors.length, 0);
    const retired = answersUnder([second]);
    assert.deepEqual(await retired.claim(write, nameOf(), startMs), { kind: 'unreadable' });
    assert.equal(errors.length, 1);
  });

  test('only expired answers are removed, however many', async (t) => {
    const { database, nameOf, answers } = await open(t, store);
    const { write } = database;
    await write.transaction().execute(async (transaction) => {
      for (let made = 0; made < 450; made += 1)
        await answers.claim(transaction, nameOf('request', `order-${made}`), startMs);
    });
    await answers.claim(write, nameOf('request', 'later'), startMs + 1);
    await removeExpiredAnswers(database.write, startMs + dayMs);
    assert.deepEqual(await select(database, 'select key_digest from admin_answers'), [['later']]);
  });
});
