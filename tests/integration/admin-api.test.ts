// The admin API: accounts, keys, money, users, prices and reports, as a shop would use them.
import assert from 'node:assert/strict';
import { adminOf, type AdminClient } from '../support/admin.ts';
import { after, before, test, testOn } from '../support/both-stores.ts';
import { signIn } from '../support/dashboard.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { rowsOf } from '../support/rows.ts';
import type { RunningApp } from '../support/running-app.ts';
import { jsonOf, ok, send } from '../support/http.ts';
import { allRows } from '../support/refused-audit.ts';
import { columnOf } from '../support/column-of.ts';

let gateway: TestGateway<RunningApp>;
let admin: AdminClient;
before(async () => {
  gateway = await startGateway({ server: { trust_proxy: true, cors_origins: ['*'] } });
  admin = await adminOf(gateway);
});
after(() => gateway.stop());

type Page<Row> = {
  readonly data: readonly Row[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
};
type Named = { readonly id: string };
type NewKey = { readonly key: Named; readonly secret: string };

let orders = 0;
const order = () => `order-${(orders += 1)}`;
const today = () => new Date(gateway.program.clock.nowMs()).toISOString().slice(0, 10);

const chat = { model: 'gpt-6-luna', messages: [{ role: 'user', content: 'Hi' }] };

const credit = {
  kind: 'credit',
  mode: 'test',
  amount_micros: 5_000_000,
  note: 'order 1001',
} as const;
/** Books it under an Idempotency-Key of its own. */
const adjust = (account: string, body: object = credit, idempotencyKey = order()) =>
  ['POST', `/accounts/${account}/adjustments`, { body, idempotencyKey }] as const;

test('a shop sells access: account, credit, key, a request, and the charge in the reports', async () => {
  const account = await admin.makeAccount('Acme');
  const paid = await admin.ok(...adjust(account));
  assert.equal(paid['available_micros'], 5_000_000 + 1_000_000_000);
  const { key, secret } = await admin.ok<NewKey>('POST', `/accounts/${account}/keys`, {
    body: { mode: 'test', name: 'Acme’s key', daily_cap_micros: 1_000_000, models: ['gpt-6-luna'] },
  });
  const reply = await ok(gateway.post('/v1/chat/completions', { key: secret, body: chat }));
  const cost = reply.costMicros!;
  assert.ok(cost > 0);

  type Sold = { request_id: string; cost_micros: number; key: Named; created_at: string };
  const usage = await admin.ok<Page<Sold>>('GET', `/accounts/${account}/usage`, {
    query: { mode: 'test' },
  });
  assert.deepEqual(
    usage.data.map((row) => [row.request_id, row.cost_micros, row.key.id]),
    [[reply.requestId, cost, key.id]],
  );
  const day = usage.data[0]!.created_at.slice(0, 10);
  for (const [by, group] of [
    ['day', day],
    ['account', account],
    ['key', key.id],
    ['model', 'gpt-6-luna'],
  ] as const) {
    const sums = await admin.ok<Page<{ group: string; requests: number; revenue_micros: number }>>(
      'GET',
      '/reports/sums',
      { query: { by, mode: 'test', account, from: day, to: day } },
    );
    assert.deepEqual(
      sums.data.map((row) => [row.group, row.requests, row.revenue_micros]),
      [[group, 1, cost]],
    );
  }
  const statement = await admin.ok<Page<{ kind: string; amount_micros: number }>>(
    'GET',
    `/accounts/${account}/statement`,
    { query: { mode: 'test' } },
  );
  assert.ok(
    statement.data.some((line) => line.kind === 'charges' && line.amount_micros === -cost),
    JSON.stringify(statement),
  );
  const shown = await admin.ok<{ test: { posted_micros: number } }>('GET', `/accounts/${account}`);
  assert.equal(shown.test.posted_micros, 1_005_000_000 - cost);
});

test('each change is in the audit log with the admin key as its actor', async () => {
  const account = await admin.makeAccount();
  await admin.ok('PATCH', `/accounts/${account}`, { body: { name: 'Renamed', frozen: true } });
  await admin.ok(...adjust(account));
  const { key, secret } = await admin.ok<NewKey>('POST', `/accounts/${account}/keys`, {
    body: { mode: 'live', name: 'one' },
  });
  await admin.ok('POST', `/keys/${key.id}/rotate`, { body: { overlap_hours: 1 } });
  await admin.ok('POST', `/keys/${key.id}/revoke`);
  const log = await admin.ok<
    Page<{ action: string; actor: object; before: unknown; after: unknown }>
  >('GET', '/audit-log', { query: { account }, headers: { 'x-forwarded-for': '192.0.2.7' } });
  assert.deepEqual(log.data.map(({ action }) => action).toReversed(), [
    'account.create',
    'account.update',
    'account.credit',
    'key.create',
    'key.rotate',
    'key.revoke',
  ]);
  const shop = { kind: 'admin-key', id: admin.id, name: 'A shop', address: '127.0.0.1' };
  for (const { actor } of log.data) assert.deepEqual(actor, shop);
  assert.deepEqual(log.data.at(-2)!.after, { name: 'Renamed', frozen: true });
  assert.ok(!JSON.stringify(log).includes(secret));
});

test('accounts: create with limits, find, change, clear', async () => {
  const allowed_addresses = ['10.0.0.0/8'];
  const made = await admin.ok('POST', '/accounts', {
    body: { name: ' Limited ', requests_per_minute: 60, allowed_addresses },
  });
  const limited = { name: 'Limited', requests_per_minute: 60, allowed_addresses };
  assert.partialDeepStrictEqual(made, limited);
  const id = String(made['id']);
  const body = { requests_per_minute: null, frozen: true, retain_responses: false };
  const changed = await admin.ok('PATCH', `/accounts/${id}`, { body });
  assert.partialDeepStrictEqual(changed, { ...body, allowed_addresses });
  const found = await admin.ok<Page<Named>>('GET', '/accounts', {
    query: { search: id, frozen: 'true' },
  });
  assert.deepEqual(columnOf(found.data, 'id'), [id]);
});

test('keys: create, find, change, disable, enable, revoke', async () => {
  const account = await admin.makeAccount();
  const { key, secret } = await admin.ok<NewKey>('POST', `/accounts/${account}/keys`, {
    body: { mode: 'test', name: 'one', expires_at: '2099-01-01T00:00:00Z' },
  });
  assert.match(secret, /^tg_test_/);
  const ask = async () =>
    (await gateway.post('/v1/chat/completions', { key: secret, body: chat })).status;
  assert.equal(await ask(), 200);
  const path = `/keys/${key.id}`;
  const body = { name: 'two', monthly_cap_micros: 7, expires_at: null };
  assert.partialDeepStrictEqual(await admin.ok('PATCH', path, { body }), body);
  assert.equal((await admin.ok('POST', `${path}/disable`))['state'], 'disabled');
  assert.equal((await admin.ok('POST', `${path}/enable`))['state'], 'active');
  assert.equal((await admin.ok('POST', `${path}/revoke`))['state'], 'revoked');
  assert.equal((await admin.ok('POST', `${path}/revoke`))['state'], 'revoked');
  assert.equal(await admin.refused('PATCH', path, { body: { name: 'x' } }), '409 conflict -');
  assert.equal((await admin.ok('GET', path))['account_id'], account);
  const list = await admin.ok<Page<Named>>('GET', '/keys', {
    query: { account, state: 'revoked' },
  });
  assert.deepEqual(columnOf(list.data, 'id'), [key.id]);
});

test('keys: made for a member, given to another, to nobody; only to members', async () => {
  const { account, userId } = await signIn(gateway);
  const other = await signIn(gateway, { account, role: 'member' });
  const stranger = await signIn(gateway);
  const path = `/accounts/${account}/keys`;
  type Owned = { id: string; owner: { user_id: string } | null };
  const body = { mode: 'test', name: 'Theirs', owner_id: userId };
  const sent = { body, idempotencyKey: order() };
  const { key } = await admin.ok<{ key: Owned }>('POST', path, sent);
  assert.equal(key.owner?.user_id, userId);
  const again = await admin.ok<{ key: Owned }>('POST', path, sent);
  assert.deepEqual(again.key, key, 'a repeated request makes no second key');
  for (const to of [other.userId, null, userId]) {
    const given = await admin.ok<Owned>('PATCH', `/keys/${key.id}/owner`, {
      body: { user_id: to },
    });
    assert.equal(given.owner?.user_id ?? null, to);
    assert.deepEqual((await admin.ok<Owned>('GET', `/keys/${key.id}`)).owner, given.owner);
  }
  for (const [method, wrong, fields, refusal] of [
    ['POST', path, { ...body, owner_id: stranger.userId }, '400 invalid_request owner_id'],
    ['POST', '/accounts/acc_unknown/keys', body, '404 not_found -'],
    ['PATCH', `/keys/${key.id}/owner`, { user_id: stranger.userId }, '404 not_found -'],
    ['PATCH', `/keys/${key.id}/owner`, {}, '400 invalid_request user_id'],
    ['PATCH', '/keys/key_unknown/owner', { user_id: null }, '404 not_found -'],
  ] as const)
    assert.equal(await admin.refused(method, wrong, { body: fields }), refusal, wrong);
  assert.equal((await admin.ok<Owned>('GET', `/keys/${key.id}`)).owner?.user_id, userId);
});

test('budgets: set, change one field, list, remove', async () => {
  const { account, userId } = await signIn(gateway);
  const stranger = await signIn(gateway);
  const path = `/accounts/${account}/members/${userId}/budget`;
  type Budget = { user_id: string; daily_micros: number | null; monthly_micros: number | null };
  const list = async () => {
    const { data } = await admin.ok<Page<Budget>>('GET', `/accounts/${account}/budgets`);
    return data.map((row) => [row.user_id, row.daily_micros, row.monthly_micros]);
  };
  assert.deepEqual(await list(), []);
  await admin.ok('PATCH', path, { body: { daily_micros: 5, monthly_micros: 50 } });
  await admin.ok('PATCH', path, { body: { daily_micros: 7 } });
  assert.deepEqual(await list(), [[userId, 7, 50]]);
  await admin.ok('PATCH', path, { body: { daily_micros: null } });
  assert.deepEqual(await list(), [[userId, null, 50]]);
  for (const [wrong, fields, refusal] of [
    [path, { daily_micros: -1 }, '400 invalid_request daily_micros'],
    [path, { weekly_micros: 1 }, '400 invalid_request weekly_micros'],
    [
      `/accounts/${account}/members/${stranger.userId}/budget`,
      { daily_micros: 1 },
      '404 not_found -',
    ],
  ] as const)
    assert.equal(await admin.refused('PATCH', wrong, { body: fields }), refusal, wrong);
  assert.equal(await admin.refused('GET', '/accounts/acc_unknown/budgets'), '404 not_found -');
  await admin.ok('PATCH', path, { body: { monthly_micros: null } });
  assert.deepEqual(await list(), []);
});

test('prices: the account’s multiplier and those of models change together or not at all', async () => {
  const account = await admin.makeAccount();
  const path = `/accounts/${account}/prices`;
  const body = {
    price_multiplier_ppm: 2_000_000,
    model_prices: [{ model: 'gpt-6-luna', multiplier_ppm: 500_000 }],
  };
  assert.deepEqual(await admin.ok('PATCH', path, { body }), body);
  const wrong = {
    price_multiplier_ppm: 3_000_000,
    model_prices: [{ model: 'no-such-model', multiplier_ppm: 1 }],
  };
  assert.equal(
    await admin.refused('PATCH', path, { body: wrong }),
    '400 invalid_request model_prices[0].model',
  );
  assert.deepEqual(await admin.ok('GET', path), body);
  const priceOf = async (query: Readonly<Record<string, string>>) => {
    type Model = { id: string; price: { base: { input_micros: number } } };
    for (let place: Readonly<Record<string, string>> = {}; ;) {
      const page = await admin.ok<Page<Model>>('GET', '/models', {
        query: { ...query, ...place, limit: '100' },
      });
      const model = page.data.find(({ id }) => id === 'gpt-6-luna');
      if (model) return model.price.base.input_micros;
      place = { after: page.next_cursor! };
    }
  };
  assert.equal(await priceOf({ account }), (await priceOf({})) / 2);
  const cleared = { model_prices: [{ model: 'gpt-6-luna', multiplier_ppm: null }] };
  assert.deepEqual(await admin.ok('PATCH', path, { body: cleared }), {
    price_multiplier_ppm: 2_000_000,
    model_prices: [],
  });
});

test('users: invite, list, change roles, remove; the last owner stays', async () => {
  const owner = await signIn(gateway);
  const { userId } = await signIn(gateway, { account: owner.account, role: 'member' });
  const path = `/accounts/${owner.account}`;
  const invited = await admin.ok<{ id: string; link: string }>('POST', `${path}/invitations`, {
    body: { email: 'Guest@Example.com', role: 'member' },
  });
  assert.match(invited.link, /\/invitation\?token=/);
  const open = await admin.ok<Page<{ id: string; email: string; invited_by: null }>>(
    'GET',
    `${path}/invitations`,
  );
  assert.deepEqual(
    open.data.map(({ id, email, invited_by }) => [id, email, invited_by]),
    [[invited.id, 'guest@example.com', null]],
  );
  await admin.ok('DELETE', `${path}/invitations/${invited.id}`);
  assert.equal(
    await admin.refused('DELETE', `${path}/invitations/${invited.id}`),
    '404 not_found -',
  );
  await admin.ok('PATCH', `${path}/members/${userId}`, { body: { role: 'admin' } });
  const members = await admin.ok<Page<{ user_id: string; role: string }>>('GET', `${path}/members`);
  assert.deepEqual(
    members.data.map((member) => [member.user_id, member.role]),
    [
      [owner.userId, 'owner'],
      [userId, 'admin'],
    ],
  );
  assert.equal(await admin.refused('DELETE', `${path}/members/${owner.userId}`), '409 conflict -');
  await admin.ok('DELETE', `${path}/members/${userId}`);
  const users = await admin.ok<Page<{ id: string; accounts: readonly Named[] }>>('GET', '/users', {
    query: { search: owner.userId },
  });
  assert.deepEqual(
    users.data.map((user) => [user.id, user.accounts.map(({ id }) => id)]),
    [[owner.userId, [owner.account]]],
  );
});

testOn('sqlite', 'an admin key makes no reset link for an operator', async () => {
  const operator = await signIn(gateway, { operator: true });
  const count = async () => (await rowsOf(gateway.database, 'sign_in_links')).length;
  const countBefore = await count();
  assert.equal(
    await admin.refused('POST', `/users/${operator.userId}/reset-link`),
    '403 not_permitted -',
  );
  assert.equal(await count(), countBefore);
});

test('losses are reported and forgiven', async () => {
  const key = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  await gateway.provokeLoss(key, 1.5);
  type Loss = { account_id: string; provoked_loss_micros: number };
  const lossOf = async () => {
    const { data } = await admin.ok<Page<Loss>>('GET', '/reports/losses', {
      query: { limit: '100' },
    });
    return data.find(({ account_id }) => account_id === key.account)?.provoked_loss_micros;
  };
  assert.equal(await lossOf(), 1_500_000);
  const path = `/accounts/${key.account}/forgive-losses`;
  assert.equal(await admin.refused('POST', path), '400 invalid_request Idempotency-Key');
  const sent = { idempotencyKey: order() };
  assert.deepEqual(await admin.ok('POST', path, sent), { forgiven_loss_micros: 1_500_000 });
  assert.equal(await lossOf(), undefined);
  await gateway.provokeLoss(key, 0.5);
  assert.deepEqual(await admin.ok('POST', path, sent), { forgiven_loss_micros: 1_500_000 });
  assert.equal(await lossOf(), 500_000, 'a repeated request forgives no later loss');
  const unknown = '/accounts/acc_unknown/forgive-losses';
  assert.equal(await admin.refused('POST', unknown, sent), '422 idempotency_conflict -');
  const other = { idempotencyKey: order() };
  assert.equal(await admin.refused('POST', unknown, other), '404 not_found -');
});

test('rows that are added between two pages neither shift nor repeat any', async () => {
  const mark = `Paged ${order()}`;
  const make = (name: string) => admin.makeAccount(`${mark} ${name}`);
  const early = [await make('1'), await make('2'), await make('3')];
  const list = async (query: Readonly<Record<string, string>>) =>
    admin.ok<Page<Named>>('GET', '/accounts', { query: { search: mark, limit: '2', ...query } });
  const first = await list({});
  await make('4');
  const second = await list({ after: first.next_cursor! });
  const ids = [...first.data, ...second.data].map(({ id }) => id);
  assert.deepEqual(ids, early.toReversed());
  assert.deepEqual([first.has_more, second.has_more, second.next_cursor], [true, false, null]);
  for (const wrong of ['nonsense!', 'x', Buffer.from('a|b').toString('base64url')])
    assert.equal(
      await admin.refused('GET', '/accounts', { query: { after: wrong } }),
      '400 invalid_request after',
    );
});

test('the pages of every list join to the whole list', async () => {
  const { account } = await signIn(gateway);
  const firstDay = today();
  for (let made = 0; made < 3; made += 1) {
    const { userId } = await signIn(gateway, { account, role: 'member' });
    await admin.ok('PATCH', `/accounts/${account}/members/${userId}/budget`, {
      body: { daily_micros: 5 },
    });
    await gateway.makeKey({ account });
    const { key } = await gateway.makeKey({ account, mode: 'test' });
    await gateway.post('/v1/chat/completions', { key, body: chat });
    await admin.ok(...adjust(account));
    await admin.ok('POST', `/accounts/${account}/invitations`, {
      body: { email: `guest-${made}@example.com`, role: 'member' },
    });
    await gateway.provokeLoss(await gateway.makeKey({ mode: 'live' }), 1);
  }
  // Otherwise the keys are seen to be used while their pages are read.
  await gateway.program.app.gateway.observe.activity.flush();
  const lists: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ['/accounts', {}],
    ['/keys', { account }],
    ['/users', {}],
    [`/accounts/${account}/members`, {}],
    [`/accounts/${account}/budgets`, {}],
    [`/accounts/${account}/invitations`, {}],
    [`/accounts/${account}/usage`, { mode: 'test' }],
    [`/accounts/${account}/statement`, { mode: 'test' }],
    ['/reports/sums', { by: 'key', mode: 'test', from: firstDay, to: today() }],
    ['/reports/losses', {}],
    ['/audit-log', { account }],
  ];
  for (const [path, query] of lists) {
    const whole = await admin.ok<Page<object>>('GET', path, { query: { ...query, limit: '100' } });
    assert.ok(whole.data.length >= 3 && !whole.has_more, path);
    const joined: object[] = [];
    let place: string | null = '';
    while (place !== null) {
      const page: Page<object> = await admin.ok('GET', path, {
        query: { ...query, limit: '2', ...(place !== '' && { after: place }) },
      });
      assert.ok(page.data.length <= 2 && page.has_more === (page.next_cursor !== null));
      joined.push(...page.data);
      place = page.next_cursor;
    }
    assert.deepEqual(joined, whole.data, path);
  }
});

