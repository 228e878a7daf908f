import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { loadYaml, testFaults } from '../../../tests/support/config-file.ts';
import { loadCatalog, type BuiltInCatalog } from './load-catalog.ts';

const builtIn: BuiltInCatalog = {
  as_of: '2026-11-10',
  models: [
    {
      id: 'gpt-x',
      display_name: 'GPT X',
      owned_by: 'openai',
      created: '2026-01-02',
      created_is: 'release',
      context_tokens: 1_000,
      max_input_tokens: 900,
      max_output_tokens: 100,
      supports: { thinking: true, streaming: true, vision: true, audio: false, tools: true },
      routes: [{ provider: 'openai', model: 'gpt-x', api: 'responses' }],
      prices: [
        { input: 1, output: 2, cache_read: 0.1 },
        {
          effective_from: '2027-01-01',
          input: 3,
          output: 4,
          tiers: [{ above_input_tokens: 500, input: 5, output: 6, cache_write: 7 }],
        },
      ],
    },
  ],
};

/** The defaults of a route. */
const plain = {
  rank: 0,
  weight: 1,
  contextTokens: null,
  lacks: new Set<string>(),
  costPpm: 1_000_000,
  batchModel: null,
};

function load(yaml: string, env: Record<string, string> = { OPENAI_API_KEY: 'k' }) {
  return loadCatalog(loadYaml(yaml, env), builtIn);
}

function isLive(yaml: string, env?: Record<string, string>): boolean {
  const catalog = load(yaml, env);
  return catalog.liveRoutes(catalog.resolve('gpt-x')!).length > 0;
}

test('routes are ordered by rank, and by position when they have none', () => {
  const fields = ['a, rank: 2', 'b', 'c', 'd, rank: 0, weight: 5'];
  const routes = fields.map((one) => `{ provider: ollama, model: ${one} }`).join(', ');
  const yaml = `models: { m: { routes: [${routes}], timeouts: { idle_ms: 5 } } }`;
  const model = load(yaml).resolve('m')!;
  assert.deepEqual(
    model.routes.map(({ upstreamModel, rank, weight }) => [upstreamModel, rank, weight]),
    [
      ['d', 0, 5],
      ['b', 1, 1],
      ['a', 2, 1],
      ['c', 2, 1],
    ],
  );
  assert.deepEqual(model.timeouts, { idle_ms: 5 });
});

describe('a built-in model', () => {
  test('is read completely, with prices newest first in picodollars a token', () => {
    const [model] = load('').list();
    assert.equal(model!.createdAtSeconds, Date.UTC(2026, 0, 2) / 1_000);
    assert.deepEqual(model!.routes, [
      { provider: 'openai', upstreamModel: 'gpt-x', api: 'responses', ...plain },
    ]);
    const picos = (...usd: number[]) => {
      const [input, output, cacheRead, cacheWrite, cacheWrite1h] = usd.map((one) => one * 1e6);
      return { input, output, cacheRead, cacheWrite, cacheWrite1h };
    };
    const tiers = [{ aboveInputTokens: 500, prices: picos(5, 6, 5, 7, 10) }];
    const newer = { version: '2027-01-01', effectiveFromMs: Date.UTC(2027, 0, 1), tiers };
    const older = { version: '0', effectiveFromMs: 0, tiers: [] };
    const common = { isListPrice: false, variants: [] };
    assert.deepEqual(model!.prices, [
      { ...newer, ...common, base: picos(3, 4, 3, 3, 6) },
      { ...older, ...common, base: picos(1, 2, 0.1, 1, 2) },
    ]);
  });

  test('keeps fields that are not overridden', () => {
    const yaml = 'models: { gpt-x: { display_name: Mine, supports: { vision: false } } }';
    const [model] = load(yaml).list();
    const kept = { displayName: 'Mine', ownedBy: 'openai', maxInputTokens: 900 };
    assert.partialDeepStrictEqual(model, kept);
    assert.deepEqual(model!.supports, { ...builtIn.models[0]!.supports, vision: false });
    assert.equal(model!.prices[0]!.isListPrice, false);
  });

  test('has an overridden price as a list price', () => {
    const [model] = load('models: { gpt-x: { prices: { input: 9, output: 9 } } }').list();
    assert.deepEqual(
      model!.prices.map(({ isListPrice, base }) => [isListPrice, base.input]),
      [[true, 9_000_000]],
    );
  });

  test('never accepts more input than its context after an override', () => {
    const [smaller] = load('models: { gpt-x: { context_tokens: 50 } }').list();
    const most = { contextTokens: 50, maxInputTokens: 50, maxOutputTokens: 50 };
    assert.partialDeepStrictEqual(smaller, most);
    const [larger] = load('models: { gpt-x: { max_input_tokens: 5000 } }').list();
    const more = { contextTokens: 5_000, maxInputTokens: 5_000, maxOutputTokens: 100 };
    assert.partialDeepStrictEqual(larger, more);
  });

  test('drops a format that the reconfigured provider does not speak', () => {
    const openai = '{ kind: openai-compatible, base_url: "http://h/v1", api_key: none }';
    const [model] = load(`providers: { openai: ${openai} }`).list();
    assert.equal(model!.routes[0]!.api, null);
  });

  test('has a live route only while its provider is enabled', () => {
    assert(isLive(''));
    assert(!isLive('', {}));
    assert(!isLive('providers: { openai: { enabled: false } }'));
    assert(!isLive('providers: { openai: { api_key: "${MISSING}" } }'));
  });
});

