// The operator's area: accounts and money, all keys, unassigned payments, state of the service.
import assert from 'node:assert/strict';
import { after, before, test } from '../support/both-stores.ts';
import { answerContent } from '../support/answers.ts';
import {
  type DashboardClient,
  signIn,
  statusesOf,
  tokenOf,
  visitor,
} from '../support/dashboard.ts';
import { hooksOfFile } from '../support/file-hooks.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { jsonOf, ok } from '../support/http.ts';
import { startStripe, type LocalStripe } from '../support/stripe.ts';
import { until } from '../support/until.ts';
import { columnOf } from '../support/column-of.ts';

const hooks = hooksOfFile();
let stripe: LocalStripe;
let gateway: TestGateway;
let operator: DashboardClient;

before(async () => {
  stripe = await startStripe(hooks);
  gateway = await startGateway(
    {
      stripe: stripe.config,
      metrics: { token: 'a-token-that-nobody-sees' },
      models: {
        'priced-model': {
          routes: [{ provider: 'local', model: 'up' }],
          max_input_tokens: 10_000,
          max_output_tokens: 1_000,
          prices: { input: 1, output: 10 },
          retires_at: '2026-12-01',
          successor: 'gpt-6-luna',
        },
        'unpriced-model': {
          routes: [{ provider: 'nowhere', model: 'up' }],
          max_input_tokens: 10_000,
          max_output_tokens: 1_000,
        },
      },
      providers: {
        nowhere: {
          kind: 'openai',
          base_url: 'http://127.0.0.1:1/v1',
          api_key: 'sk-nowhere',
          enabled: false,
        },
      },
    },
    { tuning: stripe.tuning },
  );
  stripe.sendTo(gateway.url);
  operator = await signIn(gateway, { operator: true, role: null });
});
after(() => gateway.stop());

let requests = 0;
const requestId = () => `request-${(requests += 1)}`;

type Change = { readonly action: string; readonly before: unknown; readonly after: unknown };
async function auditOf(subject: string): Promise<readonly Change[]> {
  const path = `/operator/audit-log?subject=${subject}`;
  return (await jsonOf<{ data: Change[] }>(operator.get(path))).data;
}

const models = {
  model: 'priced-model',
  max_tokens: 50,
  messages: [{ role: 'user', content: 'Hi' }],
};

test('accounts are found by part of their name or by id, in pages', async () => {
  for (const name of ['Acme One', 'Acme Two', 'ACME three_%', 'Other', 'Київ Öl']) {
    await ok(operator.post('/operator/accounts', { request_id: requestId(), name }));
  }
  type List = { data: { id: string; name: string }[]; next_cursor: string | null };
  const find = (query: string) => jsonOf<List>(operator.get(`/operator/accounts?${query}`));
  const first = await find('search=acme&limit=2');
  assert.deepEqual(columnOf(first.data, 'name'), ['ACME three_%', 'Acme Two']);
  const second = await find(`search=acme&limit=2&cursor=${encodeURIComponent(first.next_cursor!)}`);
  assert.deepEqual([second.data.map(({ name }) => name), second.next_cursor], [['Acme One'], null]);
  assert.deepEqual(columnOf((await find('search=e_%25')).data, 'name'), ['ACME three_%']);
  assert.deepEqual(columnOf((await find(`search=${first.data[0]!.id}`)).data, 'name'), [
    'ACME three_%',
  ]);
  const otherCase = encodeURIComponent('КИЇВ ö');
  assert.deepEqual(columnOf((await find(`search=${otherCase}`)).data, 'name'), ['Київ Öl']);
  assert.equal((await operator.get('/operator/accounts?cursor=nonsense')).status, 400);
});

test('a repeated request creates one account', async () => {
  const body = { request_id: requestId(), name: 'Twice', price_multiplier_ppm: 900_000 };
  const [one, other] = await Promise.all([
    operator.post('/operator/accounts', body),
    operator.post('/operator/accounts', body),
  ]);
  assert.equal(one.text, other.text);
  const { id } = one.json<{ id: string }>();
  assert.deepEqual(columnOf(await auditOf(id), 'action'), ['account.create']);
  const detail = await jsonOf(operator.get(`/operator/accounts/${id}`));
  assert.equal(detail['price_multiplier_ppm'], 900_000);
  const another = await operator.post('/operator/accounts', { ...body, name: 'Another' });
  assert.equal(another.status, 409);
});

