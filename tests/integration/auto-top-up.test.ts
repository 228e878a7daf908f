// Automatic top-ups in the dashboard: a saved card, its settings, and what owners and operators see.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type DashboardClient, quickHash, signIn } from '../support/dashboard.ts';
import { hooksOfFile } from '../support/file-hooks.ts';
import { startGateway } from '../support/gateway.ts';
import { jsonOf, ok } from '../support/http.ts';
import { startMailbox } from '../support/mailbox.ts';
import { actionsOf, rowOf } from '../support/rows.ts';
import { startStripe } from '../support/stripe.ts';
import { until } from '../support/until.ts';

const hooks = hooksOfFile();
const password = 'correct horse battery';
const passwordHash = quickHash(password);

const stripe = await startStripe(hooks);
const mailbox = await startMailbox();
const gateway = await startGateway(
  {
    stripe: { ...stripe.config, fee_fixed_cents: 30, top_up_usd: { min: 5, max: 500 } },
    smtp: { url: mailbox.url, from: 'Tollgate <no-reply@gate.example>' },
  },
  { tuning: stripe.tuning },
);
stripe.sendTo(gateway.url);
after(async () => {
  await gateway.stop();
  await mailbox.close();
});

const settings = {
  threshold_micros: 5_000_000,
  amount_micros: 20_000_000,
  ceiling_micros: 100_000_000,
};

type Shown = {
  readonly card: object | null;
  readonly settings: object | null;
  readonly paused: { readonly reason: string } | null;
  readonly month_micros: number;
  readonly last: { readonly state: string; readonly problem: string | null } | null;
};

const pathOf = ({ account }: DashboardClient) => `/accounts/${account}/auto-top-up`;
const read = (owner: DashboardClient) => jsonOf<Shown>(owner.get(pathOf(owner)));
const turnOn = (owner: DashboardClient, changed: object = {}, proof: object = { password }) =>
  owner.sendUnconfirmed('PATCH', pathOf(owner), {
    body: { settings: { ...settings, ...changed }, ...proof },
  });

async function withCard(): Promise<DashboardClient> {
  const owner = await signIn(gateway, { passwordHash });
  await saveCard(owner);
  return owner;
}

const startCard = async (owner: DashboardClient) =>
  (await jsonOf<{ checkout_url: string }>(owner.post(`${pathOf(owner)}/card`))).checkout_url;
async function saveCard(owner: DashboardClient): Promise<string> {
  const url = await startCard(owner);
  await ok(stripe.saveCard(url));
  return url;
}

const rowFor = ({ account }: DashboardClient) =>
  rowOf(gateway.database, 'auto_top_ups', { account_id: account });
const balance = async ({ account }: DashboardClient) =>
  (await gateway.balance(account)).postedMicros;

test('an owner saves a card and turns it on: the card is charged at once, and the balance credited', async () => {
  const owner = await signIn(gateway, { passwordHash });
  assert.partialDeepStrictEqual(await read(owner), { card: null, settings: null, last: null });
  assert.equal((await turnOn(owner)).error.code, 'conflict', 'a card is needed first');
  const url = await saveCard(owner);
  const { fields } = stripe.paymentOf(url).session;
  assert.deepEqual(
    [fields['mode'], fields['customer_email'], fields['success_url']],
    ['setup', owner.email, `${gateway.url}/billing?account=${owner.account}&card=saved`],
  );
  await ok(turnOn(owner));
  await until(async () => (await balance(owner)) === settings.amount_micros);
  assert.partialDeepStrictEqual(await read(owner), {
    card: { brand: 'visa', last4: '4242' },
    settings,
    paused: null,
    month_micros: 20_300_000,
    last: { state: 'paid', problem: null, amount_micros: 20_000_000 },
  });
  const { card_id, customer_id } = await rowFor(owner);
  assert.deepEqual([card_id?.slice(0, 3), customer_id?.slice(0, 4)], ['pm_', 'cus_']);
  const actions = await actionsOf(gateway.database, { subject: owner.account });
  assert.deepEqual(actions.toSorted(), [
    'auto-top-up.save-card',
    'auto-top-up.start-card',
    'auto-top-up.update',
  ]);
});

test('an operator sees it, and cannot change it', async () => {
  const owner = await withCard();
  const operator = await signIn(gateway, { operator: true });
  const below = `/operator${pathOf(owner)}`;
  assert.equal((await operator.get(below)).text, (await owner.get(pathOf(owner))).text);
  for (const [method, path] of [
    ['PATCH', below],
    ['DELETE', `${below}/card`],
    ['PATCH', pathOf(owner)],
  ] as const)
    assert.equal((await operator.send(method, path, { body: { settings: null } })).status, 404);
});

