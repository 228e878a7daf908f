// Keys in the dashboard: permissions, validation, effect on requests, audit log.
import assert from 'node:assert/strict';
import { listChanges } from '../../src/domain/audit/audit-log.ts';
import type { Key, NewKey } from '../../src/management/contract/keys.ts';
import { after, before, test, testOn } from '../support/both-stores.ts';
import { columnOf } from '../support/column-of.ts';
import { everyRow, signIn, type DashboardClient } from '../support/dashboard.ts';
import { endpoint } from '../support/endpoints.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { jsonOf, ok, type Reply } from '../support/http.ts';
import type { RunningApp } from '../support/running-app.ts';
import { TestClock } from '../support/test-clock.ts';
import { until } from '../support/until.ts';

const chat = endpoint('chat');

let clock: TestClock;
let gateway: TestGateway<RunningApp>;
let owner: DashboardClient;

before(async () => {
  clock = new TestClock();
  const limits = { requests_per_minute: 600 };
  gateway = await startGateway({ aliases: { fast: 'gpt-6-luna' }, limits }, { clock });
  owner = await signIn(gateway, { role: 'owner' });
});
after(() => gateway.stop());

test('a key is created with every control, shown once, and works', async () => {
  const body = {
    mode: 'test',
    name: '  Build  ',
    daily_cap_micros: 5_000_000,
    monthly_cap_micros: 50_000_000,
    models: ['fast', 'gpt-6-luna', 'gpt-image-flare', 'web-search'],
    scopes: ['images', 'run', 'run'],
    requests_per_minute: 60,
    tokens_per_minute: 100_000,
    concurrent_requests: 4,
    allowed_addresses: ['127.0.0.0/8', ' ::1 '],
    expires_at: '2099-01-31T18:00:00+02:00',
    body_days: 2,
    cache_marks: false,
  };
  const { key, secret } = await make(body);
  const { id, created_at: createdAt, today, this_month: month, ...fields } = key;
  assert.match(secret, /^tg_test_\w{38}$/);
  assert.match(createdAt, /^\d{4}-.*Z$/);
  assert.deepEqual(fields, {
    ...body,
    name: 'Build',
    hint: `tg_test_…${secret.slice(-4)}`,
    state: 'active',
    models: ['gpt-6-luna', 'gpt-image-flare', 'web-search'],
    scopes: ['run', 'images'],
    allowed_addresses: ['127.0.0.0/8', '::1'],
    expires_at: '2099-01-31T16:00:00.000Z',
    last_used_at: null,
    owner: { user_id: owner.userId, name: 'Test User' },
    disabled_at: null,
    revoked_at: null,
    account_id: owner.account,
    account_name: 'Test',
  });
  assert.deepEqual([today.spent_micros, month.held_micros], [0, 0]);
  const now = new Date(clock.nowMs());
  const next = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1));
  assert.equal(month.resets_at, next.toISOString());
  const reply = await ok(ask(secret));
  const seen = await read(id);
  assert.equal(seen.today.spent_micros, reply.costMicros);
  assert.equal(seen.this_month.spent_micros, reply.costMicros);
  for (const path of ['/keys?mode=test', `/keys/${id}`]) {
    const { text } = await owner.get(`/accounts/${owner.account}${path}`);
    assert.ok(!text.includes(secret), 'it is shown once');
  }
});

test("a key's creation, disabling and revocation carry the time of the gateway's clock", async () => {
  const { key } = await make({ mode: 'test', name: 'Timed' });
  await owner.post(`${keys(key.id)}/disable`);
  await owner.post(`${keys(key.id)}/revoke`);
  const now = new Date(clock.nowMs()).toISOString();
  const { created_at, disabled_at, revoked_at } = await read(key.id);
  assert.deepEqual([created_at, disabled_at, revoked_at], [now, now, now]);
});