testOn('sqlite', 'a wrong field is named', async () => {
  const account = await admin.makeAccount();
  const wrong: readonly (readonly [string, string, object, string])[] = [
    ['POST', '/accounts', {}, 'name'],
    ['POST', '/accounts', { name: 'a', request_per_minute: 5 }, 'request_per_minute'],
    ['POST', '/accounts', { name: 'a', allowed_addresses: ['here'] }, 'allowed_addresses'],
    ['POST', '/accounts', { name: 'a\0' }, 'name'],
    ['PATCH', `/accounts/${account}`, { frozen: 'yes' }, 'frozen'],
    ['POST', `/accounts/${account}/keys`, { mode: 'both', name: 'a' }, 'mode'],
    ['POST', `/accounts/${account}/keys`, { mode: 'live', name: 'a', models: ['nope'] }, 'models'],
    [
      'POST',
      `/accounts/${account}/keys`,
      { mode: 'live', name: 'a', expires_at: '2020-01-01T00:00:00Z' },
      'expires_at',
    ],
    ['POST', `/accounts/${account}/adjustments`, { ...credit, amount_micros: -5 }, 'amount_micros'],
    ['POST', `/accounts/${account}/invitations`, { email: 'nobody', role: 'owner' }, 'email'],
    [
      'PATCH',
      `/accounts/${account}/prices`,
      { model_prices: [{ model: 'gpt-6-luna' }] },
      'model_prices[0].multiplier_ppm',
    ],
  ];
  for (const [method, path, body, param] of wrong)
    assert.equal(
      await admin.refused(method, path, { body, idempotencyKey: order() }),
      `400 invalid_request ${param}`,
    );
  const queries: readonly (readonly [string, Readonly<Record<string, string>>, string])[] = [
    ['/accounts', { limit: '101' }, 'limit'],
    ['/accounts', { limit: 'ten' }, 'limit'],
    ['/accounts', { frozen: 'maybe' }, 'frozen'],
    ['/accounts', { cursor: 'x' }, 'cursor'],
    [`/accounts/${account}`, { mode: 'live' }, 'mode'],
    [`/accounts/${account}/usage`, { from: 'monday' }, 'from'],
    [`/accounts/${account}/usage`, { from: '2026-02-02', to: '2026-02-01' }, 'from'],
    ['/reports/sums', { by: 'day', from: '2026-01-01' }, 'to'],
    ['/reports/sums', { by: 'day', from: '2026-01-01', to: '2028-01-01' }, 'to'],
  ];
  for (const [path, query, param] of queries)
    assert.equal(await admin.refused('GET', path, { query }), `400 invalid_request ${param}`);
  assert.equal(await admin.refused('GET', '/accounts/acc_unknown'), '404 not_found -');
  for (const path of ['usage', 'statement', 'members', 'invitations', 'prices'])
    assert.equal(await admin.refused('GET', `/accounts/acc_unknown/${path}`), '404 not_found -');
  assert.equal(await admin.refused(...adjust('acc_unknown')), '404 not_found -');
});

