// Billing in the dashboard: balance and statement, top-ups, low-balance warnings.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { signIn } from '../support/dashboard.ts';
import { hooksOfFile } from '../support/file-hooks.ts';
import { startGateway } from '../support/gateway.ts';
import { actionsOf } from '../support/rows.ts';
import { jsonOf, ok } from '../support/http.ts';
import { startStripe } from '../support/stripe.ts';

const hooks = hooksOfFile();

const stripe = await startStripe(hooks);
const gateway = await startGateway(
  { stripe: { ...stripe.config, top_up_usd: { min: 5, max: 500, choices: [50, 10] } } },
  { tuning: stripe.tuning },
);
stripe.sendTo(gateway.url);
after(() => gateway.stop());

let requests = 0;
const requestId = () => `request-${(requests += 1)}`;

test('an owner tops up: the checkout has the requested amount, and the balance rises when Stripe confirms', async () => {
  const owner = await signIn(gateway);
  const path = `/accounts/${owner.account}/top-ups`;
  const body = { request_id: requestId(), amount_micros: 12_340_000 };
  const [one, other] = await Promise.all([owner.post(path, body), owner.post(path, body)]);
  assert.equal(one.status, 200, one.text);
  assert.equal(one.text, other.text, 'a double click opens one checkout');
  const { id, checkout_url } = one.json<{ id: string; checkout_url: string }>();
  const { fields, amountCents, reference, successUrl } = stripe.paymentOf(checkout_url).session;
  assert.deepEqual(
    [amountCents, reference, fields['mode'], fields['customer_email']],
    [1_234, id, 'payment', owner.email],
  );
  assert.equal(successUrl, `${gateway.url}/billing?account=${owner.account}&top_up=${id}`);
  const stateOf = async () => (await owner.get(`${path}/${id}`)).json()['state'];
  assert.equal(await stateOf(), 'open');
  await stripe.pay(checkout_url);
  assert.equal(await stateOf(), 'paid');
  const overview = (await owner.get(`/accounts/${owner.account}/billing?mode=live`)).json();
  assert.deepEqual(
    [overview['posted_micros'], overview['held_micros'], overview['available_micros']],
    [12_340_000, 0, 12_340_000],
  );
  assert.deepEqual(overview['top_up'], {
    min_micros: 5_000_000,
    max_micros: 500_000_000,
    choices_micros: [10_000_000, 50_000_000],
    fee: { ppm: 0, fixed_micros: 0 },
  });
  assert.equal(fields['line_items[1][price_data][unit_amount]'], undefined, 'no fee by default');
});

test('a card fee is shown in the overview and added to the checkout', async (t) => {
  const local = await startStripe(t);
  const charging = await startGateway(
    { stripe: { ...local.config, fee_percent: 2.9, fee_fixed_cents: 30 } },
    { tuning: local.tuning },
  );
  t.after(() => charging.stop());
  local.sendTo(charging.url);
  const owner = await signIn(charging);
  const overview = async () =>
    (await owner.get(`/accounts/${owner.account}/billing?mode=live`)).json();
  assert.partialDeepStrictEqual((await overview())['top_up'], {
    fee: { ppm: 29_000, fixed_micros: 300_000 },
  });
  const body = { request_id: requestId(), amount_micros: 10_010_000 };
  const { checkout_url } = await jsonOf<{ checkout_url: string }>(
    owner.post(`/accounts/${owner.account}/top-ups`, body),
  );
  const { fields, amountCents } = local.paymentOf(checkout_url).session;
  assert.deepEqual(
    [0, 1].map((line) => [
      fields[`line_items[${line}][price_data][product_data][name]`],
      fields[`line_items[${line}][price_data][unit_amount]`],
    ]),
    [
      ['Service: credit', '1001'],
      ['Card fee', '60'],
    ],
  );
  assert.equal(amountCents, 1_061);
  await local.pay(checkout_url);
  assert.equal((await overview())['posted_micros'], 10_010_000);
});

