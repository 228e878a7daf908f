// POST /webhooks/stripe: which events are accepted, and their effect on the balance.
import assert from 'node:assert/strict';
import { openTopUp, setCheckout } from '../../src/domain/billing/top-ups.ts';
import { ledgerIdOf } from '../../src/domain/ledger/commands.ts';
import { microsFromUsd } from '../../src/lib/money.ts';
import { after, before, test, testOn } from '../support/both-stores.ts';
import { hooksOfFile } from '../support/file-hooks.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { rowOf, rowsOf } from '../support/rows.ts';
import { ok } from '../support/http.ts';
import { startStripe, type LocalStripe, type Payment } from '../support/stripe.ts';

const hooks = hooksOfFile();
let stripe: LocalStripe;
let gateway: TestGateway;

before(async () => {
  stripe = await startStripe(hooks);
  gateway = await startGateway({ stripe: stripe.config }, { tuning: stripe.tuning });
  stripe.sendTo(gateway.url);
});
after(() => gateway.stop());

/** An account with an open checkout. */
async function checkout(
  usd: number,
  feeUsd = 0,
): Promise<{ readonly account: string; readonly payment: Payment }> {
  const { account } = await gateway.makeKey({ mode: 'live' });
  const amountMicros = microsFromUsd(usd);
  const asked = {
    accountId: account,
    userId: 'usr_1',
    requestId: 'r1',
    amountMicros,
    feeMicros: microsFromUsd(feeUsd),
  };
  const { topUp } = (await openTopUp(gateway.database.write, asked))!;
  const fields = {
    client_reference_id: topUp.id,
    'metadata[account]': account,
    'metadata[top_up]': topUp.id,
    'line_items[0][price_data][unit_amount]': String(usd * 100),
    'line_items[1][price_data][unit_amount]': String(feeUsd * 100),
    'line_items[0][price_data][currency]': 'usd',
  };
  const { id, url } = stripe.open(fields, topUp.id);
  await setCheckout(gateway.database.write, topUp.id, { id, url });
  return { account, payment: stripe.paymentOf(url) };
}

async function balanceUsd(account: string): Promise<number> {
  return (await gateway.balance(account)).postedMicros / 1_000_000;
}

async function stateOf(account: string): Promise<string> {
  return (await rowOf(gateway.database, 'top_ups', { account_id: account })).state;
}

test('a payment is credited once, however often and concurrently its event is delivered', async () => {
  const { account, payment } = await checkout(25);
  const event = stripe.completed(payment);
  const replies = await Promise.all(Array.from({ length: 8 }, () => stripe.deliver(event)));
  assert.deepEqual(
    replies.map(({ status }) => status),
    Array(8).fill(200),
  );
  assert.equal(
    (await stripe.deliver(stripe.completed(payment))).status,
    200,
    'another event about the same payment',
  );
  assert.equal(await balanceUsd(account), 25);
  assert.equal(await stateOf(account), 'paid');
  const entries = await rowsOf(gateway.database, 'entries', {
    ledger_id: ledgerIdOf(account, 'live'),
  });
  assert.equal(entries.length, 1);
});

test('the balance is credited before Stripe gets its answer', async () => {
  const { account, payment } = await checkout(10);
  await ok(stripe.deliver(stripe.completed(payment)));
  const { key } = await gateway.makeKey({ account, mode: 'live' });
  assert.equal((await gateway.get('/v1/balance', { key })).json()['balance_cents'], 1_000);
});

test('a bank transfer is credited when it is paid, not when it is promised', async () => {
  const { account, payment } = await checkout(10);
  await stripe.deliver(stripe.completed(payment, { paid: false }));
  assert.equal(await balanceUsd(account), 0);
  assert.equal(await stateOf(account), 'processing');
  await stripe.deliver(stripe.paidLater(payment));
  assert.equal(await balanceUsd(account), 10);
  assert.equal(await stateOf(account), 'paid');
  await stripe.deliver(stripe.completed(payment, { paid: false }));
  assert.equal(await stateOf(account), 'paid', 'old news change nothing');
});

test('a failed or abandoned checkout credits nothing', async () => {
  for (const [name, state] of [
    ['failedLater', 'failed'],
    ['expired', 'expired'],
  ] as const) {
    const { account, payment } = await checkout(10);
    await stripe.deliver(stripe[name](payment));
    assert.equal(await balanceUsd(account), 0);
    assert.equal(await stateOf(account), state);
  }
});

test('refunds and disputes reduce the balance, even below zero, and are reversed when they end well', async () => {
  const { account, payment } = await checkout(10);
  await stripe.deliver(stripe.refunded(payment, 250));
  await stripe.deliver(stripe.completed(payment));
  assert.equal(await balanceUsd(account), 7.5);
  const [open, taken] = [
    stripe.dispute(payment, 'created'),
    stripe.dispute(payment, 'funds_withdrawn'),
  ];
  for (const event of [taken, open, taken]) await stripe.deliver(event);
  assert.equal(await balanceUsd(account), -2.5);
  const endS = Math.floor(Date.now() / 1_000) + 60;
  const won = stripe.dispute(payment, 'closed', { status: 'won', atS: endS });
  await Promise.all([
    stripe.deliver(won),
    stripe.deliver(stripe.dispute(payment, 'funds_reinstated', { status: 'won', atS: endS })),
  ]);
  assert.equal(await balanceUsd(account), 7.5);
  await stripe.deliver(stripe.refunded(payment, 1_000, endS + 60));
  assert.equal(await balanceUsd(account), 0);
  await stripe.deliver(
    stripe.refundFailed(payment, { id: 're_2', cents: 750, beganS: endS + 60 }, endS + 120),
  );
  assert.equal(await balanceUsd(account), 7.5);
});