test('a credit whose note holds half of a surrogate pair is refused, not booked', async () => {
  const account = await admin.makeAccount();
  const body = { ...credit, mode: 'live', note: '🙂'.slice(0, 1) };
  assert.equal(await admin.refused(...adjust(account, body)), '400 invalid_request note');
  assert.equal((await gateway.balance(account)).postedMicros, 0);
  assert.equal(
    await admin.refused('PATCH', `/accounts/${account}`, { body: { name: '\udc00' } }),
    '400 invalid_request name',
  );
  const operator = await signIn(gateway, { operator: true });
  const reply = await operator.post(`/operator/accounts/${account}/adjustments`, {
    ...body,
    request_id: order(),
  });
  assert.equal(
    `${reply.status} ${reply.error.code} ${reply.error.param}`,
    '400 invalid_request note',
  );
  assert.equal((await gateway.balance(account)).postedMicros, 0);
});

test('a credit beyond the largest balance is refused in all three ways in, and its key stays free', async () => {
  const account = await admin.makeAccount();
  const largest = { ...credit, mode: 'live', amount_micros: 1_000_000_000_000_000 };
  for (let booked = 0; booked < 9; booked += 1) await admin.ok(...adjust(account, largest));

  const tenth = adjust(account, largest);
  assert.equal(await admin.refused(...tenth), '409 conflict amount_micros');
  const operator = await signIn(gateway, { operator: true });
  const request = { ...largest, request_id: order() };
  const refused = await operator.post(`/operator/accounts/${account}/adjustments`, request);
  const { code, param, message } = refused.error;
  assert.deepEqual([refused.status, code, param], [409, 'conflict', 'amount_micros']);
  assert.match(
    message,
    /^This credit would take the balance beyond \$9000000000\.00\. Nothing was booked\. At most \$0\.00 can be credited now; for more, debit the account first\.$/,
  );
  await assert.rejects(
    gateway.program.cli('accounts', 'credit', account, '--usd', '1'),
    /would take the balance beyond \$9000000000\.00/,
  );
  assert.equal((await gateway.balance(account)).postedMicros, 9_000_000_000_000_000);
  const kept = await rowsOf(gateway.database, 'admin_answers');
  assert.ok(kept.every(({ body }) => body !== null));

  const room = { ...largest, kind: 'debit' };
  await admin.ok(...adjust(account, room));
  await admin.ok(...tenth);
  assert.equal((await gateway.balance(account)).postedMicros, 9_000_000_000_000_000);
});