test('a repeated credit or debit is booked and audited once, and returns the balance', async () => {
  const { account } = await gateway.makeKey();
  const path = `/operator/accounts/${account}/adjustments`;
  const paid = { mode: 'live', amount_micros: 12_345_678, note: 'bank transfer 7' };
  const credit = { request_id: requestId(), kind: 'credit', ...paid };
  const replies = await Promise.all([1, 2, 3].map(() => operator.post(path, credit)));
  assert.deepEqual(
    replies.map(({ status, text }) => [status, text]),
    replies.map(() => [200, replies[0]!.text]),
  );
  assert.equal(replies[0]!.json()['available_micros'], 12_345_678);
  const taken = { mode: 'live', amount_micros: 20_000_000, note: 'taken back' };
  const debit = { request_id: requestId(), kind: 'debit', ...taken };
  assert.equal((await operator.post(path, debit)).json()['available_micros'], -7_654_322);
  assert.equal((await gateway.balance(account)).postedMicros, -7_654_322);
  const entry = (id: string) => ({ entry_id: `adjust:${account}:live:${id}` });
  assert.deepEqual((await auditOf(account)).map((note) => [note.action, note.after]).toReversed(), [
    ['account.credit', { ...paid, ...entry(credit.request_id) }],
    ['account.debit', { ...taken, ...entry(debit.request_id) }],
  ]);
});

test('an adjustment with a request id of another one is refused', async () => {
  const { account } = await gateway.makeKey();
  const path = `/operator/accounts/${account}/adjustments`;
  const paid = { mode: 'live', amount_micros: 5, note: 'first' };
  const credit = { request_id: requestId(), kind: 'credit', ...paid };
  await ok(operator.post(path, credit));
  for (const other of [{ amount_micros: 6 }, { note: 'second' }, { kind: 'debit' }]) {
    assert.equal((await operator.post(path, { ...credit, ...other })).error.code, 'conflict');
  }
  const elsewhere = await gateway.makeKey();
  // Ids are of an account.
  await ok(operator.post(`/operator/accounts/${elsewhere.account}/adjustments`, credit));
  assert.equal((await gateway.balance(elsewhere.account)).postedMicros, 5);
  const nowhere = await operator.post('/operator/accounts/acc_none/adjustments', credit);
  assert.equal(nowhere.status, 404);
  for (const wrong of [{ note: '' }, { request_id: 'short' }]) {
    const reply = await operator.post(path, { ...credit, ...wrong });
    assert.deepEqual([reply.status, reply.error.param], [400, Object.keys(wrong)[0]]);
  }
});

test('a frozen account cannot spend until it is unfrozen', async () => {
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
  const freeze = async (frozen: boolean) => {
    const reply = await operator.patch(`/operator/accounts/${account}`, { frozen });
    assert.deepEqual([reply.status, reply.json()['frozen']], [200, frozen]);
    // The ledger refuses at once; the gateway follows within about a second.
  };
  gateway.upstream.on(
    '/local/v1/chat/completions',
    answerContent('chat', { text: 'Hello', tokens: { input: 30, output: 5 } }),
  );
  await freeze(true);
  assert.equal(
    (await gateway.post('/v1/chat/completions', { key, body: models })).error.code,
    'account_frozen',
  );
  await freeze(true);
  await freeze(false);
  await until(
    async () => (await gateway.post('/v1/chat/completions', { key, body: models })).status === 200,
  );
  assert.deepEqual(
    (await auditOf(account)).map(({ before: was, after: is }) => [was, is]).toReversed(),
    [
      [{ frozen: false }, { frozen: true }],
      [{ frozen: true }, { frozen: false }],
    ],
  );
});