test('the statement lists all credits, debits and daily charges in pages that add up to the balance', async () => {
  const { account, key } = await gateway.makeKey({ mode: 'test' });
  const member = await signIn(gateway, { account, role: 'member' });
  const body = { model: 'gpt-6-luna', messages: [{ role: 'user', content: 'Hello' }] };
  await ok(gateway.post('/v1/chat/completions', { key, body }));
  type Line = { kind: string; amount_micros: number; requests?: number; note?: string };
  const path = `/accounts/${account}/statement?mode=test`;
  const read = (query: string) =>
    jsonOf<{ data: Line[]; next_cursor: string | null }>(member.get(path + query));
  const { data, next_cursor } = await read('');
  assert.deepEqual(
    [data.map(({ kind }) => kind), data[0]!.requests, data[1]!.note, next_cursor],
    [['charges', 'credit'], 1, 'play money', null],
  );
  const total = data.reduce((sum, { amount_micros }) => sum + amount_micros, 0);
  assert.equal(total, (await gateway.balance(account, 'test')).postedMicros);
  const first = await read('&limit=1');
  const second = await read(`&limit=1&cursor=${encodeURIComponent(first.next_cursor!)}`);
  assert.deepEqual([...first.data, ...second.data], data);
  assert.equal((await member.get(`${path}&cursor=x`)).error.param, 'cursor');
  const stranger = await signIn(gateway);
  assert.equal((await stranger.get(path)).status, 404);
});

test('an amount out of bounds or not in whole cents is refused with its field', async () => {
  const owner = await signIn(gateway);
  const path = `/accounts/${owner.account}/top-ups`;
  for (const amount_micros of [4_990_000, 500_010_000, 10_001_000, -1, 1.5]) {
    const reply = await owner.post(path, { request_id: requestId(), amount_micros });
    assert.deepEqual([reply.status, reply.error.param], [400, 'amount_micros'], reply.text);
  }
  const body = { request_id: requestId(), amount_micros: 10_000_000 };
  await ok(owner.post(path, body));
  const other = await owner.post(path, { ...body, amount_micros: 20_000_000 });
  assert.equal(other.error.code, 'conflict');
});

test('a top-up of another account is not found', async () => {
  const [owner, stranger] = [await signIn(gateway), await signIn(gateway)];
  const body = { request_id: requestId(), amount_micros: 10_000_000 };
  const { id } = await jsonOf(owner.post(`/accounts/${owner.account}/top-ups`, body));
  assert.equal(
    (await stranger.get(`/accounts/${stranger.account}/top-ups/${String(id)}`)).status,
    404,
  );
});

test('after a Stripe outage the same top-up can be retried', async () => {
  const owner = await signIn(gateway);
  const body = { request_id: requestId(), amount_micros: 10_000_000 };
  const path = `/accounts/${owner.account}/top-ups`;
  for (const [status, code] of [
    [500, 'upstream_unavailable'],
    [400, 'upstream_error'],
  ] as const) {
    stripe.failures.push(status);
    assert.equal((await owner.post(path, body)).error.code, code);
  }
  await ok(owner.post(path, body));
});

test('the low-balance warnings are set, changed and removed, each with an audit row', async () => {
  const owner = await signIn(gateway);
  for (const thresholds_micros of [[5_000_000], [5_000_000], [7_000_000, 2_000_000], [], []]) {
    const set = owner.patch(`/accounts/${owner.account}/low-balance`, { thresholds_micros });
    assert.partialDeepStrictEqual(await jsonOf(set), { thresholds_micros });
  }
  const actions = await actionsOf(gateway.database, { subject: owner.account });
  assert.equal(actions.length, 3);
});

test('without Stripe the overview shows the contact for credit', async () => {
  const plain = await startGateway({ billing: { contact: 'billing@example.com' } });
  try {
    const owner = await signIn(plain);
    const overview = (await owner.get(`/accounts/${owner.account}/billing?mode=live`)).json();
    assert.deepEqual([overview['top_up'], overview['contact']], [null, 'billing@example.com']);
    const body = { request_id: requestId(), amount_micros: 10_000_000 };
    assert.equal((await owner.post(`/accounts/${owner.account}/top-ups`, body)).status, 404);
  } finally {
    await plain.stop();
  }
});
