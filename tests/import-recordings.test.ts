// The recorded databases of other gateways, read by the importers, against what the samples' writer
// expects of them. docs/moving.md says what comes; the samples have every oddity that is known.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { type ForeignRow, openForeign } from '../src/db/foreign.ts';
import { loadCatalog } from '../src/domain/catalog/load-catalog.ts';
import { fragmentText } from '../src/domain/imports/plan-draft.ts';
import { unseal } from '../src/domain/imports/litellm-models.ts';
import { readLiteLlm } from '../src/domain/imports/litellm.ts';
import { readNewApi } from '../src/domain/imports/new-api.ts';
import type { ImportPlan } from '../src/domain/imports/plan.ts';
import { plainDigest, plainDigestOf } from '../src/domain/keys/key-text.ts';
import { usdFromMicros, zeroMicros } from '../src/lib/money.ts';
import { loadYaml } from './support/config-file.ts';
import { makeForeign, testRecorded } from './support/foreign-samples.ts';

/** The day of the samples. */
const nowMs = Date.parse('2026-11-27T00:00:00Z');
const resolve = () => null;
const context = { resolve, nowMs, creditMicros: zeroMicros };

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

async function planOf(url: string): Promise<ImportPlan> {
  const source = await openForeign(url);
  try {
    return await readNewApi(source, { resolve, nowMs });
  } finally {
    await source.close();
  }
}

test('an address of LiteLLM loses the version and the endpoint that its kind adds here', async () => {
  // LiteLLM adds to the last what it adds to any path.
  const ends = ['/v1/messages', '/v1/', '', '/anthropic', '/messages'];
  const deployments = [
    ...ends.map((end) => ['anthropic/claude-x', `https://a.example${end}`]),
    ['gemini/gemini-x', 'https://g.example/v1beta'],
    ['deepseek/x', 'https://d.example/v1/chat/completions'],
  ];
  const model_list = deployments.map(([model, api_base], index) => ({
    model_name: `m${index}`,
    litellm_params: { model, api_base, api_key: `k${index}` },
  }));
  const source = { config: { model_list }, database: null, saltKey: null };
  const { fragment } = await readLiteLlm(source, context);
  const addresses = Object.values(fragment.providers).map((provider) =>
    'base_url' in provider ? provider.base_url : null,
  );
  const plain = 'https://a.example';
  assert.deepEqual(addresses, [
    plain,
    plain,
    plain,
    `${plain}/anthropic`,
    `${plain}/messages`,
    'https://g.example',
    'https://d.example/v1',
  ]);
});

test('a custom channel of new-api has the address of the call itself, or of its host', async () => {
  const ends = ['/api/v3/chat/completions', '/v1/chat/completions/', ''];
  const channels = ends.map((end, index) => {
    const texts = { name: `c${index}`, key: `k${index}`, models: `m${index}` };
    return { type: '8', status: '1', base_url: `https://c.example${end}`, ...texts };
  });
  const source = {
    has: () => Promise.resolve(true),
    rows: (table: string) => Promise.resolve(table === 'channels' ? channels : []),
    close: () => Promise.resolve(),
  };
  const { fragment } = await readNewApi(source, context);
  const addresses = Object.values(fragment.providers).map((provider) =>
    'base_url' in provider ? provider.base_url : null,
  );
  const versions = ['/api/v3', '/v1', '/v1'];
  assert.deepEqual(
    addresses,
    versions.map((version) => `https://c.example${version}`),
  );
});

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
        const found = await planOf(url);
        assertLoads(found);
        const { accounts, keys, fragment, others } = found;
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
        const [main, deepSeek] = Object.entries(fragment.providers).find(
          ([, one]) => 'base_url' in one && one.base_url === 'https://api.deepseek.com/v1',
        )!;
        const further = Object.values(fragment.providers).filter(
          (one) => 'credential_of' in one && one.credential_of === main,
        );
        assert.deepEqual(
          [deepSeek, ...further].map(({ api_key: key }) => key),
          isNewApi ? ['ds-1'] : ['ds-1', 'ds-2'],
        );
        assert.deepEqual(fragment.models['gpt-y-made-up']!.routes, [
          { provider: 'openai', model: 'gpt-x-made-up', rank: 0, weight: 1 },
        ]);
        const azure = others.find(({ name }) => name === 'Azure, disabled by itself')!;
        assert.equal(azure.result, 'stays');
      },
    );

