// Migration of a first-version ledger: nothing is lost, the constraints remain, and charging
// continues.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDatabase } from '../../src/db/database.ts';
import { migrateToLatest } from '../../src/db/migrate.ts';
import { migrations } from '../../src/db/migrations/list.ts';
import { extendOf, settleOf, startMs } from '../support/ledger/test-ledger.ts';
import { verify } from '../../src/domain/ledger/reports/verify.ts';
import { onEachStore } from './stores.ts';

const first = '0001-foundation';

/** 100 in, a charge of 30 (100 input and 10 output tokens), and an open hold of 20. */
const books = `
insert into accounts (id, name, created_at_ms) values ('acc', 'A', 0);
insert into api_keys (id, account_id, mode, name, digest, hint, created_at_ms) values ('k', 'acc', 'live', 'K', 'd', 'h', 0);
insert into ledgers (id, account_id, mode, posted_micros, held_micros, input_tokens, output_tokens)
  values ('acc:live', 'acc', 'live', 70, 20, 100, 10);
insert into key_windows values ('k', 'day', '2026-11-21', 30, 20), ('k', 'month', '2026-11', 30, 20);
insert into holds values ('b', 'acc:live', 'k', 20, '2026-11-21', '2026-11', null, null, 'run_1', ${startMs});
insert into entries (id, kind, ledger_id, key_id, posted_delta_micros, held_delta_micros, loss_micros, available_micros, day, month, created_at_ms)
  values ('c', 'credit', 'acc:live', null, 100, 0, 0, 100, null, null, ${startMs}),
    ('a', 'reserve', 'acc:live', 'k', 0, 40, 0, 60, '2026-11-21', '2026-11', ${startMs}),
    ('a', 'settle', 'acc:live', 'k', -30, -40, 0, 70, '2026-11-21', '2026-11', ${startMs}),
    ('b', 'reserve', 'acc:live', 'k', 0, 20, 0, 50, '2026-11-21', '2026-11', ${startMs});
insert into charges values
  ('a', 'acc:live', 'k', 'm', 'M', 'chat', 'p', 60, 40, 0, 0, 10, 0, 'upstream', '0', 1, 'complete', 0, 30, 0, 40, ${startMs})`;

onEachStore((store) => {
  test('a ledger of the first version works in this one', async (t) => {
    const database = openDatabase(await store.createUrl(t));
    t.after(() => database.close());
    const all = migrations[store.dialect];
    assert.deepEqual(await migrateToLatest(database.write, { [first]: all[first]! }), [first]);
    await store.execute(database, books);

    assert.deepEqual(await database.migrate(), Object.keys(all).slice(1));
    assert.deepEqual(await verify(database.read), {
      ok: true,
      ledgers: 1,
      entries: 4,
      charges: 1,
      uncollectedMicros: 0,
      failedMicros: 0,
    });
    const details = await database.read
      .selectFrom('charges')
      .select(['attempts', 'duration_ms', 'first_byte_ms'])
      .execute();
    assert.deepEqual({ ...details[0] }, { attempts: 1, duration_ms: null, first_byte_ms: null });
    const { ledger_id, key_id, model_id, endpoint, ...sums } = (await database.read
      .selectFrom('charge_days')
      .selectAll()
      .executeTakeFirst())!;
    assert.deepEqual([ledger_id, key_id, model_id, endpoint], ['acc:live', 'k', 'm', 'chat']);
    assert.deepEqual(sums, {
      day: '2026-11-21',
      requests: 1,
      input_tokens: 100,
      cached_tokens: 40,
      output_tokens: 10,
      images: 0,
      cost_micros: 30,
      upstream_cost_micros: 1,
      loss_micros: 0,
    });
    const uses = await database.read.selectFrom('key_uses').selectAll().execute();
    assert.deepEqual({ ...uses[0] }, { key_id: 'k', last_used_at_ms: startMs });
    for (const change of [
      'update entries set loss_micros = 1',
      'delete from entries',
      'update charges set loss_micros = 1',
    ]) {
      await assert.rejects(store.execute(database, change), /append-only/);
    }
    const hold = { holdId: 'b', ledgerId: 'acc:live', keyId: 'k' } as const;
    const replies = await store
      .openStore(t, database)
      .run([extendOf(hold, 1, 30), settleOf(hold, 50)]);
    assert.deepEqual(
      replies.map(({ type }) => type),
      ['held', 'charged'],
    );
    assert.deepEqual(await verify(database.read), {
      ok: true,
      ledgers: 1,
      entries: 6,
      charges: 2,
      uncollectedMicros: 0,
      failedMicros: 0,
    });
  });

  test('users verified by a link that the inviter could see must verify again', async (t) => {
    const database = openDatabase(await store.createUrl(t));
    t.after(() => database.close());
    const all = Object.entries(migrations[store.dialect]);
    const last = all.findIndex(([name]) => name === '0014-proofs');
    await migrateToLatest(database.write, Object.fromEntries(all.slice(0, last)));
    await store.execute(database, usersOfBefore(store.dialect === 'sqlite' ? '1' : 'true'));
    await migrateToLatest(database.write, migrations[store.dialect]);

    const users = await database.read
      .selectFrom('users')
      .select(['id', 'email_verified'])
      .orderBy('id')
      .execute();
    const verified = users.filter(({ email_verified: is }) => Boolean(is)).map(({ id }) => id);
    assert.deepEqual(verified, ['confirmed', 'first', 'provider']);
    const credentials = database.read
      .selectFrom('user_credentials')
      .select(['user_id', 'provider_id']);
    assert.deepEqual(
      (await credentials.orderBy('id').execute()).map((row) => `${row.user_id} ${row.provider_id}`),
      [
        'confirmed credential',
        'first credential',
        'linked credential',
        'provider oidc',
        'shown credential',
      ],
    );
    const sessions = await database.read
      .selectFrom('user_sessions')
      .select('user_id')
      .orderBy('id')
      .execute();
    assert.deepEqual(
      sessions.map((row) => row.user_id),
      ['shown'],
    );
    const invitations = await database.read
      .selectFrom('invitations')
      .select(['id', 'mailed_token_digest'])
      .execute();
    assert.ok(invitations.every((row) => row.mailed_token_digest === null));
    const topUps = await database.read
      .selectFrom('top_ups')
      .select(['id', 'checkout_id'])
      .orderBy('id')
      .execute();
    assert.deepEqual(
      topUps.map((row) => [row.id, row.checkout_id]),
      [
        ['t1', 'cs_live_a1B2'],
        ['t2', 'cs_test_c3'],
        ['t3', null],
      ],
    );
  });
});