test('charging more asks for a confirmation, charging less does not', async () => {
  const owner = await withCard();
  const refused = await turnOn(owner, {}, {});
  assert.equal(refused.error.code, 'confirmation_required');
  await ok(turnOn(owner));
  const lowered = (more = {}) => turnOn(owner, { ceiling_micros: 50_000_000, ...more }, {});
  await ok(lowered());
  for (const more of [
    { threshold_micros: 6_000_000 },
    { amount_micros: 21_000_000 },
    { ceiling_micros: 51_000_000 },
  ])
    assert.equal((await lowered(more)).error.code, 'confirmation_required');
  await ok(owner.sendUnconfirmed('PATCH', pathOf(owner), { body: { settings: null } }));
  assert.equal((await read(owner)).settings, null);
});

test('amounts that cannot be are refused with their field', async () => {
  const owner = await withCard();
  for (const [field, value] of [
    ['amount_micros', 4_990_000],
    ['amount_micros', 500_010_000],
    ['amount_micros', 10_001_000],
    ['ceiling_micros', 20_290_000],
    ['threshold_micros', 0],
    ['threshold_micros', 1.5],
  ] as const) {
    const reply = await turnOn(owner, { [field]: value });
    assert.equal(reply.status, 400, reply.text);
    assert.match(String(reply.error.param), new RegExp(field));
  }
});

test('a declined card: owners get one e-mail, and another card starts it again', async () => {
  const owner = await withCard();
  stripe.chargeFaults.push('card_declined');
  await ok(turnOn(owner));
  const { text } = await mailbox.take(owner.email);
  assert.match(text, /\$20\.00 .* failed: the bank declined the card/);
  assert.ok(text.includes(`${gateway.url}/billing`), text);
  const { paused, last } = await read(owner);
  assert.deepEqual([paused?.reason, last?.problem], ['declined', 'declined']);
  const { card_id: declined } = await rowFor(owner);
  await saveCard(owner);
  assert.ok(stripe.detached.includes(declined!), 'Stripe forgets the replaced card');
  assert.equal((await read(owner)).paused, null);
  await ok(turnOn(owner, { threshold_micros: 6_000_000 }));
  await until(async () => (await balance(owner)) === settings.amount_micros);
});

test('an owner whose customer Stripe no longer knows saves a card all the same', async () => {
  const owner = await withCard();
  const customer = async () => (await rowFor(owner)).customer_id!;
  const lost = await customer();
  stripe.lostCustomers.add(lost);
  await saveCard(owner);
  assert.notEqual(await customer(), lost);
});

test('a removed card is removed at Stripe, and is not charged', async () => {
  const owner = await withCard();
  const { card_id: cardId } = await rowFor(owner);
  await ok(owner.send('DELETE', `${pathOf(owner)}/card`));
  assert.ok(stripe.detached.includes(cardId!));
  assert.partialDeepStrictEqual(await read(owner), { card: null, settings: null });
  assert.equal((await turnOn(owner)).error.code, 'conflict');
  assert.equal((await owner.send('DELETE', `${pathOf(owner)}/card`)).status, 404);
});

test('only the checkout begun last saves a card, and only once', async () => {
  const owner = await signIn(gateway, { passwordHash });
  const [first, last] = [await startCard(owner), await startCard(owner)];
  await ok(stripe.saveCard(first));
  assert.equal((await read(owner)).card, null);
  const event = stripe.cardSaved(last);
  await ok(stripe.deliver(event));
  assert.notEqual((await read(owner)).card, null);
  await ok(owner.send('DELETE', `${pathOf(owner)}/card`));
  await ok(stripe.deliver(event));
  assert.equal((await read(owner)).card, null, 'an event that is sent again saves no removed card');
});

test('an automatic top-up is credited by the signed event of Stripe alone, too', async () => {
  const owner = await withCard();
  stripe.onCharge = async (intent) => {
    stripe.onCharge = () => {};
    await ok(stripe.deliver(stripe.succeeded(intent)));
    assert.equal(await balance(owner), settings.amount_micros, 'before the answer to the charge');
  };
  await ok(turnOn(owner));
  // The top-up is paid a moment before the ledger has it.
  await until(async () => (await balance(owner)) === settings.amount_micros);
  assert.equal((await read(owner)).last?.state, 'paid');
});

test('without Stripe it is not available', async (t) => {
  const plain = await startGateway();
  t.after(() => plain.stop());
  const owner = await signIn(plain, { passwordHash });
  assert.partialDeepStrictEqual(await read(owner), { is_available: false, card: null });
  assert.equal((await turnOn(owner)).status, 404);
  assert.equal((await owner.post(`${pathOf(owner)}/card`)).status, 404);
});
