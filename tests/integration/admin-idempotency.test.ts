// Idempotency-Keys of the admin API, with two HTTP threads: one effect for one key, also when two
// requests come at once and when the process is killed between the effect and its answer.
import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { isPostgresUrl } from '../../src/db/database.ts';
import { removeExpiredAnswers } from '../../src/domain/idempotency/kept-answers.ts';
import { type AdminClient, adminOf } from '../support/admin.ts';
import { after, before, test } from '../support/both-stores.ts';
import { startGatewayProgram, type TestGateway } from '../support/gateway.ts';
import { actionsOf, rowsOf } from '../support/rows.ts';
import type { Program } from '../support/program.ts';
import { until } from '../support/until.ts';

let gateway: TestGateway<Program>;
let admin: AdminClient;
before(async () => {
  gateway = await startGatewayProgram({ server: { threads: 2 } });
  admin = await adminOf(gateway);
});
after(() => gateway.stop());

let orders = 0;
const order = () => `order-${(orders += 1)}`;
/** A connection of its own, which the system gives to some thread. */
const headers = { connection: 'close' };

const credit = { kind: 'credit', mode: 'live', amount_micros: 3_000_000, note: 'order' } as const;

const countOf = async (table: 'accounts' | 'api_keys' | 'invitations') =>
  (await rowsOf(gateway.database, table)).length;

test('a repeated request gets the same answer, the key’s text included', async () => {
  const account = await admin.makeAccount();
  const keysBefore = await countOf('api_keys');
  const sent = { body: { mode: 'live', name: 'one' }, idempotencyKey: order() };
  const first = await admin.send('POST', `/accounts/${account}/keys`, sent);
  const again = await admin.send('POST', `/accounts/${account}/keys`, sent);
  assert.deepEqual([first.status, again.status, again.text], [200, 200, first.text]);
  assert.equal(first.headers['x-service-cache'], undefined);
  assert.equal(again.headers['x-service-cache'], 'idempotent-replay');
  assert.equal(await countOf('api_keys'), keysBefore + 1);
  const stored = await rowsOf(gateway.database, 'admin_answers');
  const { secret } = first.json<{ secret: string }>();
  assert.ok(stored.every(({ body }) => !Buffer.from(body ?? []).includes(secret)));
});

test('many requests at once with one key have one effect and one answer', async () => {
  const account = await admin.makeAccount();
  const [accounts, keys, invitations] = [
    await countOf('accounts'),
    await countOf('api_keys'),
    await countOf('invitations'),
  ];
  const calls: readonly (readonly [string, object])[] = [
    ['/accounts', { name: 'Once' }],
    [`/accounts/${account}/keys`, { mode: 'live', name: 'one' }],
    [`/accounts/${account}/invitations`, { email: 'one@example.com', role: 'owner' }],
    [`/accounts/${account}/adjustments`, credit],
  ];
  for (const [path, body] of calls) {
    const sent = { body, idempotencyKey: order(), headers };
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => admin.send('POST', path, sent)),
    );
    assert.deepEqual(
      new Set(replies.map(({ status, text }) => `${status} ${text}`)),
      new Set([`200 ${replies[0]!.text}`]),
      path,
    );
  }
  assert.deepEqual(
    [await countOf('accounts'), await countOf('api_keys'), await countOf('invitations')],
    [accounts + 1, keys + 1, invitations + 1],
  );
  assert.equal((await gateway.balance(account)).postedMicros, 3_000_000);
});

test('a key with another body, path or account is refused and changes nothing', async () => {
  const [account, other] = [await admin.makeAccount(), await admin.makeAccount()];
  const idempotencyKey = order();
  const path = `/accounts/${account}/adjustments`;
  await admin.ok('POST', path, { body: credit, idempotencyKey });
  const others: readonly (readonly [string, object])[] = [
    [path, { ...credit, amount_micros: 4 }],
    [path, { ...credit, kind: 'debit' }],
    [path, { ...credit, mode: 'test' }],
    [path, { ...credit, note: 'another' }],
    [`/accounts/${other}/adjustments`, credit],
    ['/accounts', { name: 'New' }],
  ];
  for (const [where, body] of others)
    assert.equal(
      await admin.refused('POST', where, { body, idempotencyKey }),
      '422 idempotency_conflict -',
    );
  assert.equal((await gateway.balance(account)).postedMicros, 3_000_000);
  assert.equal((await gateway.balance(other)).postedMicros, 0);
});

test('of a credit and a debit at once under one key, one is booked', async () => {
  const account = await admin.makeAccount();
  const idempotencyKey = order();
  const replies = await Promise.all(
    (['credit', 'debit', 'credit', 'debit'] as const).map((kind) =>
      admin.send('POST', `/accounts/${account}/adjustments`, {
        body: { ...credit, kind },
        idempotencyKey,
        headers,
      }),
    ),
  );
  const statuses = replies.map(({ status }) => status).toSorted((one, next) => one - next);
  assert.deepEqual(statuses, [200, 200, 422, 422]);
  assert.equal(Math.abs((await gateway.balance(account)).postedMicros), 3_000_000);
});

test('a failed request leaves its key free', async () => {
  const idempotencyKey = order();
  const body = { mode: 'live', name: 'one' };
  const path = '/accounts/acc_unknown/keys';
  assert.equal(await admin.refused('POST', path, { body, idempotencyKey }), '404 not_found -');
  const account = await admin.makeAccount();
  await admin.ok('POST', `/accounts/${account}/keys`, { body, idempotencyKey });
});

