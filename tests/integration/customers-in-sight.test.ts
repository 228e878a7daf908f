// What operators see of customers' accounts: their requests, errors, analytics and keys, read-only,
// and recorded where it is the customers' own.
import assert from 'node:assert/strict';
import { openTopUp, setCheckout } from '../../src/domain/billing/top-ups.ts';
import type { RequestDetail } from '../../src/management/contract/requests.ts';
import { microsFromUsd } from '../../src/lib/money.ts';
import { adminOf } from '../support/admin.ts';
import { answerContent } from '../support/answers.ts';
import { after, before, test } from '../support/both-stores.ts';
import { columnOf } from '../support/column-of.ts';
import { signIn, visitor, type DashboardClient } from '../support/dashboard.ts';
import { endpoint } from '../support/endpoints.ts';
import { hooksOfFile } from '../support/file-hooks.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { jsonOf, ok } from '../support/http.ts';
import { modelOf } from '../support/model-of.ts';
import { rowsOf } from '../support/rows.ts';
import { startRunningApp, type RunningApp } from '../support/running-app.ts';
import { startStripe, type LocalStripe } from '../support/stripe.ts';
import { TestClock } from '../support/test-clock.ts';

const chat = endpoint('chat');
const dayMs = 86_400_000;
const hooks = hooksOfFile();

let clock: TestClock;
let stripe: LocalStripe;
let gateway: TestGateway<RunningApp>;
let operator: DashboardClient;

before(async () => {
  clock = new TestClock();
  stripe = await startStripe(hooks);
  gateway = await startGateway(
    {
      stripe: stripe.config,
      bodies: { days_max: 5 },
      models: {
        priced: modelOf([{ provider: 'local', model: 'up' }], {
          prices: { input: 1000, output: 1000 },
        }),
      },
    },
    { clock, tuning: stripe.tuning },
  );
  stripe.sendTo(gateway.url);
  const hello = { text: 'Hello', tokens: { input: 30, output: 5 } };
  gateway.upstream.on('/local/v1/chat/completions', answerContent('chat', hello));
  operator = await signIn(gateway, { operator: true, role: null });
});
after(() => gateway.stop());

async function customer(creditUsd = 1) {
  const owner = await signIn(gateway, { name: 'Ada' });
  const { account } = owner;
  const made = await gateway.makeKey({ account, mode: 'live', creditUsd, bodyDays: 2 });
  return { owner, ...made };
}

const ask = (key: string, model = 'priced') =>
  gateway.post(chat.path, {
    key,
    body: { model, max_tokens: 20, messages: [{ role: 'user', content: 'a secret plan' }] },
  });

const settle = async () => {
  await gateway.program.app.gateway.observe.bodies.flush();
  await gateway.program.app.gateway.observe.activity.flush();
};

const compare = (one: string, other: string) => (one < other ? -1 : 1);
const today = () => new Date(clock.nowMs()).toISOString().slice(0, 10);
const readings = async (account: string) =>
  (await rowsOf(gateway.database, 'audit_log', { account_id: account }))
    .filter(({ action }) => action.startsWith('account.read-'))
    .map(({ action, subject, actor_id }) => ({ action, subject, actor_id }))
    .toSorted((one, other) => compare(other.action, one.action));

test('an operator reads what a customer sees, and each of a customer’s own views agrees', async () => {
  const { owner, account, key, id } = await customer();
  const good = await ok(ask(key));
  const bad = await ask(key, 'no-such-model');
  assert.equal(bad.status, 404);
  await settle();
  const days = `mode=live&from=${today()}&to=${today()}`;
  for (const path of [
    '/requests?mode=live',
    '/requests?mode=live&outcome=failed',
    `/requests/totals?${days}`,
    `/requests/${good.requestId}`,
    `/requests/${bad.requestId}`,
    `/analytics?${days}&by=key`,
    `/analytics/days?${days}`,
    `/analytics/hours?${days}`,
    `/prompt-cache?${days}&by=model`,
    '/keys?mode=live',
    `/keys/${id}`,
    '/key-defaults',
    '/models',
  ]) {
    const seen = await ok(operator.get(`/operator/accounts/${account}${path}`));
    const own = await ok(owner.get(`/accounts/${account}${path}`));
    assert.deepEqual(seen.json(), own.json(), path);
  }
  const csv = await ok(operator.get(`/operator/accounts/${account}/usage.csv?mode=live`));
  assert.match(csv.text, new RegExp(good.requestId));
});