type LiteLlmExpected = {
  readonly keys: readonly {
    readonly alias: string;
    readonly carry: boolean | 'disabled';
    readonly daily_cap_usd?: number | null;
    readonly monthly_cap_usd?: number | null;
    readonly lifetime_cap_usd?: number;
    readonly models?: readonly string[];
    readonly rpm?: number;
    readonly lost?: readonly string[];
  }[];
};

type Vectors = {
  readonly litellm: {
    readonly salt_key: string;
    readonly key_hashes: readonly { readonly key: string; readonly sha256_hex: string }[];
    readonly ciphertexts: readonly { readonly plain: string; readonly stored: string }[];
  };
};

/** What is told of what `expected.json` calls lost. The first two and `tpm` are kept here. */
const told: Readonly<Record<string, RegExp | null>> = {
  'max_parallel_requests if the target has none': null,
  tpm: null,
  'soft budget': /soft budget/,
  '7d window has no daily or monthly counterpart': /\$7\.00 in 7d/,
  'per-model budget': /budgets of single models/,
  'wildcard openai/*': /the pattern openai\/\*/,
};

testRecorded(
  'litellm: keys, models and aliases of the newest schema are as expected',
  async (read) => {
    const expected = JSON.parse(read('litellm/expected.json')) as LiteLlmExpected;
    const vectors = (JSON.parse(read('litellm/vectors.json')) as Vectors).litellm;
    const plan = await readSample(read, '2026-10', vectors.salt_key);
    assertLoads(plan);
    const dollarsOf = (value: number | null | undefined) =>
      typeof value === 'number' ? value / 1_000_000 : null;
    for (const { alias, carry, ...about } of expected.keys) {
      const key = plan.keys.find(({ name }) => name.startsWith(`${alias}:`))!;
      // The row of a chosen key without sk- looks like any other. It comes, and opens nothing:
      // tests/integration/import-litellm.test.ts.
      const isUnknowable = alias === 'custom';
      const result = isUnknowable || carry === true ? 'comes' : carry === false ? 'stays' : carry;
      assert.equal(key.result, result, alias);
      if (result === 'stays') continue;
      // A lifetime budget that allows nothing is a daily cap of 0.
      const daily = about.lifetime_cap_usd === 0 ? 0 : about.daily_cap_usd;
      if (daily !== undefined) assert.equal(dollarsOf(key.dailyCapMicros), daily, alias);
      if (about.monthly_cap_usd !== undefined)
        assert.equal(dollarsOf(key.monthlyCapMicros), about.monthly_cap_usd, alias);
      if (about.lifetime_cap_usd !== undefined)
        assert.equal(dollarsOf(key.lifetimeCapMicros), about.lifetime_cap_usd);
      if (about.models !== undefined) assert.deepEqual(key.models, about.models, alias);
      if (about.rpm !== undefined) assert.equal(key.requestsPerMinute, about.rpm, alias);
      for (const lost of about.lost ?? [])
        if (told[lost]) assert.match(key.notes.join(), told[lost], `${alias}: ${lost}`);
        else assert.equal(told[lost], null, lost);
    }
    const keyOf = (alias: string) => plan.keys.find(({ name }) => name.startsWith(alias))!;
    assert.equal(keyOf('alpha').concurrentRequests, 2);
    assert.equal(keyOf('beta').tokensPerMinute, 100_000);
    assert.deepEqual(keyOf('beta').notes, ['soft budget']);
    assert.match(keyOf('eps').notes.join(), /limits of single models/);
    assert.deepEqual(plan.fragment.aliases, { best: 'claude-a', fast: 'gpt-a', mine: 'claude-a' });

    const hashes = new Map(vectors.key_hashes.map(({ key, sha256_hex: sha256 }) => [sha256, key]));
    for (const key of plan.keys) assert.ok('sha256' in key.text && hashes.has(key.text.sha256));
    for (const [sha256, key] of hashes) assert.equal(plainDigestOf(key), plainDigest(sha256));
    // The text before beta's rotation.
    const [old] = keyOf('beta').earlier!;
    assert.equal(hashes.get(old!.sha256), 'sk-bbbbbbbbbbbbbbbbbbbbbb');
    assert.deepEqual(old!.expiresAtMs, Date.parse('2026-12-05T00:00:00Z'));
    for (const { plain, stored } of vectors.ciphertexts)
      assert.equal(unseal(stored, vectors.salt_key), plain);
    for (const { stored } of vectors.ciphertexts)
      assert.equal(typeof unseal(stored, 'another'), 'symbol');

    const { providers, models: routed } = plan.fragment;
    const keysAt = (model: string) =>
      routed[model]!.routes.map((route) => [route.model, providers[route.provider]!.api_key]);
    // The deployment with an order comes before the one without.
    assert.deepEqual(
      routed['gpt-a']!.routes.map(({ model, rank }) => [model, rank]),
      [
        ['gpt-x-made-up', 1],
        ['gpt-x-made-up', 1_000],
      ],
    );
    assert.deepEqual(
      keysAt('claude-a').map(([model]) => model),
      ['claude-x-made-up', 'claude-x-made-up'],
    );
    assert.ok(
      Object.values(providers).some(({ api_key: key }) => key.startsWith('sk-')),
      'opened with the salt key',
    );
    assert.deepEqual(routed['gpt-a']!.prices, { input: 1.25, output: 10, cache_read: 0.125 });
    assert.deepEqual(routed['claude-a']!.prices, {
      input: 3,
      output: 15,
      cache_write: 3.75,
      cache_read: 0.3,
    });
    const stays = (kind: string, name: string) =>
      plan.others.filter(
        (line) => line.kind === kind && line.name === name && line.result === 'stays',
      );
    assert.match(stays('model', 'openai/*')[0]!.notes.join(), /a pattern/);
    assert.match(stays('model', 'bedrock-a')[0]!.notes.join(), /bedrock/);
    assert.match(stays('model', 'gpt-a')[0]!.notes.join(), /azure/);
    for (const name of [
      'fallbacks of gpt-a',
      'timezone Europe/Berlin',
      'max_budget of the whole proxy',
    ])
      assert.ok(stays('other', name).length > 0, name);
  },
);