test("an account's prices and limits can be changed, also for one model, and invalid values are refused", async () => {
  const { account } = await gateway.makeKey();
  const path = `/operator/accounts/${account}`;
  const changes = {
    price_multiplier_ppm: 1_250_000,
    requests_per_minute: 100,
    tokens_per_minute: null,
    allowed_addresses: ['10.0.0.0/8'],
  };
  assert.partialDeepStrictEqual(await jsonOf(operator.patch(path, changes)), changes);
  const price = (model: string, multiplier_ppm: number | null) =>
    operator.patch(`${path}/prices`, { model_prices: [{ model, multiplier_ppm }] });
  assert.deepEqual((await price('priced-model', 500_000)).json()['model_prices'], [
    { model: 'priced-model', multiplier_ppm: 500_000 },
  ]);
  assert.deepEqual((await price('priced-model', null)).json()['model_prices'], []);
  assert.equal((await price('no-such-model', 500_000)).error.param, 'model_prices[0].model');
  for (const wrong of [{ allowed_addresses: ['nowhere'] }, { price_multiplier_ppm: -1 }])
    assert.equal((await operator.patch(path, wrong)).error.param, Object.keys(wrong)[0]);
  assert.equal((await operator.patch('/operator/accounts/acc_none', { frozen: true })).status, 404);
  assert.equal((await operator.get('/operator/accounts/acc_none')).status, 404);
});

test('keys of all accounts are listed with their account', async () => {
  const made = await gateway.makeKey({ name: 'found by operators' });
  type List = { data: { id: string; account_id: string; account_name: string; state: string }[] };
  const find = async (query: string) =>
    (await jsonOf<List>(operator.get(`/operator/keys?${query}`))).data;
  const [key] = await find('search=BY%20operators');
  assert.deepEqual(
    [key!.id, key!.account_id, key!.account_name, key!.state],
    [made.id, made.account, 'Test', 'active'],
  );
  assert.equal((await find(`account=${made.account}`)).length, 1);
});

test('a payment without a top-up waits until an operator assigns or dismisses it', async () => {
  const fields = {
    'line_items[0][price_data][unit_amount]': '700',
    'line_items[0][price_data][currency]': 'usd',
  };
  const [one, other] = ['a', 'b'].map((key) => stripe.paymentOf(stripe.open(fields, key).url));
  for (const payment of [one!, other!]) await ok(stripe.deliver(stripe.completed(payment)));
  const undecided = async () => {
    const list = await jsonOf<{ data: object[] }>(operator.get('/operator/payments?waiting=true'));
    return list.data.length;
  };
  assert.equal(await undecided(), 2);

  const { account } = await gateway.makeKey();
  const assign = { account, note: 'paid by a link that we sent' };
  const replies = await Promise.all(
    [1, 2].map(() => operator.post(`/operator/payments/${one!.intent}/decision`, assign)),
  );
  assert.deepEqual(statusesOf(replies), [200, 409]);
  assert.equal((await gateway.balance(account)).postedMicros, 7_000_000);
  const nowhere = await operator.post(`/operator/payments/${other!.intent}/decision`, {
    ...assign,
    account: 'acc_none',
  });
  assert.equal(nowhere.error.param, 'account');
  await ok(
    operator.post(`/operator/payments/${other!.intent}/decision`, {
      account: null,
      note: 'another shop’s',
    }),
  );
  assert.equal(await undecided(), 0);
  assert.deepEqual((await auditOf(one!.intent)).map(({ action }) => action).toSorted(), [
    'payment.assign',
    'payment.receive',
  ]);
});

test('users are listed with their accounts; links reset a password and invite a first owner', async () => {
  const user = await signIn(gateway, { email: 'someone.special@example.com', role: 'admin' });
  type User = { id: string; accounts: { id: string; role: string }[] };
  const find = (query: string) =>
    jsonOf<{ data: User[]; next_cursor: string }>(operator.get(`/operator/users?${query}`));
  const found = await find('search=SPECIAL@');
  assert.deepEqual(
    found.data.map(({ id, accounts }) => [id, accounts[0]!.id, accounts[0]!.role]),
    [[user.userId, user.account, 'admin']],
  );
  const first = await find('limit=1');
  assert.notDeepEqual((await find(`limit=1&cursor=${first.next_cursor}`)).data, first.data);

  const made = await operator.post(`/operator/users/${user.userId}/reset-link`);
  const token = tokenOf(made.json());
  const nobody = visitor(gateway);
  await ok(
    nobody.post('/auth/password-reset/complete', { token, password: 'a new long password' }),
  );
  assert.equal((await operator.post('/operator/users/usr_none/reset-link')).status, 404);

  const { id } = await jsonOf<{ id: string }>(
    operator.post('/operator/accounts', { request_id: requestId(), name: 'New' }),
  );
  const invited = await operator.post(`/operator/accounts/${id}/invitations`, {
    email: 'first.owner@example.com',
    role: 'owner',
  });
  const invitation = tokenOf(invited.json());
  const accepted = { token: invitation, name: 'First Owner', password: 'another long password' };
  await ok(nobody.post('/auth/invitation/accept', accepted));
  const members = await jsonOf(operator.get(`/operator/accounts/${id}/members`));
  assert.partialDeepStrictEqual(members['data'], [
    { email: 'first.owner@example.com', role: 'owner' },
  ]);
  assert.equal((members['data'] as unknown[]).length, 1);
  assert.doesNotMatch(JSON.stringify(await auditOf(user.userId)), new RegExp(token));
});