test('another admin key has Idempotency-Keys of its own', async () => {
  const account = await admin.makeAccount();
  const sent = { body: credit, idempotencyKey: order() };
  await admin.ok('POST', `/accounts/${account}/adjustments`, sent);
  await (await adminOf(gateway)).ok('POST', `/accounts/${account}/adjustments`, sent);
  assert.equal((await gateway.balance(account)).postedMicros, 6_000_000);
});

test('a credit needs an Idempotency-Key', async () => {
  const account = await admin.makeAccount();
  assert.equal(
    await admin.refused('POST', `/accounts/${account}/adjustments`, { body: credit }),
    '400 invalid_request Idempotency-Key',
  );
});

/** Makes the table of answers refuse to keep one, so that no answer is kept or sent. */
async function refuseAnswers(): Promise<() => Promise<void>> {
  const { url, write } = gateway.database;
  const run = async (...texts: readonly string[]) => {
    for (const text of texts) await sql.raw(text).execute(write);
  };
  if (!isPostgresUrl(url)) {
    await run(
      `create trigger refuse_answer before update on admin_answers begin select raise(abort, 'no answer'); end`,
    );
    return () => run('drop trigger refuse_answer');
  }
  await run(
    `create or replace function refuse_answer() returns trigger language plpgsql as
      $$ begin raise exception 'no answer' using errcode = '23514'; end $$`,
    'create trigger refuse_answer before update on admin_answers for each row execute function refuse_answer()',
  );
  return () => run('drop trigger refuse_answer on admin_answers');
}

test('a process killed before it keeps an answer, or at any moment, credits once and creates no account', async () => {
  const [account, busy] = [await admin.makeAccount(), await admin.makeAccount()];
  const pathOf = (id: string) => `/accounts/${id}/adjustments`;
  const path = pathOf(account);
  const accounts = await countOf('accounts');
  const sent = { body: credit, idempotencyKey: order() };
  const creation = { body: { name: 'Once' }, idempotencyKey: order() };
  const allow = await refuseAnswers();
  assert.equal((await admin.send('POST', path, sent)).status, 500);
  assert.equal((await admin.send('POST', '/accounts', creation)).status, 500);
  await allow();
  const keys = Array.from({ length: 30 }, order);
  const all = () =>
    Promise.all(
      keys.map((idempotencyKey) =>
        admin
          .send('POST', pathOf(busy), { body: credit, idempotencyKey, headers })
          .catch(() => null),
      ),
    );
  const first = all();
  await until(async () => (await gateway.balance(busy)).postedMicros > 0);
  await gateway.program.kill();
  await first;
  await gateway.program.start();
  assert.equal((await gateway.balance(account)).postedMicros, 3_000_000);
  assert.equal(
    await admin.refused('POST', path, { ...sent, body: { ...credit, amount_micros: 9 } }),
    '422 idempotency_conflict -',
  );
  const reply = await admin.ok('POST', path, sent);
  assert.equal(reply['available_micros'], 3_000_000);
  assert.deepEqual(await admin.ok('POST', path, sent), reply);
  assert.equal((await gateway.balance(account)).postedMicros, 3_000_000);
  const credited = { account_id: account, action: 'account.credit' };
  assert.equal((await actionsOf(gateway.database, credited)).length, 1);

  assert.equal(await countOf('accounts'), accounts);
  const made = await admin.ok('POST', '/accounts', creation);
  assert.deepEqual(await admin.ok('POST', '/accounts', creation), made);
  assert.equal(await countOf('accounts'), accounts + 1);

  for (const again of await all()) assert.equal(again?.status, 200, again?.text);
  assert.equal((await gateway.balance(busy)).postedMicros, 30 * 3_000_000);
});

test('after a day the key is free, but a credit is never booked twice', async () => {
  const account = await admin.makeAccount();
  const path = `/accounts/${account}/adjustments`;
  const idempotencyKey = order();
  await admin.ok('POST', path, { body: credit, idempotencyKey });
  const dayMs = 24 * 60 * 60_000;
  const kept = () => gateway.database.read.selectFrom('admin_answers').selectAll().execute();
  const { length } = await kept();
  await removeExpiredAnswers(gateway.database.write, gateway.program.clock.nowMs());
  assert.equal((await kept()).length, length);
  await removeExpiredAnswers(gateway.database.write, gateway.program.clock.nowMs() + dayMs + 1);
  assert.equal((await kept()).length, 0);
  await admin.ok('POST', path, { body: credit, idempotencyKey });
  const larger = { ...credit, amount_micros: 5_000_000 };
  await removeExpiredAnswers(gateway.database.write, gateway.program.clock.nowMs() + dayMs + 1);
  assert.equal(
    await admin.refused('POST', path, { body: larger, idempotencyKey }),
    '422 idempotency_conflict -',
  );
  // The refused request left the key free.
  await admin.ok('POST', path, { body: credit, idempotencyKey });
  assert.equal((await gateway.balance(account)).postedMicros, 3_000_000);
});

test('a revoked admin key is refused by every thread at once', async () => {
  const key = await adminOf(gateway);
  const ask = () =>
    Promise.all(Array.from({ length: 12 }, () => key.send('GET', '/accounts', { headers })));
  assert.deepEqual(new Set((await ask()).map(({ status }) => status)), new Set([200]));
  await gateway.program.cli('admin-keys', 'revoke', key.id);
  const refused = new Set((await ask()).map(({ status }) => status));
  assert.ok(!refused.has(200), [...refused].join());
});
