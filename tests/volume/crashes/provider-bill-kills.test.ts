// Provider costs of calls whose gateway is killed with -9 are booked as losses. The provider keeps
// its own bill, as in `provider-bill.test.ts`, but in real time, and the built program is killed at
// random moments with many open calls: three client formats on all hosts, streamed and
// whole, thinking and not. Charges made before a kill match its bill to the microdollar, so the
// bill less the charges is the cost of the killed calls. TOLLGATE_KILLS: how often each of four
// gateways is killed.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { systemClock } from '../../../src/lib/clock.ts';
import {
  BillingProvider,
  billedModelsConfig,
  outputTokensMax,
} from '../../support/billing-provider.ts';
import { endpoints } from '../../support/endpoints.ts';
import { startGatewayProgram, upstreamKey, type TestGateway } from '../../support/gateway.ts';
import { hostProviders, modelHosts } from '../../support/model-hosts.ts';
import { createDatabase } from '../../support/postgres.ts';
import type { Program } from '../../support/program.ts';
import { Random } from '../../support/random.ts';
import { until } from '../../support/until.ts';

const gateways = 4;
const killsEach = Number(process.env['TOLLGATE_KILLS'] ?? 3);
const callsPerKill = 50;
/** All calls of a round start within this time. */
const arrivalMs = 5_000;
const biasMax = 0.02;
/** Random noise on the provider's speeds and counts. */
const noise = 0.1;
/** A limit for hangs only: longer than a killed process's lease plus a sweep. */
const hangMs = 180_000;

const provider = new BillingProvider(systemClock);
const random = new Random('provider-bill-kills');
let calls = 0;

type Store = {
  readonly name: string;
  readonly databaseUrl?: () => Promise<string>;
  readonly givesBackAtStart: boolean;
};

const stores: readonly Store[] = [
  { name: 'SQLite, each its own', givesBackAtStart: true },
  { name: 'one PostgreSQL database', databaseUrl: createDatabase, givesBackAtStart: false },
];

for (const store of stores) {
  test(`the provider's bill of calls killed in ${gateways} gateways on ${store.name} is booked as a loss`, async (t) => {
    const databaseUrl = await store.databaseUrl?.();
    const started = await Promise.all(
      Array.from({ length: gateways }, () => start(t, databaseUrl)),
    );
    await Promise.all(started.map((gateway) => killOverAndOver(gateway, store)));
    const table = new Map<Kind, Sums>(
      kinds.map((kind) => [kind, { calls: 0, billed: 0, charged: 0, killed: 0, lost: 0 }]),
    );
    for (const gateway of started) await addUp(gateway, table);
    const all = { bill: 0, lost: 0 };
    for (const [kind, { billed, charged, lost, ...counts }] of table) {
      const bill = billed - charged;
      all.bill += bill;
      all.lost += lost;
      t.diagnostic(
        `killed, ${kind}: ${counts.killed} of ${counts.calls} calls, billed ${bill}, lost ${lost}, bias ${percent(lost / bill - 1)}`,
      );
    }
    const bias = all.lost / all.bill - 1;
    t.diagnostic(`killed, all: billed ${all.bill}, lost ${all.lost}, bias ${percent(bias)}`);
    assert.ok(Math.abs(bias) <= biasMax, `billed ${all.bill}, lost ${all.lost}`);
  });
}

const kinds = ['streamed, plain', 'streamed, thinks', 'whole, plain', 'whole, thinks'] as const;
type Kind = (typeof kinds)[number];
type Sums = { calls: number; billed: number; charged: number; killed: number; lost: number };

type Buyer = { readonly key: string; readonly account: string; readonly names: string[] };
type Started = {
  readonly gateway: TestGateway<Program>;
  readonly buyers: ReadonlyMap<Kind, Buyer>;
};

async function start(t: TestContext, databaseUrl: string | undefined): Promise<Started> {
  const config = ({ url }: { readonly url: string }) => ({
    // Many programs run beside each other, and what delays them counts as output.
    server: { threads: 1 },
    providers: hostProviders(url, { api_key: upstreamKey }),
    models: billedModelsConfig(),
    log: { level: 'fatal' },
  });
  const gateway = await startGatewayProgram(
    config,
    databaseUrl === undefined ? {} : { databaseUrl },
  );
  t.after(() => gateway.stop());
  provider.serve(gateway.upstream);
  const buyers = new Map<Kind, Buyer>();
  for (const kind of kinds)
    buyers.set(kind, {
      ...(await gateway.makeKey({ mode: 'live', creditUsd: 10_000 })),
      names: [],
    });
  return { gateway, buyers };
}

