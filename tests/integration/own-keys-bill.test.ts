// What a provider bills to each credential agrees with the books: the operator's bill is booked as the
// cost of charges and as losses, that of an own key nowhere, whatever becomes of its calls. What an
// own key has answered is charged by its part of the price.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  BillingProvider,
  billedModelsConfig,
  outputTokensMax,
  type CallOutcome,
} from '../support/billing-provider.ts';
import { adminOf } from '../support/admin.ts';
import { endpoints } from '../support/endpoints.ts';
import { startGateway, upstreamKey } from '../support/gateway.ts';
import { hostProviders, modelHosts } from '../support/model-hosts.ts';
import { noticeKeyChanges } from '../support/notice-key-changes.ts';
import { Random } from '../support/random.ts';
import { TestClock } from '../support/test-clock.ts';
import { until } from '../support/until.ts';

const outcomes: readonly CallOutcome[] = [
  'answers',
  'answers',
  'refuses',
  'breaks off',
  'falls silent',
  'answers nonsense',
];
const accounts = 3;
const episodesOfEach = 16;
const models = modelHosts.map(({ name }) => `plain-${name}-500`);
const providers = [...new Set(modelHosts.map(({ route }) => route.provider))];

const clock = new TestClock();
const provider = new BillingProvider(clock);
const gateway = await startGateway(
  ({ url }) => ({
    providers: hostProviders(url, { api_key: upstreamKey, accounts_may_bring_keys: true }),
    models: billedModelsConfig(),
    pricing: { own_key_percent: 10, own_key_fee: 0.000007 },
    retries: { max_attempts: 3 },
    log: { level: 'fatal' },
  }),
  { clock, tuning: { backoffMs: 1, retriesMin: 1_000, failuresMax: 1_000 } },
);
provider.serve(gateway.upstream);
after(() => gateway.stop());

async function sumOf(column: 'upstream_cost_micros' | 'loss_micros'): Promise<number> {
  const { read } = gateway.database;
  const rows =
    column === 'loss_micros'
      ? await read.selectFrom('entries').select('loss_micros as value').execute()
      : await read.selectFrom('charges').select('upstream_cost_micros as value').execute();
  return rows.reduce((sum, { value }) => sum + Number(value ?? 0), 0);
}

test('each credential is billed what the books say', async (t) => {
  const random = new Random('own-keys-bill');
  const admin = await adminOf(gateway);
  const buyers = await Promise.all(
    Array.from({ length: accounts }, () => gateway.makeKey({ mode: 'live', creditUsd: 1_000 })),
  );
  const secretOf = (account: string, name: string) => `sk-own-${name}-${account}`;
  for (const { account } of buyers)
    for (const name of providers)
      await admin.ok('POST', `/accounts/${account}/own-keys`, {
        body: {
          provider: name,
          api_key: secretOf(account, name),
        },
      });
  await noticeKeyChanges(gateway, { clock });
  let number = 0;
  const play = async ({ key, account }: { key: string; account: string }): Promise<void> => {
    for (let episode = 0; episode < episodesOfEach; episode++) {
      const name = `e${number++}`;
      const client = random.pick(endpoints);
      const stream = random.chance(0.5);
      const planOf = (outcome: CallOutcome) => ({
        outcome,
        queueMs: 0,
        hiddenTokens: 0,
        words: 50 + random.below(300),
        tokensPerSecond: 500,
        inputFactor: 1,
        until: 0.5,
      });
      provider.plan(name, [planOf(random.pick(outcomes)), planOf('answers')]);
      const prompt = `[${name}]${' the'.repeat(200 + random.below(500))}`;
      const fields =
        client.name === 'responses'
          ? { input: prompt }
          : { messages: [{ role: 'user', content: prompt }] };
      const reply = await gateway.post(client.path, {
        key,
        body: client.body({
          model: random.pick(models),
          stream,
          [client.limitField]: outputTokensMax,
          ...fields,
        }),
      });
      await until(
        async () => (await gateway.balance(account)).heldMicros === 0 && provider.isIdle(name),
      );
      const requestId = String(reply.headers['x-request-id']);
      const charge = await gateway.database.read
        .selectFrom('charges')
        .selectAll()
        .where('id', '=', requestId)
        .executeTakeFirst();
      if (!charge?.provider.endsWith(':own')) continue;
      assert.equal(Number(charge.upstream_cost_micros), 0);
      const { input, output } = provider.bills.get(name)!.at(-1)!;
      // $1 and $8 a million: a tenth of it, and a fee of 7 microdollars.
      if (charge.ending === 'complete')
        assert.equal(Number(charge.cost_micros), Math.ceil((input + 8 * output) / 10) + 7);
    }
  };
  const state = { isOver: false };
  const all = Promise.all(buyers.map(play)).finally(() => (state.isOver = true));
  while (!state.isOver) await clock.advance(50);
  await all;
  const owns = buyers.flatMap(({ account }) => providers.map((name) => secretOf(account, name)));
  const ownMicros = owns.reduce((sum, secret) => sum + provider.billedToMicros(secret), 0);
  const operatorMicros = provider.billedToMicros(upstreamKey);
  t.diagnostic(`billed to own keys ${ownMicros}, to the operator ${operatorMicros}`);
  assert.ok(ownMicros > 0 && operatorMicros > 0);
  assert.deepEqual(
    [...provider.byCredential.keys()].filter((one) => one !== upstreamKey && !owns.includes(one)),
    [],
  );
  const booked = (await sumOf('upstream_cost_micros')) + (await sumOf('loss_micros'));
  // The operator's calls all answer with their counts, so nothing of this is estimated.
  assert.equal(booked, operatorMicros);
});