testOn('sqlite', 'invalid key fields are refused by name, and nothing is changed', async () => {
  const { key } = await make({ mode: 'test', name: 'Steady' });
  const wrong: readonly [object, string, RegExp][] = [
    [{ name: '   ' }, 'name', /name/],
    [{ name: 'x'.repeat(201) }, 'name', /200/],
    [{ daily_cap_micros: -1 }, 'daily_cap_micros', /whole number/],
    [{ monthly_cap_micros: 0.5 }, 'monthly_cap_micros', /whole number/],
    [{ models: [] }, 'models', /at least 1/],
    [{ models: ['gpt-6-luna', 'no-such-model'] }, 'models', /no-such-model/],
    [{ requests_per_minute: -1 }, 'requests_per_minute', /whole number/],
    [{ tokens_per_minute: 1e11 }, 'tokens_per_minute', /whole number/],
    [{ concurrent_requests: 'two' }, 'concurrent_requests', /whole number/],
    [{ allowed_addresses: ['10.0.0.0/8', '10.0.0.0/33'] }, 'allowed_addresses', /10\.0\.0\.0\/33/],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 'expires_at', /future/],
    [{ expires_at: 'tomorrow' }, 'expires_at', /time with its zone/],
    [{ expires_at: '2099-01-31T18:00:00' }, 'expires_at', /time with its zone/],
    [{ expires_at: '2099-02-30T18:00:00Z' }, 'expires_at', /time with its zone/],
    [{ revoked_at: null }, 'revoked_at', /not a known field; leave it out/],
  ];
  for (const [fields, param, message] of wrong) {
    for (const reply of [
      await owner.post(keys(), { mode: 'test', name: 'Wrong', ...fields }),
      await owner.patch(keys(key.id), fields),
    ]) {
      assert.deepEqual([reply.status, reply.error.param], [400, param], reply.text);
      assert.match(reply.error.message, message);
    }
  }
  assert.equal((await owner.post(keys(), { mode: 'both', name: 'Wrong' })).error.param, 'mode');
  assert.equal((await owner.post(keys(), { mode: 'test' })).error.param, 'name');
  assert.deepEqual(await list('search=Wrong'), []);
  assert.deepEqual(await read(key.id), key);
});

test('a cap and a model list apply to the next request and can be removed', async () => {
  const { key, secret } = await make({ mode: 'test', name: 'Capped' });
  await ok(ask(secret));
  const capped = await change(key.id, { daily_cap_micros: 1 });
  assert.equal(capped.daily_cap_micros, 1);
  const refused = await within5s(secret, (reply) => reply.status !== 200);
  assert.deepEqual([refused.status, refused.error.code], [429, 'key_daily_limit_reached']);
  assert.equal(refused.error.details?.['resets_at'], capped.today.resets_at);
  await change(key.id, { daily_cap_micros: null, monthly_cap_micros: 1 });
  const byMonth = await within5s(secret, (reply) => reply.error.code !== 'key_daily_limit_reached');
  assert.deepEqual([byMonth.status, byMonth.error.code], [429, 'key_monthly_limit_reached']);
  await change(key.id, { monthly_cap_micros: null, models: ['claude-haiku-4-5'] });
  const forbidden = await within5s(secret, (reply) => reply.status !== 429);
  assert.deepEqual([forbidden.status, forbidden.error.code], [403, 'model_not_allowed_for_key']);
  await change(key.id, { models: null, allowed_addresses: ['192.0.2.1'] });
  const away = await within5s(secret, (reply) => reply.error.code !== 'model_not_allowed_for_key');
  assert.equal(away.error.code, 'address_not_allowed');
  await change(key.id, { allowed_addresses: null });
  await within5s(secret, (reply) => reply.status === 200);
  const unused = { today: null, this_month: null, last_used_at: null };
  assert.deepEqual({ ...(await read(key.id)), ...unused }, { ...key, ...unused });
});

test('the key used last is the active one with the newest request, else the newest key', async () => {
  const member = await signIn(gateway, { role: 'member' });
  const { account } = member;
  type LastUsed = { readonly key: Key | null };
  const lastUsed = async (mode: string) =>
    (await member.get(`/accounts/${account}/key-last-used?mode=${mode}`)).json<LastUsed>().key
      ?.name;
  const use = async ({ key }: { readonly key: string }) => {
    await clock.advance(1_000);
    await ok(ask(key));
  };
  const isLastUsed = (name: string) =>
    until(async () => {
      await gateway.program.app.gateway.observe.activity.flush();
      return (await lastUsed('test')) === name;
    });
  assert.equal(await lastUsed('test'), undefined);
  const old = await gateway.makeKey({ account, name: 'Old' });
  await clock.advance(1_000);
  const expiresAtMs = clock.nowMs() + 60_000;
  const busy = await gateway.makeKey({ account, name: 'Busy', expiresAtMs });
  await clock.advance(1_000);
  await gateway.makeKey({ account, name: 'New' });
  assert.equal(await lastUsed('test'), 'New');
  await use(old);
  await isLastUsed('Old');
  await use(busy);
  await isLastUsed('Busy');
  await clock.advance(60_000);
  assert.equal(await lastUsed('test'), 'Old', 'the other has expired');
  assert.equal(await lastUsed('live'), undefined);
});

