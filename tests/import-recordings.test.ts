// The recorded databases of other gateways, read by the importers, against what the samples' writer
// expects of them. docs/moving.md says what comes; the samples have every oddity that is known.
import assert from 'node:assert/strict';
import { openForeign } from '../src/db/foreign.ts';
import { readNewApi } from '../src/domain/imports/new-api.ts';
import type { ImportPlan } from '../src/domain/imports/plan.ts';
import { usdFromMicros } from '../src/lib/money.ts';
import { makeForeign, testRecorded } from './support/foreign-samples.ts';

/** The day of the samples. */
const nowMs = Date.parse('2026-11-27T00:00:00Z');
const resolve = () => null;

type OneApiExpected = {
  readonly balances_usd: Readonly<Record<string, number>>;
  readonly prices_default_group: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly prices_vip: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly tiered: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly tokens: readonly {
    readonly name: string;
    readonly key_shown?: string;
    readonly lifetime_cap_left_usd?: number;
    readonly carry?: string;
    readonly models?: readonly string[];
    readonly networks?: string;
  }[];
};

const named: Readonly<Record<string, string>> = {
  cache_write_5m: 'cache_write',
  input: 'input',
  output: 'output',
  cache_read: 'cache_read',
  cache_write_1h: 'cache_write_1h',
};

async function plan(url: string): Promise<ImportPlan> {
  const source = await openForeign(url);
  try {
    return await readNewApi(source, { resolve, nowMs });
  } finally {
    await source.close();
  }
}

for (const product of ['one-api', 'new-api'])
  for (const store of ['sqlite', 'postgres'] as const)
    testRecorded(
      `${product} on ${store}: balances, prices and tokens are as expected`,
      async (read) => {
        const expected = JSON.parse(read('one-api/expected.json')) as OneApiExpected;
        // No channel of the sample has the model with a tiered price.
        const routed = `update channels set models = 'gpt-x-made-up,gpt-y-made-up,tier-x-made-up' where id = 1`;
        const url = await makeForeign(
          store,
          read(`${product}/schema.${store}.sql`),
          read(`${product}/sample.${store}.sql`),
          routed,
        );
        const { accounts, keys, fragment, others } = await plan(url);
        const isNewApi = product === 'new-api';

        const balances = accounts.map(({ name, balanceMicros }) => [
          { 'Root User': 'root', Ada: 'ada', Bob: 'bob' }[name],
          usdFromMicros(balanceMicros),
        ]);
        assert.deepEqual(Object.fromEntries(balances), expected.balances_usd);
        assert.deepEqual(
          accounts.map(({ result }) => result),
          ['comes', 'comes', 'disabled'],
        );

        const priceOf = (model: string) => fragment.models[model]!.prices as Record<string, number>;
        const assertPrices = (
          model: string,
          prices: Readonly<Record<string, unknown>>,
          factor = 1,
        ) => {
          for (const [field, price] of Object.entries(prices))
            if (isNewApi || !field.startsWith('cache'))
              assert.equal(priceOf(model)[named[field]!]! * factor, price, `${model} ${field}`);
        };
        for (const [model, prices] of Object.entries(expected.prices_default_group)) {
          if (typeof prices['output'] === 'number') assertPrices(model, prices);
          else {
            // Its completion ratio is compiled into the product.
            assert.equal(fragment.models[model]!.prices, undefined);
            const line = others.find(({ kind, name }) => kind === 'model' && name === model)!;
            assert.match(line.notes.join(), /completion ratio is built into the product/);
          }
        }
        const [, vip] = accounts;
        assert.equal(vip!.priceMultiplierPpm, 800_000);
        for (const [model, prices] of Object.entries(expected.prices_vip))
          assertPrices(model, prices, 0.8);
        if (isNewApi)
          for (const [model, prices] of Object.entries(expected.tiered))
            assertPrices(model, prices);

        for (const token of expected.tokens) {
          const key = keys.find(({ name }) => name === token.name)!;
          if (token.key_shown !== undefined) assert.deepEqual(key.text, { plain: token.key_shown });
          if (token.carry !== undefined) assert.equal(key.result, token.carry, token.name);
          else assert.equal(key.result, 'comes', token.name);
          if (token.models !== undefined) {
            assert.deepEqual(key.models, token.models);
            assert.equal(key.lifetimeCapMicros, null);
            assert.deepEqual(
              key.allowedAddresses,
              isNewApi ? ['10.0.0.0/8', '192.0.2.7'] : ['10.0.0.0/8'],
            );
          }
          if (token.lifetime_cap_left_usd !== undefined) {
            assert.equal(usdFromMicros(key.lifetimeCapMicros!), token.lifetime_cap_left_usd);
            assert.ok(key.losesCap);
            assert.match(key.notes.join(), /\$5\.00 are left/);
          }
        }

        // One key of two is disabled in new-api; one-api cannot disable one.
        const deepSeeks = Object.values(fragment.providers).filter(
          ({ base_url: address }) => address === 'https://api.deepseek.com/v1',
        );
        assert.deepEqual(
          deepSeeks.map(({ api_key: key }) => key),
          isNewApi ? ['ds-1'] : ['ds-1', 'ds-2'],
        );
        assert.deepEqual(fragment.models['gpt-y-made-up']!.routes, [
          { provider: 'openai', model: 'gpt-x-made-up', rank: 0, weight: 1 },
        ]);
        const azure = others.find(({ name }) => name === 'Azure, disabled by itself')!;
        assert.equal(azure.result, 'stays');
      },
    );