for (const version of ['2025-03', '2025-12', '2026-10'])
  testRecorded(
    `litellm: the schema of ${version} is read with the columns that it has`,
    async (read) => {
      const url = await makeForeign(
        'postgres',
        read(`litellm/schema-${version}.sql`),
        `insert into "LiteLLM_VerificationToken" (token, key_name, max_budget, budget_duration, models) values
        ('${'ab'.repeat(32)}', 'sk-...wxyz', 1e-7, '1d', '{a,"b c"}'), ('${'cd'.repeat(32)}', null, 'NaN', '1d', null)`,
      );
      const source = await openForeign(url);
      const { keys } = await readLiteLlm({ config: {}, database: source, saltKey: null }, context);
      await source.close();
      // Less than a microdollar allows nothing; not a number is no limit.
      assert.deepEqual(
        keys.map((key) => [key.result, key.dailyCapMicros, key.models]),
        [
          ['comes', 0, ['a', 'b c']],
          ['comes', null, null],
        ],
      );
    },
  );

/** The written file starts a gateway, with these ids of models. */
function assertLoads({ fragment }: ImportPlan): void {
  const catalog = loadCatalog(loadYaml(fragmentText(fragment, 'a test')));
  for (const id of Object.keys(fragment.models)) assert.equal(catalog.resolve(id)?.id, id);
  for (const [alias, id] of Object.entries(fragment.aliases))
    assert.equal(catalog.resolve(alias)?.id, id);
}

async function readSample(
  read: (file: string) => string,
  version: string,
  saltKey: string,
): Promise<ImportPlan> {
  const url = await makeForeign(
    'postgres',
    read(`litellm/schema-${version}.sql`),
    read(`litellm/sample-${version}.sql`),
  );
  const database = await openForeign(url);
  const config = parse(read('litellm/config.yaml')) as object as ForeignRow;
  try {
    return await readLiteLlm({ config, database, saltKey }, context);
  } finally {
    await database.close();
  }
}