test('a disabled key gets 401 within five seconds until it is enabled; a revoked key never works again', async () => {
  const { key, secret } = await make({ mode: 'test', name: 'Paused' });
  await ok(ask(secret));
  const disabled = await act(key.id, 'disable');
  assert.equal(disabled.state, 'disabled');
  const refused = await within5s(secret, (reply) => reply.status !== 200);
  assert.deepEqual([refused.status, refused.error.code], [401, 'invalid_api_key']);
  assert.match(refused.error.message, /disabled/);
  const again = await act(key.id, 'disable');
  assert.equal(again.disabled_at, disabled.disabled_at, 'a second time changes nothing');
  const renamed = await change(key.id, { name: 'Paused still' });
  assert.equal(renamed.state, 'disabled', 'it can be changed meanwhile');
  assert.equal((await act(key.id, 'enable')).state, 'active');
  await within5s(secret, (reply) => reply.status === 200);
  const revoked = await act(key.id, 'revoke');
  assert.equal(revoked.state, 'revoked');
  const ended = await within5s(secret, (reply) => reply.status !== 200);
  assert.deepEqual([ended.status, ended.error.code], [401, 'invalid_api_key']);
  const twice = await act(key.id, 'revoke');
  assert.equal(twice.revoked_at, revoked.revoked_at, 'a second time changes nothing');
  for (const reply of [
    await owner.post(`${keys(key.id)}/enable`),
    await owner.post(`${keys(key.id)}/disable`),
    await owner.patch(keys(key.id), { name: 'Back' }),
  ])
    assert.deepEqual([reply.status, reply.error.code], [409, 'conflict']);
});

test('the key list covers one mode, with search by name and last characters, state filter and pages', async () => {
  const client = await signIn(gateway, { role: 'owner' });
  const makeFor = (name: string, mode = 'live') => make({ mode, name }, client);
  for (const name of ['a 1', 'b 2', 'c 3']) await makeFor(name);
  const { key: off } = await makeFor('d off');
  const { secret } = await makeFor('sandbox', 'test');
  await client.post(`/accounts/${client.account}/keys/${off.id}/disable`);
  const names = async (query: string) => (await list(query, client)).map(({ name }) => name);
  assert.deepEqual(await names('mode=live'), ['d off', 'c 3', 'b 2', 'a 1']);
  assert.deepEqual(await names('mode=test'), ['sandbox']);
  assert.deepEqual(await names(`mode=test&search=${secret.slice(-4)}`), ['sandbox']);
  assert.deepEqual(await names('mode=live&search=B%202'), ['b 2']);
  assert.deepEqual(await names('mode=live&state=disabled'), ['d off']);
  assert.deepEqual(await names('mode=live&state=active&search=c%203'), ['c 3']);
  assert.deepEqual(await names('mode=live&state=disabled&state=active&search=%203'), ['c 3']);
  const path = `/accounts/${client.account}/keys?mode=live&limit=3`;
  const seen = await everyRow<Key>((one) => client.get(one), path);
  assert.deepEqual(columnOf(seen, 'name'), ['d off', 'c 3', 'b 2', 'a 1']);
  for (const [query, param] of [
    ['', 'mode'],
    ['mode=live&cursor=x', 'cursor'],
    ['mode=live&state=gone', 'state[0]'],
    ['mode=live&limit=0', 'limit'],
  ] as const) {
    const reply = await client.get(`/accounts/${client.account}/keys?${query}`);
    assert.deepEqual([reply.status, reply.error.param], [400, param]);
  }
});

testOn('sqlite', 'a member sees the limits that keys have by default', async () => {
  const member = await signIn(gateway, { role: 'member', account: owner.account });
  assert.deepEqual((await member.get(`/accounts/${owner.account}/key-defaults`)).json(), {
    requests_per_minute: 600,
    tokens_per_minute: null,
    concurrent_requests: null,
    bodies: { days_max: 7, body_limit_bytes: 262_144, retained: true },
  });
});