test('an empty filter does not show everything, and no name of Object.prototype is a parameter', async () => {
  await admin.makeAccount();
  for (const path of ['/keys', '/audit-log'])
    assert.deepEqual(
      (await admin.ok<Page<Named>>('GET', path, { query: { account: '' } })).data,
      [],
      path,
    );
  const day = { by: 'day', from: '2020-01-01', to: '2020-01-02' };
  const queries: readonly (readonly [string, Readonly<Record<string, string>>, string])[] = [
    ['/accounts', { after: '' }, 'after'],
    ['/accounts', { limit: '' }, 'limit'],
    ['/accounts', { frozen: '' }, 'frozen'],
    ['/reports/sums', { ...day, mode: '' }, 'mode'],
    ['/accounts', { toString: '1' }, 'toString'],
    ['/accounts', { constructor: '1' }, 'constructor'],
  ];
  for (const [path, query, param] of queries)
    assert.equal(await admin.refused('GET', path, { query }), `400 invalid_request ${param}`);
});

testOn('sqlite', 'an error is a problem (RFC 9457) that names its page', async () => {
  const reply = await admin.send('GET', '/accounts/acc_unknown');
  assert.equal(reply.headers['content-type'], 'application/problem+json; charset=utf-8');
  assert.partialDeepStrictEqual(reply.json(), {
    type: '/docs/errors#not_found',
    status: 404,
    detail: 'There is no such account. Look it up in the list.',
    code: 'not_found',
    request_id: reply.requestId,
  });
  const unknown = await gateway.get('/admin/v1/nothing', { key: admin.key });
  assert.equal(unknown.error.code, 'not_found');
});