test('reading requests is recorded once a day, each look at kept bodies by itself, before the answer', async () => {
  const { owner, account, key } = await customer();
  const { requestId } = await ok(ask(key));
  await settle();
  const path = `/operator/accounts/${account}/requests`;
  const by = { actor_id: operator.userId };
  const daily = { action: 'account.read-requests', subject: account, ...by };
  await Promise.all([
    ok(operator.get(`${path}?mode=live`)),
    ok(operator.get(`${path}?mode=test`)),
    ok(operator.get(`${path}/${requestId}`)),
  ]);
  assert.deepEqual(await readings(account), [daily]);
  const read = () =>
    jsonOf<{ kept: { request: { text: string } } }>(operator.get(`${path}/${requestId}/bodies`));
  assert.match((await read()).kept.request.text, /a secret plan/);
  await read();
  const each = { action: 'account.read-bodies', subject: requestId, ...by };
  assert.deepEqual(await readings(account), [daily, each, each]);
  // Owners see that it was the operator, not who works there. Their own reading is no news.
  await ok(owner.get(`/accounts/${account}/requests/${requestId}/bodies`));
  type Read = { action: string; actor: { id: string; name: string } };
  const { data } = await jsonOf<{ data: Read[] }>(
    owner.get(`/accounts/${account}/audit-log?action=account.read-`),
  );
  assert.deepEqual(
    data.map(({ action, actor }) => `${action} ${actor.id} ${actor.name}`).toSorted(compare),
    [each, each, daily].map(({ action }) => `${action}  The operator`),
  );
  clock.jumpTo(clock.nowMs() + dayMs);
  await ok(operator.get(`${path}?mode=live`));
  assert.equal((await readings(account)).length, 4);
});

test('an account that does not exist is a 404 and leaves no row', async () => {
  for (const path of ['requests?mode=live', 'requests/req_1/bodies', 'keys?mode=live']) {
    const reply = await operator.get(`/operator/accounts/acc_none/${path}`);
    assert.equal(reply.status, 404, reply.text);
  }
  assert.deepEqual(await readings('acc_none'), []);
});

test('an admin key with reports:read finds requests, but no bodies', async () => {
  const { account, key } = await customer();
  const { requestId } = await ok(ask(key));
  await settle();
  const program = await adminOf(gateway, { scopes: ['reports:read'] });
  const path = `/accounts/${account}/requests`;
  const { data } = await program.ok<{ data: { request_id: string }[] }>('GET', path, {
    query: { mode: 'live' },
  });
  assert.deepEqual(columnOf(data, 'request_id'), [requestId]);
  await program.ok('GET', `${path}/${requestId}`);
  const bodies = await program.send('GET', `${path}/${requestId}/bodies`);
  assert.equal(bodies.status, 404);
});

type Found = { requests: { id: string; account: { id: string; name: string } }[] };
const search = async (text: string, by = operator) =>
  (await by.get(`/operator/search?${new URLSearchParams({ q: text }).toString()}`)).json<Found>();

test('the search finds a request of any account, charged or failed', async () => {
  const { account, key } = await customer();
  const good = await ok(ask(key));
  const bad = await ask(key, 'no-such-model');
  await settle();
  for (const { requestId } of [good, bad]) {
    const [found] = (await search(`X-Request-Id: ${requestId}`)).requests;
    assert.equal(found!.id, requestId);
    assert.equal(found!.account.id, account);
  }
  assert.deepEqual((await search('req_00000000000000000000000000')).requests, []);
  assert.deepEqual((await search(account)).requests, []);
});

test('a request is shown on the command line, with what it cost or why it failed', async () => {
  const { account, key } = await customer();
  const good = await ok(ask(key));
  const bad = await ask(key, 'no-such-model');
  const cached = { model: 'priced', max_tokens: 20, messages: [], temperature: 0 };
  const headers = { 'x-service-tags': 'team=red' };
  const body = { ...cached, messages: [{ role: 'user', content: 'Twice' }] };
  await ok(gateway.post('/v1/chat/completions', { key, body, headers }));
  const again = (await ok(gateway.post('/v1/chat/completions', { key, body, headers }))).requestId;
  await settle();
  const charged = await gateway.program.cli('requests', 'show', good.requestId);
  assert.deepEqual(
    [charged['account'], charged['outcome'], charged['charged_micros'], charged['provider']],
    [{ id: account, name: 'Test' }, 'complete', good.costMicros, 'local'],
  );
  const failed = await gateway.program.cli('requests', 'show', bad.requestId);
  assert.deepEqual([failed['error'], failed['charged_micros']], ['model_not_found', 0]);
  for (const shown of [charged, failed, await gateway.program.cli('requests', 'show', again)]) {
    const id = String(shown['request_id']);
    const seen = await jsonOf<RequestDetail>(
      operator.get(`/operator/accounts/${account}/requests/${id}`),
    );
    assert.deepEqual({ ...shown, ...factsOf(seen) }, shown, 'the dashboard shows the same facts');
  }
  await assert.rejects(gateway.program.cli('requests', 'show', 'req_none'), /no request req_none/);
});