test('every change is in the audit log once, with the previous values and without the key text', async () => {
  const client = await signIn(gateway, { role: 'owner', email: 'auditor@example.com' });
  const path = `/accounts/${client.account}/keys`;
  const { key, secret } = await make({ mode: 'test', name: 'Watched' }, client);
  await client.patch(`${path}/${key.id}`, { name: 'Watched', daily_cap_micros: 7 });
  await client.patch(`${path}/${key.id}`, { daily_cap_micros: 7 });
  for (const action of ['disable', 'enable', 'revoke', 'revoke'])
    await client.post(`${path}/${key.id}/${action}`);
  const asked = { accountId: client.account, action: 'key.', limit: 50, cursor: null };
  const page = await listChanges(gateway.database.read, asked);
  const entries = page!.entries.toReversed();
  const expected = ['key.create', 'key.update', 'key.disable', 'key.enable', 'key.revoke'];
  assert.deepEqual(columnOf(entries, 'action'), expected);
  const actor = { kind: 'user', id: client.userId, name: 'auditor@example.com' };
  for (const entry of entries) assert.partialDeepStrictEqual(entry, { subject: key.id, actor });
  const { before: earlier, after: later } = entries[1]!;
  assert.deepEqual([earlier, later], [{ daily_cap_micros: null }, { daily_cap_micros: 7 }]);
  assert.ok(!JSON.stringify(entries).includes(secret));
});

function keys(id?: string): string {
  return `/accounts/${owner.account}/keys${id === undefined ? '' : `/${id}`}`;
}

async function make(body: object, client = owner): Promise<NewKey> {
  return jsonOf(client.post(`/accounts/${client.account}/keys`, body));
}

async function read(id: string): Promise<Key> {
  return (await owner.get(keys(id))).json();
}

async function list(query: string, client = owner): Promise<Key[]> {
  const mode = query.includes('mode=') ? '' : 'mode=test&';
  const reply = await client.get(`/accounts/${client.account}/keys?${mode}${query}`);
  return reply.json<{ data: Key[] }>().data;
}

async function change(id: string, body: object): Promise<Key> {
  return jsonOf(owner.patch(keys(id), body));
}

async function act(id: string, action: 'disable' | 'enable' | 'revoke'): Promise<Key> {
  return jsonOf(owner.post(`${keys(id)}/${action}`));
}

function ask(key: string): Promise<Reply> {
  return gateway.post(chat.path, { key, body: chat.body() });
}

/**
 * Repeats the call until the answer is as expected, within the gateway time that the design allows.
 */
async function within5s(key: string, isExpected: (reply: Reply) => boolean): Promise<Reply> {
  await clock.advance(4_900);
  return until(async () => {
    const reply = await ask(key);
    return isExpected(reply) && reply;
  });
}

test('keys are sorted by spend of the UTC day and month, and by last use', async () => {
  const client = await signIn(gateway);
  const { account } = client;
  const one = await gateway.makeKey({ account, name: 'One' });
  const two = await gateway.makeKey({ account, name: 'Two' });
  await clock.advance(1_000);
  const idle = await gateway.makeKey({ account, name: 'Idle' });
  await gateway.makeKey({ name: 'Of another account' });
  const spend = async (key: string, model: string) =>
    (await gateway.post(chat.path, { key, body: chat.body({ model }) })).costMicros!;
  // A month that has another day to come.
  clock.jumpTo(Date.UTC(2027, 2, 10, 12));
  const dear = await spend(one.key, 'gpt-4o');
  clock.jumpTo(Date.UTC(2027, 2, 11, 12));
  const cheap = await spend(two.key, 'gpt-6-luna');
  assert.ok(cheap < dear);
  const sorted = async (sort: string) => {
    const reply = await ok(client.get(`/accounts/${account}/keys?mode=test&sort=${sort}`));
    return reply.json<{ data: Key[] }>().data;
  };
  const namesBy = async (sort: string) => (await sorted(sort)).map(({ name }) => name);
  assert.deepEqual(await namesBy('spent-today'), ['Two', 'Idle', 'One']);
  assert.deepEqual(await namesBy('spent-this-month'), ['One', 'Two', 'Idle']);
  await until(async () => {
    await clock.advance(10_000);
    return (await namesBy('last-used')).join() === 'Two,One,Idle';
  });
  const [top] = await sorted('spent-today');
  assert.equal(top!.id, two.id);
  assert.equal(top!.today.forecast_micros! >= 2 * cheap - 1, true);
  assert.equal((await sorted('spent-this-month')).at(-1)!.id, idle.id);
  assert.equal((await client.get(`/accounts/${account}/keys?mode=test&sort=name`)).status, 400);
});