testOn('sqlite', 'scripts of web pages cannot read the admin API', async () => {
  const headers = { origin: 'https://shop.example' };
  const admins = await admin.send('GET', '/accounts', { headers });
  const models = await gateway.get('/v1/models', { headers });
  assert.equal(models.headers['access-control-allow-origin'], '*');
  assert.equal(admins.headers['access-control-allow-origin'], undefined);
});

testOn('sqlite', 'an admin key is no API key', async () => {
  const reply = await gateway.post('/v1/chat/completions', { key: admin.key, body: chat });
  assert.equal(reply.status, 401);
  assert.match(reply.error.message, /admin key/);
});

testOn('sqlite', 'a revoked or expired admin key stops, as one for other addresses', async () => {
  const key = await adminOf(gateway);
  await key.ok('GET', '/accounts');
  const operator = await signIn(gateway, { operator: true });
  await ok(operator.post(`/operator/admin-keys/${key.id}/revoke`));
  assert.equal(await key.refused('GET', '/accounts'), '401 invalid_api_key -');
  const expired = await adminOf(gateway, { expiresAtMs: gateway.program.clock.nowMs() - 1 });
  assert.equal(await expired.refused('GET', '/accounts'), '401 invalid_api_key -');
  const bound = await adminOf(gateway, { allowedAddresses: ['192.0.2.0/24'] });
  assert.equal(await bound.refused('GET', '/accounts'), '403 address_not_allowed -');
  await bound.ok('GET', '/accounts', { headers: { 'x-forwarded-for': '192.0.2.9' } });
});