describe('a new model', () => {
  const modelOf = (fields = '') =>
    `models: { m: { routes: [{ provider: ollama, model: m }], ${fields} } }`;

  test('needs only a route', () => {
    const yaml = 'models: { acme/one: { routes: [{ provider: ollama, model: one }] } }';
    const model = load(yaml).resolve('acme/one')!;
    assert.deepEqual(model, {
      id: 'acme/one',
      type: 'chat',
      dimensions: null,
      displayName: 'acme/one',
      ownedBy: 'ollama',
      createdAtSeconds: Date.UTC(2026, 10, 10) / 1_000,
      contextTokens: 144_384,
      maxInputTokens: 128_000,
      maxOutputTokens: 16_384,
      supports: { thinking: false, streaming: true, vision: false, audio: false, tools: true },
      routes: [{ provider: 'ollama', upstreamModel: 'one', api: null, ...plain }],
      prices: [],
      toolPrices: {},
      timeouts: {},
      retirement: null,
      passFields: new Set(),
      marksCache: true,
    });
  });

  test("has its entry's tool prices, and warns about a price of 0 in the model or provider", () => {
    const priced = load(
      modelOf('prices: { input: 1, output: 1 }, tool_prices: { web_search: 0.02 }'),
    );
    assert.deepEqual(priced.resolve('m')!.toolPrices, { web_search: 0.02 });
    assert.deepEqual(priced.warnings, []);
    const free = load(modelOf('prices: { input: 1, output: 1 }, tool_prices: { web_search: 0 }'));
    const warned = 'is partly free of charge: its price is 0 for web_search.';
    assert.deepEqual(free.warnings, [`The model m ${warned}`]);
    const prices = '{ web_search: 0, web_search_preview: null }';
    const provider = load(`providers: { ollama: { tool_prices: ${prices} } }`);
    assert.deepEqual(provider.warnings, [`The provider ollama ${warned}`]);
  });

  test('gives a warning without a price, or with a price of 0', () => {
    const unpriced = 'The model m has no price, so it never runs; set models.m.prices.';
    assert.deepEqual(load(modelOf()).warnings, [unpriced]);
    const free = load(modelOf('prices: { input: 0, output: 1 }'));
    assert.match(free.warnings.join(), /m is partly free .* 0 for input\./);
    assert.deepEqual(load(modelOf('prices: { input: 1, output: 1 }')).warnings, []);
  });
});

describe('an alias', () => {
  test('refers to a model by its id or another of its names', () => {
    const catalog = load('aliases: { fast: gpt-x, dated: gpt-x-20260101, vendor: openai/gpt-x }');
    for (const alias of ['fast', 'dated', 'vendor'])
      assert.equal(catalog.resolve(alias)!.id, 'gpt-x');
    assert.deepEqual([...catalog.aliases.keys()], ['fast', 'dated', 'vendor']);
  });
});

describe('an invalid configuration is refused with its line', () => {
  const faults: Readonly<Record<string, RegExp>> = {
    'aliases:\n  fast: gpt-y\n':
      /^2:9: .*aliases\.fast must name a model; got "gpt-y", which is not a model\. Did you mean `gpt-x`\?/,
    'aliases:\n  a: gpt-x\n  b: a\n':
      /^3:6: .*aliases\.b must name a model; got "a", which is not a model\. .* not another alias/,
    'aliases:\n  gpt-x: gpt-x\n': /^2:10: .*aliases\.gpt-x is the id of a model/,
    'models:\n  gpt-xx: { prices: { input: 1, output: 1 } }\n':
      /^2:11: .*models\.gpt-xx\.routes is required .* did you mean the built-in gpt-x\?/,
    'models:\n  gpt-x:\n    retires_at: 2026-02-30\n':
      /^3:17: .*models\.gpt-x\.retires_at is no day of the calendar; got 2026-02-30/,
    'models:\n  gpt-x: { deprecated_at: 2026-02-02, retires_at: 2026-02-01T23:59Z }\n':
      /^2:51: .*models\.gpt-x\.retires_at is before `deprecated_at` \(2026-02-02\)/,
    'models:\n  gpt-x: { ended: true, successor: gpt-y }\n':
      /^2:36: .*models\.gpt-x\.successor must be the id of another model under models; got "gpt-y"/,
    'models:\n  gpt-x: { successor: gpt-x }\n':
      /^2:23: .*models\.gpt-x\.successor must be the id of another model/,
    'image_models:\n  flux-2: { successor: gpt-x }\n':
      /^2:24: .*image_models\.flux-2\.successor must be the id of another model under image_models/,
  };
  testFaults(faults, load);
});
