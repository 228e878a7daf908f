// Kills the program with -9 while it delivers events, many times: each payment that it confirmed is told
// to every webhook, and what comes twice has the same id. Meanwhile receivers fail, hesitate and cut their
// connections. On PostgreSQL two gateways deliver, and are killed in turn. TOLLGATE_KILLS: how often on
// each store.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { type DashboardClient, signIn } from '../support/dashboard.ts';
import { TestGateway } from '../support/gateway.ts';
import { jsonOf } from '../support/http.ts';
import { createDatabase } from '../support/postgres.ts';
import { type Program, startProgram } from '../support/program.ts';
import { rowsOf } from '../support/rows.ts';
import { startStripe, type LocalStripe, type Payment } from '../support/stripe.ts';
import { startUpstream, type Script } from '../support/upstream.ts';
import { until } from '../support/until.ts';
import { scaled } from '../support/volume.ts';
import {
  isSigned,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../support/webhook-receiver.ts';

const kills = Number(process.env['TOLLGATE_KILLS'] ?? scaled(2, 12));
const paymentsPerKill = 3;
const webhooks = 3;
/** A limit for hangs only. What a killed gateway had taken is tried again when its lease ends. */
const hangMs = 240_000;
const isFull = kills >= 20;
const leaseMs = 60_000;
const stores = [
  { name: 'SQLite', gateways: 1, databaseUrl: async () => undefined },
  { name: 'PostgreSQL, by two gateways', gateways: 2, databaseUrl: createDatabase },
] as const;

for (const store of stores) {
  test(`${kills} kills on ${store.name} lose no event, and give none a second id`, async (t) => {
    const run = await start(t, store.gateways, await store.databaseUrl());
    for (let kill = 0; kill < kills; kill++) {
      const program = run.programs[kill % run.programs.length]!;
      const paying = Promise.all(Array.from({ length: paymentsPerKill }, () => pay(run, program)));
      await setTimeout(Math.random() * 250);
      await program.kill();
      await program.start();
      await paying;
    }
    const { database } = run.gateway;
    if (!isFull) await endLeases(run);
    await until(
      async () => (await rowsOf(database, 'event_deliveries')).every((row) => row.delivered_at_ms),
      hangMs,
    );
    const events = await rowsOf(database, 'events', { type: 'payment.received' });
    assert.equal(events.length, kills * paymentsPerKill);
    let repeated = 0;
    for (const { receiver, secret } of run.hooks) {
      const messages = receiver.of('payment.received');
      const ids = new Map<string, Set<string>>();
      for (const message of messages) {
        assert.ok(isSigned(message, secret));
        const { payment_id: payment } = message.body.data as { payment_id: string };
        ids.set(payment, (ids.get(payment) ?? new Set()).add(message.id));
      }
      assert.deepEqual([...ids.keys()].toSorted(), run.paid.toSorted(), 'no payment is lost');
      assert.ok(
        [...ids.values()].every(({ size }) => size === 1),
        'a payment has two ids',
      );
      repeated += messages.length - ids.size;
    }
    t.diagnostic(
      `${kills} kills: ${run.paid.length} payments told to ${webhooks} webhooks, ${repeated} messages repeated under their ids, 0 lost, 0 with a second id`,
    );
  });
}

/** Instead of waiting for their end. */
async function endLeases({ gateway: { database } }: Run): Promise<void> {
  await database.write
    .updateTable('event_deliveries')
    .set((eb) => ({ next_at_ms: eb('next_at_ms', '-', leaseMs) }))
    .where('next_at_ms', 'is not', null)
    .execute();
}

type Hook = { readonly receiver: WebhookReceiver; readonly secret: string };
type Run = {
  readonly programs: readonly Program[];
  readonly gateway: TestGateway<Program>;
  readonly owner: DashboardClient;
  readonly stripe: LocalStripe;
  readonly hooks: readonly Hook[];
  /** The ids of payments that were confirmed. */
  readonly paid: string[];
};

async function start(t: TestContext, count: number, databaseUrl?: string): Promise<Run> {
  const stripe = await startStripe(t);
  const receivers = await Promise.all(
    Array.from({ length: webhooks }, () => startWebhookReceiver(t)),
  );
  const config = {
    stripe: stripe.config,
    alerts: { allowed_hosts: receivers.map(({ host }) => host) },
    server: { threads: 1 },
    log: { level: 'error' },
  };
  const programs: Program[] = [];
  for (let index = 0; index < count; index++)
    programs.push(await startProgram({ config, ...(databaseUrl && { databaseUrl }) }));
  const gateway = new TestGateway(programs[0]!, await startUpstream(t));
  t.after(async () => {
    await gateway.database.close();
    for (const program of programs) await program.stop();
  });
  const owner = await signIn(gateway);
  const hooks: Hook[] = [];
  for (const receiver of receivers) {
    receiver.answer(failOnce());
    const body = { kind: 'webhook', address: receiver.url };
    const sent = owner.post(`/accounts/${owner.account}/alert-endpoints`, body);
    hooks.push({ receiver, secret: (await jsonOf<{ secret: string }>(sent)).secret });
  }
  return { programs, gateway, owner, stripe, hooks, paid: [] };
}

/** Fails the first attempts of some messages; the wait before a third would be long. */
function failOnce(): Script {
  const seen = new Set<string>();
  return async (response, { headers }) => {
    const id = String(headers['webhook-id']);
    const chance = seen.has(id) ? 1 : Math.random();
    seen.add(id);
    if (chance < 0.1) return void response.destroy();
    if (chance < 0.4) await setTimeout(Math.random() * 200);
    response.writeHead(chance < 0.2 ? 503 : 204).end();
  };
}

/** Pays, and sends the event again until it is confirmed, as Stripe does. */
async function pay({ gateway, owner, stripe, paid }: Run, program: Program): Promise<void> {
  const payment = await openPayment(gateway, owner, stripe);
  const event = stripe.completed(payment);
  await until(async () => {
    stripe.sendTo(program.url);
    const reply = await stripe.deliver(event).catch(() => null);
    return reply?.status === 200;
  }, hangMs);
  paid.push(payment.intent);
}

/** A checkout without Stripe's API, where a program of its own would not be led. */
async function openPayment(
  { database }: TestGateway<Program>,
  { account, userId }: DashboardClient,
  stripe: LocalStripe,
): Promise<Payment> {
  const id = `top_${randomUUID()}`;
  const session = stripe.open(
    {
      'line_items[0][price_data][unit_amount]': '1000',
      'line_items[0][price_data][currency]': 'usd',
      client_reference_id: id,
      'metadata[top_up]': id,
      'metadata[account]': account,
    },
    id,
  );
  await database.write
    .insertInto('top_ups')
    .values({
      id,
      account_id: account,
      user_id: userId,
      amount_micros: 10_000_000 as never,
      state: 'open',
      checkout_url: session.url,
      checkout_id: session.id,
      created_at_ms: Date.now(),
    })
    .execute();
  return stripe.paymentOf(session.url);
}