test('operators create admin keys in the dashboard; the key is shown once and never stored', async () => {
  const operator = await signIn(gateway, { operator: true });
  const { key, secret } = await jsonOf<{ key: { id: string; hint: string }; secret: string }>(
    operator.post('/operator/admin-keys', {
      name: 'Shop',
      scopes: ['accounts:read'],
      allowed_addresses: ['127.0.0.1'],
      expires_at: '2099-01-01T00:00:00Z',
    }),
  );
  assert.match(secret, /^tg_admin_/);
  const list = (await operator.get('/operator/admin-keys')).json<{ data: readonly Named[] }>();
  assert.deepEqual(
    list.data.find(({ id }) => id === key.id),
    key,
  );
  const rows = [...(await allRows(gateway.database)).values()].join('\n');
  assert.ok(!rows.includes(secret) && rows.includes(key.hint));
  await ok(send(`${gateway.url}/admin/v1/accounts`, { key: secret }));
  assert.equal(
    (await operator.post('/operator/admin-keys', { name: 'x', scopes: ['everything'] })).status,
    400,
  );
  const installation: { readonly output?: string } = gateway.program;
  assert.ok(!installation.output?.includes(secret));
  assert.ok(installation.output?.includes(key.id), 'the log names the key by its id');
});

testOn('sqlite', 'admin keys are created, listed and revoked by command line', async () => {
  const { program } = gateway;
  const made = await program.cli<{ id: string; key: string }>(
    'admin-keys',
    'create',
    '--name=Shop',
    '--scopes=accounts:read,prices:read',
    '--expires=2099-01-01',
    '--allow=127.0.0.1',
  );
  const ask = async () =>
    (await send(`${gateway.url}/admin/v1/accounts`, { key: made.key })).status;
  assert.equal(await ask(), 200);
  const listed = await program.cli<readonly Named[]>('admin-keys', 'list');
  assert.ok(!JSON.stringify(listed).includes(made.key));
  const key = listed.find(({ id }) => id === made.id);
  const { hint: _hint, created_at: _created, ...shown } = key as Named & Record<string, unknown>;
  assert.deepEqual(shown, {
    id: made.id,
    name: 'Shop',
    scopes: ['accounts:read', 'prices:read'],
    allowed_addresses: ['127.0.0.1'],
    expires_at: '2099-01-01T00:00:00.000Z',
    revoked_at: null,
  });
  await program.cli('admin-keys', 'revoke', made.id);
  assert.equal(await ask(), 401);
  await assert.rejects(
    program.cli('admin-keys', 'create', '--name', 'x', '--scopes', 'everything'),
  );
  await assert.rejects(program.cli('admin-keys', 'revoke', 'adk_unknown'));
});

testOn('sqlite', 'wrong admin keys and API keys count against one limit', async () => {
  const strict = await startGateway({ limits: { failed_keys_per_minute: 4 } });
  try {
    const good = await adminOf(strict);
    await good.ok('GET', '/accounts');
    const { key } = await strict.makeAdminKey();
    const wrong = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
    const paths = ['/admin/v1/accounts', '/v1/balance'];
    const statuses: number[] = [];
    for (const path of [...paths, ...paths, ...paths])
      statuses.push((await strict.get(path, { key: wrong })).status);
    assert.deepEqual(statuses, [401, 401, 401, 401, 429, 429]);
    assert.equal((await good.send('GET', '/accounts')).status, 200, 'a key that was seen works');
  } finally {
    await strict.stop();
  }
});