test('an operator sees the open invitations of an account and withdraws one', async () => {
  const owner = await signIn(gateway, { name: 'Olga' });
  const { account } = owner;
  const path = `/operator/accounts/${account}/invitations`;
  const list = async () => (await operator.get(path)).json<{ data: { id: string }[] }>().data;
  assert.deepEqual(await list(), []);
  const byOwner = { email: 'by.owner@example.com', role: 'member' };
  await ok(owner.post(`/accounts/${account}/invitations`, byOwner));
  const byOperator = { email: 'by.operator@example.com', role: 'owner' };
  await ok(operator.post(path, byOperator));
  const open = await list();
  assert.deepEqual(open, (await owner.get(`/accounts/${account}/invitations`)).json()['data']);
  const emails = ['by.operator@example.com', 'by.owner@example.com'];
  const [second, first] = emails.map((email) =>
    open.find((row) => 'email' in row && row.email === email)!,
  );
  assert.partialDeepStrictEqual(first, { ...byOwner, invited_by: 'Olga' });

  const other = await signIn(gateway);
  const elsewhere = `/operator/accounts/${other.account}/invitations/${second!.id}`;
  assert.equal((await operator.delete(elsewhere)).status, 404);
  await ok(operator.delete(`${path}/${second!.id}`));
  assert.equal((await operator.delete(`${path}/${second!.id}`)).status, 404);
  assert.partialDeepStrictEqual(await auditOf(second!.id), [
    { action: 'invitation.withdraw', before: byOperator, after: null },
    { action: 'invitation.create', before: null, after: byOperator },
  ]);
});

test('providers are shown with their health and without their secrets', async () => {
  const reply = await operator.get('/operator/providers');
  type Provider = { name: string; is_on: boolean; routes: { calls: number }[] };
  const { data } = reply.json<{ data: Provider[] }>();
  const find = (name: string) => data.find((provider) => provider.name === name)!;
  assert.equal(find('local').is_on, true);
  assert.ok(find('local').routes[0]!.calls >= 1);
  const nowhere = { is_on: false, base_url: 'http://127.0.0.1:1/v1', models: 1 };
  assert.partialDeepStrictEqual(find('nowhere'), nowhere);
  assert.doesNotMatch(reply.text, /sk-/);
});

test('the catalogue lists all models with their routes and marks those without a price or route', async () => {
  type Model = { id: string; type: string; problems: string[]; routes: object[] };
  const { data } = await jsonOf<{ data: Model[] }>(operator.get('/operator/catalogue'));
  const shown = (name: string) => {
    const { problems, routes } = data.find(({ id }) => id === name)!;
    return { problems, routes };
  };
  assert.deepEqual(shown('unpriced-model'), {
    problems: ['no-price', 'no-route'],
    routes: [{ provider: 'nowhere', models: ['up'], is_on: false }],
  });
  assert.deepEqual(shown('priced-model'), {
    problems: [],
    routes: [{ provider: 'local', models: ['up'], is_on: true }],
  });
  assert.ok(data.some(({ type, problems }) => type === 'image' && problems.includes('no-route')));
  assert.partialDeepStrictEqual(
    data.find(({ id }) => id === 'priced-model'),
    { retires_at: '2026-12-01T00:00:00.000Z', successor: 'gpt-6-luna' },
  );
});

test('the configuration is shown without its secrets', async () => {
  const reply = await operator.get('/operator/settings');
  const { settings } = reply.json<{ settings: { path: string }[] }>();
  assert.doesNotMatch(
    reply.text,
    /a-token-that-nobody-sees|sk_test_local|whsec_of|postgres-password/,
  );
  const token = settings.find(({ path }) => path === 'metrics.token')!;
  assert.partialDeepStrictEqual(token, { is_secret: true, is_set: true, value: null });
});