const user = (id: string, isVerified: string) =>
  `insert into users (id, name, email, email_verified, created_at, updated_at)
    values ('${id}', 'U', '${id}@example.com', ${isVerified}, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z');
  insert into invitations (id, account_id, email, role, token_digest, mailed, invited_by, created_at_ms, expires_at_ms, accepted_at_ms)
    values ('${id}', 'acc', '${id}@example.com', 'member', '${id}', 1, null, 0, 1, 1)`;

const credential = (userId: string, provider: 'credential' | 'oidc') =>
  `insert into user_credentials (id, user_id, provider_id, account_id, created_at, updated_at)
    values ('${userId}-${provider}', '${userId}', '${provider}', '${userId}', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')`;

const session = (userId: string) =>
  `insert into user_sessions (id, user_id, token, created_at, updated_at, expires_at)
    values ('${userId}', '${userId}', '${userId}', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z')`;

const audited = (id: string, action: string, after: string) =>
  `insert into audit_log (id, actor_kind, actor_id, actor_name, action, subject, after, created_at_ms)
    values ('${id}-${action}', 'user', '${id}', 'U', '${action}', '${id}', '${after}', 0)`;

const topUp = (id: string, url: string) =>
  `insert into top_ups (id, account_id, user_id, amount_micros, state, checkout_url, created_at_ms)
    values ('${id}', 'acc', 'first', 1, 'open', ${url}, 0)`;

/** All accepted an invitation that was mailed and also shown to the inviter. */
const usersOfBefore = (yes: string) =>
  [
    `insert into accounts (id, name, created_at_ms) values ('acc', 'A', 0)`,
    ...['confirmed', 'first', 'linked', 'provider', 'shown'].map((id) => user(id, yes)),
    ...['confirmed', 'first', 'linked', 'shown'].map((id) => credential(id, 'credential')),
    ...['linked', 'provider'].map((id) => credential(id, 'oidc')),
    ...['linked', 'shown'].map(session),
    audited('confirmed', 'user.verify-email', '{"email":"confirmed@example.com"}'),
    audited('shown', 'user.verify-email', '{"email":"another@example.com"}'),
    audited('first', 'user.first-run', '{}'),
    topUp('t1', `'https://checkout.stripe.com/c/pay/cs_live_a1B2#fidkdWxOY'`),
    topUp('t2', `'http://127.0.0.1:4/pay/cs_test_c3'`),
    topUp('t3', 'null'),
  ].join(';\n');