async function killOverAndOver(
  { gateway, buyers }: Started,
  { givesBackAtStart }: Store,
): Promise<void> {
  for (let kill = 1; kill <= killsEach; kill++) {
    const asked = Array.from({ length: callsPerKill }, () => callAtSomeTime(gateway, buyers));
    await setTimeout(arrivalMs + 5_000 + random.below(15_000));
    await gateway.program.kill();
    const names = await Promise.all(asked);
    await gateway.program.start();
    if (givesBackAtStart)
      assert.equal(await heldBy(gateway, buyers), 0, 'a start releases all holds');
    await until(() => names.every((name) => provider.isIdle(name)), hangMs);
  }
  await until(async () => (await heldBy(gateway, buyers)) === 0, hangMs);
}

/** Resolves to the call's name when it has ended for its client. */
async function callAtSomeTime(gateway: TestGateway, buyers: Started['buyers']): Promise<string> {
  const kind = random.pick(kinds);
  const { key, names } = buyers.get(kind)!;
  const name = `e${++calls}`;
  const [shape, model] = kind.split(', ') as ['streamed' | 'whole', 'plain' | 'thinks'];
  const host = random.pick(modelHosts);
  // Anthropic's models think when asked, and show it.
  const isThinking = model === 'thinks' && host.wire !== 'messages';
  const aroundOne = () => 1 + (random.next() * 2 - 1) * noise;
  const plan = {
    outcome: 'answers',
    queueMs: 0,
    hiddenTokens: isThinking ? 300 + random.below(2_000) : 0,
    words: 800 + random.below(4_000),
    tokensPerSecond: 100 * aroundOne(),
    inputFactor: aroundOne(),
    until: 1,
  } as const;
  provider.plan(name, [plan]);
  names.push(name);
  const client = random.pick(endpoints);
  const prompt = `[${name}]${' the'.repeat(200 + random.below(3_000))}`;
  const fields =
    client.name === 'responses'
      ? { input: prompt }
      : { messages: [{ role: 'user', content: prompt }] };
  const stream = shape === 'streamed';
  const body = client.body({
    model: `${model}-${host.name}-100`,
    stream,
    [client.limitField]: outputTokensMax,
    ...fields,
  });
  await setTimeout(random.below(arrivalMs));
  try {
    for await (const _ of await gateway.open(client.path, { key, body }).response);
  } catch {
    // The gateway was killed.
  }
  return name;
}

async function heldBy(gateway: TestGateway, buyers: Started['buyers']): Promise<number> {
  const balances = await Promise.all(
    Array.from(buyers.values(), ({ account }) => gateway.balance(account)),
  );
  return balances.reduce((sum, { heldMicros }) => sum + heldMicros, 0);
}

async function addUp({ gateway, buyers }: Started, table: ReadonlyMap<Kind, Sums>): Promise<void> {
  const { read } = gateway.database;
  for (const [kind, { account, names }] of buyers) {
    const ledger = `${account}:live` as const;
    const charges = await read
      .selectFrom('charges')
      .select('upstream_cost_micros as cost')
      .where('ledger_id', '=', ledger)
      .execute();
    const losses = read
      .selectFrom('entries')
      .select('loss_micros as loss')
      .where('ledger_id', '=', ledger);
    const expired = await losses.where('kind', '=', 'expire').execute();
    const sums = table.get(kind)!;
    sums.calls += names.length;
    sums.billed += names.reduce((sum, name) => sum + provider.billedMicros(name), 0);
    sums.charged += charges.reduce((sum, { cost }) => sum + cost, 0);
    sums.killed += expired.length;
    sums.lost += expired.reduce((sum, { loss }) => sum + loss, 0);
    // On a busy machine a gateway can be killed, or refuse, before it has called the provider.
    const billed = names.filter((name) => provider.billedMicros(name) > 0).length;
    const ended = charges.length + expired.length;
    assert.ok(ended >= billed, `${billed} calls were billed, ${ended} were charged or killed`);
    assert.ok(ended <= names.length, `${ended} were charged or killed of ${names.length} calls`);
  }
}

function percent(part: number): string {
  return `${(part * 100).toFixed(2)} %`;
}