/** The facts of the dashboard's drawer, by the command's names. */
function factsOf({ charge, error, history, code, cost_micros: cost, ...seen }: RequestDetail) {
  const { status: _, ...record } = seen;
  return {
    ...record,
    ...history,
    model: seen.model?.id ?? null,
    error: code,
    message: error?.message ?? null,
    param: error?.param ?? null,
    charged_micros: cost,
    loss_micros: charge?.loss_micros ?? 0,
    hold_micros: charge?.hold_micros ?? null,
    provider: charge?.provider ?? null,
    attempts: charge?.attempts ?? null,
    tokens: charge?.tokens ?? null,
    price_version: charge?.price_version ?? null,
    cache_miss: charge?.cache_miss ?? null,
  };
}

type Sum = 'revenue_micros' | 'cost_micros' | 'margin_micros';

test('accounts are listed with owner, last use and what the last 30 days brought', async () => {
  const { owner, account, key } = await customer();
  const { costMicros } = await ok(ask(key));
  const idle = await signIn(gateway, { name: 'Idle' });
  const list = async (id: string) => {
    const sent = operator.get(`/operator/accounts?search=${id}`);
    return (await jsonOf<{ data: Record<string, unknown>[] }>(sent)).data[0]!;
  };
  const row = await list(account);
  assert.deepEqual(row['owner'], { name: 'Ada', email: owner.email });
  assert.equal(row['last_charged_on'], today());
  const sums = row['last_30_days'] as Record<Sum, number> & { day_revenues_micros: number[] };
  assert.equal(sums.revenue_micros, costMicros);
  assert.equal(sums.margin_micros, sums.revenue_micros - sums.cost_micros);
  const none = await list(idle.account);
  const noSums = { revenue_micros: 0, cost_micros: 0, margin_micros: 0 };
  const noDays = Array.from({ length: 30 }, () => 0);
  assert.deepEqual(none['last_30_days'], { ...noSums, day_revenues_micros: noDays });
  assert.deepEqual(sums.day_revenues_micros, noDays.with(29, costMicros!));
  assert.equal(none['last_charged_on'], null);
});

test('the biggest movers are those of the report, in both directions', async () => {
  const [grown, shrunk] = [await customer(), await customer()];
  clock.jumpTo(clock.nowMs() + dayMs);
  await ok(ask(shrunk.key));
  await ok(ask(shrunk.key));
  const first = await ok(ask(grown.key));
  clock.jumpTo(clock.nowMs() + dayMs);
  for (let count = 0; count < 4; count++) await ok(ask(grown.key));
  type Mover = { account: { id: string }; revenue_micros: number; before_micros: number };
  const { data } = await jsonOf<{ data: Mover[] }>(
    operator.get(`/operator/movers?mode=live&from=${today()}&to=${today()}`),
  );
  const cost = first.costMicros!;
  assert.deepEqual(
    data.map(({ account: { id }, revenue_micros: now, before_micros: was }) => [id, now, was]),
    [
      [grown.account, 4 * cost, cost],
      [shrunk.account, 0, 2 * cost],
    ],
  );
});

