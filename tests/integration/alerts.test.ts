// Alerts of a running gateway: from what happened to a signed message at a receiver.
import assert from 'node:assert/strict';
import { after, before, test } from '../support/both-stores.ts';
import { type DashboardClient, signIn } from '../support/dashboard.ts';
import { hooksOfFile } from '../support/file-hooks.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { jsonOf, ok } from '../support/http.ts';
import { rowsOf, setRows } from '../support/rows.ts';
import { startStripe, type LocalStripe } from '../support/stripe.ts';
import { SleeplessClock } from '../support/test-clock.ts';
import { untilNoticed } from '../support/until.ts';
import { answerJson, answerStatus } from '../support/upstream.ts';
import {
  assertSigned,
  isSigned,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../support/webhook-receiver.ts';

const [second, minute] = [1_000, 60_000];
const hooks = hooksOfFile();
let clock: SleeplessClock;
let stripe: LocalStripe;
let receiver: WebhookReceiver;
let gateway: TestGateway;

before(async () => {
  clock = new SleeplessClock(Date.now());
  stripe = await startStripe(hooks);
  receiver = await startWebhookReceiver();
  gateway = await startGateway(
    { stripe: stripe.config, alerts: { allowed_hosts: [receiver.host] } },
    { clock, tuning: stripe.tuning },
  );
  stripe.sendTo(gateway.url);
});
after(async () => {
  await gateway.stop();
  await receiver.close();
});

type Made = { readonly endpoint: { readonly id: string }; readonly secret: string };
type Delivery = {
  readonly id: string;
  readonly event_id: string;
  readonly type: string;
  readonly sentence: string;
  readonly attempts: number;
  readonly delivered_at: string | null;
  readonly next_at: string | null;
  readonly problem: string | null;
};

function add(owner: DashboardClient, fields: object = {}): Promise<Made> {
  const body = { kind: 'webhook', address: receiver.url, ...fields };
  return jsonOf(owner.post(`/accounts/${owner.account}/alert-endpoints`, body));
}

async function deliveries(owner: DashboardClient): Promise<Delivery[]> {
  const path = `/accounts/${owner.account}/alert-deliveries?limit=100`;
  return (await jsonOf<{ data: Delivery[] }>(owner.get(path))).data;
}

async function pay(owner: DashboardClient, amount_micros: number): Promise<void> {
  const body = { request_id: `request-${Math.random().toString(36).slice(2)}`, amount_micros };
  const sent = owner.post(`/accounts/${owner.account}/top-ups`, body);
  await stripe.pay((await jsonOf<{ checkout_url: string }>(sent)).checkout_url);
}

const noticed = <Value>(look: () => Value | Promise<Value>) => untilNoticed(clock, look);

/** Waits until an account's only delivery was tried so often, and returns it. */
const tried = (owner: DashboardClient, attempts: number) =>
  noticed(async () => {
    const [delivery] = await deliveries(owner);
    return delivery?.attempts === attempts && delivery;
  });

/** Moves on to the next attempt, while no attempt is under way whose timeout could pass. */
async function untilDue({ next_at: nextAt }: Delivery): Promise<void> {
  clock.jumpTo(Date.parse(nextAt!));
}

/** Waits for the messages of an account. */
const messagesOf = (owner: DashboardClient, count: number) =>
  noticed(() => {
    const own = receiver.messages().filter(({ text }) => text.includes(owner.account));
    return own.length >= count && own;
  });

test('a payment becomes a signed webhook, once, with its data', async () => {
  receiver.answer(answerJson({}));
  const owner = await signIn(gateway);
  const { endpoint, secret } = await add(owner);
  await pay(owner, 12_340_000);
  const [message] = await messagesOf(owner, 1);
  assertSigned(message!, secret, clock.nowMs());
  const { type, timestamp, data } = message!.body;
  assert.equal(type, 'payment.received');
  assert.ok(Math.abs(Date.parse(timestamp) - clock.nowMs()) < minute);
  assert.partialDeepStrictEqual(data, { account_id: owner.account, amount_micros: 12_340_000 });
  const [delivery] = await noticed(async () => {
    const found = await deliveries(owner);
    return typeof found[0]?.delivered_at === 'string' && found;
  });
  assert.partialDeepStrictEqual(delivery, {
    id: `${message!.id}.${endpoint.id}`,
    event_id: message!.id,
    attempts: 1,
    next_at: null,
    problem: null,
  });
  assert.match(delivery!.sentence, /\+\$12\.34/);
  await clock.advance(5 * minute);
  assert.equal((await messagesOf(owner, 1)).length, 1);
});

test('a failing receiver is tried again with growing waits, under one id and with a new time', async () => {
  const owner = await signIn(gateway);
  const { secret } = await add(owner);
  receiver.answer(answerStatus(500), answerStatus(302), answerStatus(503), answerJson({}));
  const startMs = clock.nowMs();
  await pay(owner, 10_000_000);
  for (const attempt of [1, 2, 3]) await untilDue(await tried(owner, attempt));
  const { delivered_at: deliveredAt } = await tried(owner, 4);
  assert.ok(deliveredAt !== null);
  const messages = await messagesOf(owner, 4);
  assert.equal(new Set(messages.map(({ id }) => id)).size, 1);
  assert.equal(new Set(messages.map(({ text }) => text)).size, 1);
  for (const message of messages) assert.ok(isSigned(message, secret));
  const sentAfterMs = messages.map(({ timestamp }) => timestamp * second - startMs);
  const least = [0, 5 * second, 5 * minute, 35 * minute];
  for (const [index, ms] of least.entries()) {
    const where = `attempt ${index + 1} came ${sentAfterMs[index]} ms after`;
    assert.ok(sentAfterMs[index]! > ms - 2 * second, where);
  }
  assert.ok(sentAfterMs[3]! < 45 * minute);
});

test('Retry-After, a date too, is kept when it is longer', async () => {
  const owner = await signIn(gateway);
  await add(owner);
  const retryAfter = new Date(clock.nowMs() + 3_610_000).toUTCString();
  receiver.answer(answerStatus(429, { retryAfter }), answerJson({}));
  await pay(owner, 10_000_000);
  await untilDue(await tried(owner, 1));
  const [first, other] = await messagesOf(owner, 2);
  assert.ok(other!.timestamp - first!.timestamp >= 3_600);
});

test('a receiver that answers 410 is switched off, and an event is given up after ten attempts', async () => {
  const [gone, dead] = [await signIn(gateway), await signIn(gateway)];
  type Listed = { endpoints: { disabled_at: string | null; disabled_reason: string | null }[] };
  const endpointsOf = async (owner: DashboardClient) =>
    (await jsonOf<Listed>(owner.get(`/accounts/${owner.account}/alert-endpoints`))).endpoints;
  await add(gone);
  receiver.answer(answerStatus(410));
  await pay(gone, 10_000_000);
  const [endpoint] = await noticed(async () => {
    const found = await endpointsOf(gone);
    return found[0]!.disabled_at !== null && found;
  });
  assert.match(endpoint!.disabled_reason!, /410/);
  await pay(gone, 10_000_000);
  assert.equal((await deliveries(gone)).length, 1, 'nothing waits for an endpoint that is off');

  await add(dead);
  receiver.answer(answerStatus(500));
  await pay(dead, 10_000_000);
  const { id } = await tried(dead, 1);
  await setRows(gateway.database, 'event_deliveries', { id }, { attempts: 9, next_at_ms: 0 });
  const { next_at: nextAt, problem } = await tried(dead, 10);
  assert.deepEqual([nextAt, problem], [null, 'it answers with status 500']);
});

test('a delivery is sent again under its id, and a test event whatever the types are', async () => {
  receiver.answer(answerJson({}));
  const owner = await signIn(gateway);
  const { endpoint } = await add(owner, { types: ['balance.low'] });
  const path = `/accounts/${owner.account}/alert-endpoints/${endpoint.id}`;
  await pay(owner, 10_000_000);
  await ok(owner.post(`${path}/test`));
  const [sent] = await noticed(() => {
    const found = receiver.of('test').filter(({ text }) => text.includes(endpoint.id));
    return found.length === 1 && found;
  });
  const [delivery, ...others] = await noticed(async () => {
    const found = await deliveries(owner);
    return typeof found[0]?.delivered_at === 'string' && found;
  });
  assert.deepEqual(others, [], 'the payment is none of its types');
  await ok(owner.post(`/accounts/${owner.account}/alert-deliveries/${delivery!.id}/again`));
  const ids = await noticed(() => {
    const found = receiver.of('test').filter(({ text }) => text.includes(endpoint.id));
    return found.length === 2 && found.map(({ id }) => id);
  });
  assert.deepEqual(ids, [sent!.id, sent!.id]);
});

test('a replaced secret signs beside the new one for a day; both are audited, neither is shown again', async () => {
  receiver.answer(answerJson({}));
  const owner = await signIn(gateway);
  const { endpoint, secret } = await add(owner);
  const path = `/accounts/${owner.account}/alert-endpoints/${endpoint.id}`;
  type Replaced = { readonly secret: string; readonly earlier_until: string };
  const first = await jsonOf<Replaced>(owner.post(`${path}/secret`));
  const newest = await jsonOf<Replaced>(owner.post(`${path}/secret`));
  assert.equal(Date.parse(newest.earlier_until), clock.nowMs() + 24 * 60 * minute);
  const signedBy = async () => {
    const earlier = receiver.messages().length;
    await ok(owner.post(`${path}/test`));
    const message = await noticed(() => receiver.messages()[earlier]);
    return [secret, first.secret, newest.secret].map((one) => isSigned(message, one));
  };
  assert.deepEqual(await signedBy(), [true, true, true]);
  const nowMs = clock.nowMs();
  clock.jumpTo(nowMs + 24 * 60 * minute);
  assert.deepEqual(await signedBy(), [false, false, true]);
  clock.jumpTo(nowMs);
  const rows = await rowsOf(gateway.database, 'audit_log', { action: 'alert.replace-secret' });
  assert.equal(rows.filter(({ subject }) => subject === endpoint.id).length, 2);
  const audited = JSON.stringify(await rowsOf(gateway.database, 'audit_log'));
  for (const one of [secret, first.secret, newest.secret]) assert.ok(!audited.includes(one));
});

test('of two replacements at once, each new secret signs or was refused', async () => {
  receiver.answer(answerJson({}));
  const owner = await signIn(gateway);
  const { endpoint } = await add(owner);
  const path = `/accounts/${owner.account}/alert-endpoints/${endpoint.id}`;
  const replies = await Promise.all([1, 2, 3].map(() => owner.post(`${path}/secret`)));
  const made = replies.filter(({ status }) => status === 200);
  assert.ok(made.length > 0);
  for (const { status } of replies) assert.ok(status === 200 || status === 409);
  const earlier = receiver.messages().length;
  await ok(owner.post(`${path}/test`));
  const message = await noticed(() => receiver.messages()[earlier]);
  for (const reply of made) assert.ok(isSigned(message, reply.json<{ secret: string }>().secret));
});

test('another account sees nothing of an endpoint, and secrets are stored encrypted', async () => {
  const [owner, stranger] = [await signIn(gateway), await signIn(gateway)];
  const { endpoint, secret } = await add(owner, { address: `${receiver.url}?token=hidden-token` });
  const own = `/accounts/${stranger.account}/alert-endpoints/${endpoint.id}`;
  for (const reply of [
    await stranger.patch(own, { enabled: false }),
    await stranger.delete(own),
    await stranger.post(`${own}/test`),
    await stranger.post(`${own}/secret`),
    await stranger.get(`/accounts/${owner.account}/alert-endpoints`),
  ])
    assert.equal(reply.status, 404, reply.text);
  const stored = JSON.stringify(await rowsOf(gateway.database, 'alert_endpoints'));
  const audited = JSON.stringify(await rowsOf(gateway.database, 'audit_log'));
  for (const text of ['hidden-token', secret, secret.slice(6)])
    assert.equal((stored + audited).includes(text), false);
});

test('members send few messages on purpose: test events and deliveries again have one limit', async () => {
  receiver.answer(answerJson({}));
  const owner = await signIn(gateway);
  const { endpoint } = await add(owner);
  const place = `/accounts/${owner.account}`;
  const sendTest = () => owner.post(`${place}/alert-endpoints/${endpoint.id}/test`);
  await ok(sendTest());
  const [delivery] = await deliveries(owner);
  const sendAgain = () => owner.post(`${place}/alert-deliveries/${delivery!.id}/again`);
  for (let sent = 1; sent < 10; sent += 1) await ok(sent % 2 ? sendAgain() : sendTest());
  const count = (await deliveries(owner)).length;
  for (const refused of [await sendTest(), await sendAgain()]) {
    assert.deepEqual([refused.status, refused.headers['retry-after']], [429, '30']);
    assert.equal(refused.error.code, 'rate_limit_exceeded');
  }
  assert.equal((await deliveries(owner)).length, count);
  const other = await signIn(gateway);
  const { endpoint: others } = await add(other);
  await ok(other.post(`/accounts/${other.account}/alert-endpoints/${others.id}/test`));
  clock.jumpTo(clock.nowMs() + 30 * second);
  await ok(sendTest());
});