test('a card fee is not credited; refunds and disputes take back the credit, never the fee', async () => {
  const { account, payment } = await checkout(10, 0.59);
  await stripe.deliver(stripe.completed(payment));
  assert.equal(payment.session.amountCents, 1_059);
  assert.equal(await balanceUsd(account), 10);
  await stripe.deliver(stripe.refunded(payment, 400));
  assert.equal(await balanceUsd(account), 6);
  await stripe.deliver(stripe.dispute(payment, 'created', { cents: 659 }));
  assert.equal(await balanceUsd(account), 0);
  const endS = Math.floor(Date.now() / 1_000) + 60;
  await stripe.deliver(stripe.dispute(payment, 'closed', { cents: 659, status: 'won', atS: endS }));
  assert.equal(await balanceUsd(account), 6);
  await stripe.deliver(stripe.refunded(payment, 1_059, endS + 60));
  assert.equal(await balanceUsd(account), 0);
  assert.equal(await stateOf(account), 'paid');
});

test('a payment of the credit without its fee is not credited automatically', async () => {
  const { account, payment } = await checkout(10, 0.59);
  await stripe.deliver(stripe.completed(payment, { cents: 1_000 }));
  assert.equal(await balanceUsd(account), 0);
  const row = gateway.database.read
    .selectFrom('payments')
    .selectAll()
    .where('id', '=', payment.intent);
  assert.partialDeepStrictEqual(await row.executeTakeFirst(), {
    problem: 'wrong-amount',
    fee_micros: 0,
  });
});

test('a payment link that refers to a top-up is not credited automatically', async () => {
  const { account, payment } = await checkout(10);
  const { reference } = payment.session;
  const fields = {
    client_reference_id: reference!,
    'line_items[0][price_data][unit_amount]': '1000',
  };
  const link = stripe.open({ ...fields, 'line_items[0][price_data][currency]': 'usd' }, 'a link');
  const paid = await stripe.pay(link.url);
  assert.equal(await balanceUsd(account), 0);
  assert.equal(await stateOf(account), 'open');
  const row = gateway.database.read
    .selectFrom('payments')
    .selectAll()
    .where('id', '=', paid.intent);
  assert.partialDeepStrictEqual(await row.executeTakeFirst(), {
    problem: 'unknown-account',
    account_id: null,
    decision: null,
  });
  await stripe.deliver(stripe.completed(payment));
  assert.equal(await balanceUsd(account), 10);
});

test('a refund takes back at most what was paid', async () => {
  const { account, payment } = await checkout(10);
  await stripe.deliver(stripe.completed(payment));
  await stripe.deliver(stripe.refunded(payment, 99_900));
  assert.equal(await balanceUsd(account), 0);
});

testOn('sqlite', 'only events that Stripe signed recently are accepted', async () => {
  const { account, payment } = await checkout(10);
  const event = stripe.completed(payment);
  const wrong = await stripe.deliver(event, { secret: 'whsec_of_somebody_else' });
  assert.equal(wrong.status, 400);
  assert.equal(wrong.error.code, 'invalid_request');
  assert.equal(
    (await stripe.deliver(event, { ageS: 301 })).status,
    400,
    'recorded and sent again later',
  );
  assert.equal((await gateway.post('/webhooks/stripe', { body: event })).status, 400);
  assert.equal(
    (
      await gateway.post('/webhooks/stripe', {
        body: event,
        headers: { 'stripe-signature': 't=1,v1=00' },
      })
    ).status,
    400,
  );
  assert.equal((await gateway.get('/webhooks/stripe')).status, 405);
  assert.equal(await balanceUsd(account), 0);
  await ok(stripe.deliver(event, { ageS: 200 }));
  assert.equal(await balanceUsd(account), 10);
});

test('tollgate verify names a payment that disagrees with the ledger', async () => {
  const { payment } = await checkout(25);
  await stripe.deliver(stripe.completed(payment));
  const bookings = gateway.database.write
    .updateTable('payment_bookings')
    .where('payment_id', '=', payment.intent);
  await bookings.set({ delta_micros: microsFromUsd(26) }).execute();
  await assert.rejects(
    gateway.program.cli('verify'),
    ({ code, stdout }: { code: number; stdout: string }) => {
      const problem = {
        table: 'payment_bookings',
        id: `${payment.intent}:1`,
        column: 'delta_micros',
        expected: 25e6,
        found: 26e6,
      };
      assert.deepEqual([code, JSON.parse(stdout)], [1, { ok: false, problem }]);
      return true;
    },
  );
  await bookings.set({ delta_micros: microsFromUsd(25) }).execute();
});

testOn('sqlite', 'a body larger than any Stripe event is refused unread', async () => {
  const reply = await gateway.post('/webhooks/stripe', {
    body: 'x'.repeat(600 * 1_024),
    headers: { 'stripe-signature': 't=1,v1=00' },
  });
  assert.equal(reply.status, 413);
});

testOn('sqlite', 'a thin event is refused with its remedy', async () => {
  const thin = { ...stripe.other('v1.billing.meter.no_meter_found'), object: 'v2.core.event' };
  const reply = await stripe.deliver(thin);
  assert.equal(reply.status, 400);
  assert.match(reply.error.message, /payload style "snapshot"/);
});

testOn('sqlite', 'unrelated events are accepted and ignored', async () => {
  for (const type of ['invoice.paid', 'customer.created', 'some.event.of.tomorrow']) {
    await ok(stripe.deliver(stripe.other(type)));
  }
});

testOn('sqlite', 'without Stripe the path does not exist', async () => {
  const plain = await startGateway();
  try {
    assert.equal((await plain.post('/webhooks/stripe', { body: {} })).error.code, 'not_found');
  } finally {
    await plain.stop();
  }
});