test('money: balances owed to accounts, cash in by card and by hand, and every payment', async () => {
  const money = async () =>
    jsonOf<Record<string, number>>(operator.get(`/operator/money?from=${today()}&to=${today()}`));
  const was = await money();
  const { account } = await customer(3);
  const asked = {
    accountId: account,
    userId: 'usr_1',
    requestId: 'r1',
    amountMicros: microsFromUsd(20),
    feeMicros: microsFromUsd(1),
  };
  const { topUp } = (await openTopUp(gateway.database.write, asked))!;
  const { id, url } = stripe.open(
    {
      client_reference_id: topUp.id,
      'metadata[account]': account,
      'metadata[top_up]': topUp.id,
      'line_items[0][price_data][unit_amount]': '2000',
      'line_items[1][price_data][unit_amount]': '100',
      'line_items[0][price_data][currency]': 'usd',
    },
    topUp.id,
  );
  await setCheckout(gateway.database.write, topUp.id, { id, url });
  const payment = stripe.paymentOf(url);
  await stripe.deliver(stripe.completed(payment));
  await stripe.deliver(stripe.refunded(payment, 700));
  const debit = { kind: 'debit', mode: 'live', amount_micros: 500_000, note: 'Fee' };
  const booked = { request_id: '0123456789abcdef9999', ...debit };
  await ok(operator.post(`/operator/accounts/${account}/adjustments`, booked));
  const now = await money();
  const change = Object.fromEntries(
    Object.entries(now).map(([name, value]) => [name, value - was[name]!]),
  );
  const { postedMicros } = await gateway.balance(account);
  assert.deepEqual(change, {
    prepaid_micros: postedMicros,
    owed_micros: 0,
    paid_micros: 20_000_000,
    returned_micros: 22_500_000 - postedMicros,
    credited_micros: 3_000_000,
    debited_micros: 500_000,
  });
  assert.ok(change['returned_micros'] > 0);
  const pages = await jsonOf<{ data: Record<string, unknown>[]; next_cursor: string | null }>(
    operator.get('/operator/payments?limit=1'),
  );
  assert.partialDeepStrictEqual(pages.data[0], {
    account_id: account,
    amount_micros: 21_000_000,
    fee_micros: 1_000_000,
    returned_micros: change['returned_micros'],
  });
  assert.equal(pages.next_cursor, null);
  const found = async (text: string) => {
    const sent = operator.get(`/operator/payments?search=${encodeURIComponent(text)}`);
    return (await jsonOf<{ data: unknown[] }>(sent)).data.length;
  };
  assert.equal(await found(account), 1);
  assert.equal(await found(String(pages.data[0]!['id'])), 1);
  assert.equal(await found(String(pages.data[0]!['account_name']).slice(1).toUpperCase()), 1);
  assert.equal(await found('nobody%'), 0);
  const wrong = await operator.get('/operator/payments?cursor=yesterday');
  assert.equal(wrong.status, 400);
});

test('an operator makes a key for an account', async () => {
  const { account } = await customer();
  const { key, secret } = await jsonOf<{ key: { account_id: string }; secret: string }>(
    operator.post(`/operator/accounts/${account}/keys`, {
      mode: 'live',
      name: 'First key',
      monthly_cap_micros: 5_000_000,
    }),
  );
  assert.equal(key.account_id, account);
  await ok(ask(secret));
});

test('the first user names the first account, and what is set up is told', async () => {
  const program = await startRunningApp();
  hooks.after(() => program.stop());
  const token = program.firstRunToken;
  const first = visitor({ program });
  const password = 'correct horse battery';
  const body = { token, name: 'Grace', email: 'grace@example.com', password };
  const nameless = await first.post('/auth/first-run', { ...body, account_name: ' ' });
  assert.deepEqual([nameless.status, nameless.error.param], [400, 'account_name']);
  await ok(first.post('/auth/first-run', { ...body, account_name: 'Acme' }));
  const { accounts } = await jsonOf<{ accounts: { id: string; name: string }[] }>(
    first.get('/session'),
  );
  assert.deepEqual(columnOf(accounts, 'name'), ['Acme']);
  const setUp = async () => {
    const told = await jsonOf<{ set_up: Record<string, boolean> }>(
      first.get('/operator/attention'),
    );
    return Object.keys(told.set_up).filter((name) => told.set_up[name]);
  };
  assert.deepEqual(await setUp(), []);
  const { id } = accounts[0]!;
  const credit = { kind: 'credit', mode: 'live', amount_micros: 1, note: 'x' };
  const request = { request_id: '0123456789abcdef0123', ...credit };
  await ok(first.post(`/operator/accounts/${id}/adjustments`, request));
  await ok(first.post(`/operator/accounts/${id}/keys`, { mode: 'live', name: 'k' }));
  const guest = { email: 'a@example.com', role: 'member', password };
  await ok(first.post(`/operator/accounts/${id}/invitations`, guest));
  assert.deepEqual(await setUp(), ['live_key', 'balance', 'invited']);
});
