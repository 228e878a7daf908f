import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { noUsage } from '../../canonical/usage.ts';
import { micros, picosFromUsd, type PicosPerToken } from '../../lib/money.ts';
import type { PriceVersion } from './model.ts';
import { affordableOutputTokens, priceUsage, worstCaseMicros, type AppliedPrice } from './price.ts';
import {
  endpointSearchPrice,
  searchPriceFor,
  type EndpointSearch,
  type SearchPriceQuery,
} from './search-price.ts';

type Tiers = PriceVersion['tiers'];

const oneToOne = { markup: 1, multiplierPpm: 1_000_000 };

function query(fields: Partial<SearchPriceQuery> = {}): SearchPriceQuery {
  const supports = { thinking: true, streaming: true, vision: true, audio: false, tools: true };
  return {
    ...oneToOne,
    model: { supports, toolPrices: {} },
    provider: { kind: 'openai', tool_prices: {} },
    tool: 'web_search',
    ...fields,
  };
}

function withModel(
  toolPrices: SearchPriceQuery['model']['toolPrices'],
  thinking = true,
): Pick<SearchPriceQuery, 'model'> {
  return {
    model: {
      supports: { thinking, streaming: true, vision: true, audio: false, tools: true },
      toolPrices,
    },
  };
}

const cent = picosFromUsd(0.01);

describe('the price of a search', () => {
  test('is by default the published price of OpenAI and Anthropic', () => {
    const both = { listPicos: cent, upstreamPicos: cent };
    assert.deepEqual(searchPriceFor(query()), both);
    assert.deepEqual(
      searchPriceFor(query({ provider: { kind: 'anthropic', tool_prices: {} } })),
      both,
    );
    assert.deepEqual(searchPriceFor(query({ tool: 'web_search_preview' })), both);
    const dear = searchPriceFor(query({ tool: 'web_search_preview', ...withModel({}, false) }));
    assert.deepEqual(dear, { listPicos: picosFromUsd(0.025), upstreamPicos: picosFromUsd(0.025) });
  });

  test('is unknown for other hosts, and for a preview at Anthropic, until the operator sets it', () => {
    const provider = { kind: 'openai-compatible', tool_prices: {} } as const;
    assert.equal(searchPriceFor(query({ provider })), null);
    assert.equal(
      searchPriceFor(
        query({ tool: 'web_search_preview', provider: { kind: 'anthropic', tool_prices: {} } }),
      ),
      null,
    );
    const priced = searchPriceFor(
      query({ provider: { ...provider, tool_prices: { web_search: 0.004 } } }),
    );
    assert.equal(priced?.upstreamPicos, picosFromUsd(0.004));
    const ofModel = searchPriceFor(query({ provider, ...withModel({ web_search: 0.02 }) }));
    assert.deepEqual(
      ofModel,
      { listPicos: 2n * cent, upstreamPicos: 2n * cent },
      'no other is known',
    );
  });

  test("of a provider gets the markup and the account's multiplier; of a model, only the multiplier", () => {
    const factor = { markup: 1.5, multiplierPpm: 900_000 };
    assert.deepEqual(searchPriceFor(query(factor)), {
      listPicos: picosFromUsd(0.0135),
      upstreamPicos: cent,
    });
    const stated = searchPriceFor(query({ ...factor, ...withModel({ web_search: 0.02 }) }));
    assert.deepEqual(stated, { listPicos: picosFromUsd(0.018), upstreamPicos: cent });
  });

  test('is missing when the provider or the model sets `null`', () => {
    const provider = { kind: 'openai', tool_prices: { web_search: null } } as const;
    assert.equal(searchPriceFor(query({ provider })), null);
    assert.equal(searchPriceFor(query(withModel({ web_search: null }))), null);
    assert.equal(
      searchPriceFor(query({ provider, ...withModel({ web_search: 0 }) }))?.listPicos,
      0n,
      'a price of the model stands',
    );
  });
});

const picos = fc.nat(1_000_000_000) as fc.Arbitrary<PicosPerToken>;
const tokenPrices = fc.record({
  input: picos,
  output: picos,
  cacheRead: picos,
  cacheWrite: picos,
  cacheWrite1h: picos,
});
const prices: fc.Arbitrary<AppliedPrice> = fc
  .record({
    base: tokenPrices,
    tier: tokenPrices,
    aboveInputTokens: fc.nat(300_000),
    listPicos: fc.bigInt(0n, 10n ** 14n),
  })
  .map(({ base, tier, aboveInputTokens, listPicos }) => {
    const tiers: Tiers = [{ aboveInputTokens, prices: tier }];
    const list = { version: '0', effectiveFromMs: 0, isListPrice: true, base, tiers, variants: [] };
    return { list, upstream: list, search: { listPicos, upstreamPicos: listPicos / 2n } };
  });
const requests = fc.record({
  inputTokensUpper: fc.nat(1_000_000),
  outputTokens: fc.nat(100_000),
  choices: fc.constant(1),
  searches: fc.integer({ min: 0, max: 100 }),
});

test('a search that nobody bills is sold, and costs the operator nothing', () => {
  const searxng = (toolPrices: NonNullable<EndpointSearch['provider']>['tool_prices']) =>
    ({ kind: 'searxng', tool_prices: toolPrices }) as const;
  const cases: [
    EndpointSearch['provider'],
    statedUsd: number | null,
    listUsd: number,
    upstreamUsd: number,
  ][] = [
    [searxng({}), null, 0.005, 0],
    [null, null, 0.005, 0],
    [searxng({}), 0.02, 0.02, 0],
    [searxng({ web_search: 0.001 }), null, 0.001, 0.001],
    [{ kind: 'tavily', tool_prices: {} }, 0.02, 0.02, 0.008],
  ];
  for (const [provider, statedUsd, listUsd, upstreamUsd] of cases) {
    const { listPicos, upstreamPicos } = endpointSearchPrice(
      { provider, num: 10, calls: 1 },
      { ...oneToOne, statedUsd },
    );
    assert.deepEqual(listPicos, picosFromUsd(listUsd));
    assert.deepEqual(upstreamPicos, picosFromUsd(upstreamUsd));
  }
});

describe('searches in a charge', () => {
  test('are added to the tokens exactly, and the sum is rounded up once', () => {
    fc.assert(
      fc.property(prices, fc.nat(1_000_000), fc.nat(100), (price, inputTokens, searches) => {
        const usage = { ...noUsage, inputTokens };
        const { base, tiers } = price.list;
        const rate = inputTokens > tiers[0]!.aboveInputTokens ? tiers[0]!.prices.input : base.input;
        const exact =
          BigInt(inputTokens) * BigInt(rate) + BigInt(searches) * price.search!.listPicos;
        const { costMicros, upstreamCostMicros, priceVersion } = priceUsage(price, {
          usage,
          searches,
          nowMs: 0,
        });
        assert.equal(
          priceVersion.endsWith(`+${price.search!.listPicos}/search`),
          searches > 0,
          priceVersion,
        );
        assert.equal(BigInt(costMicros), (exact + 999_999n) / 1_000_000n);
        assert(upstreamCostMicros <= costMicros);
        const without = priceUsage(
          { list: price.list, upstream: price.upstream },
          { usage, nowMs: 0 },
        );
        assert.equal(
          priceUsage(price, { usage, searches: 0, nowMs: 0 }).costMicros,
          without.costMicros,
        );
      }),
    );
  });

  test('are covered by the hold, for up to the expected searches and input', () => {
    const used = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(prices, requests, used, used, used, (price, request, input, output, searches) => {
        const usage = {
          ...noUsage,
          inputTokens: Math.floor(request.inputTokensUpper * input),
          outputTokens: Math.floor(request.outputTokens * output),
        };
        const charged = priceUsage(price, {
          usage,
          searches: Math.floor(request.searches * searches),
          nowMs: 0,
        }).costMicros;
        assert(worstCaseMicros(price, request) >= charged);
      }),
      { numRuns: 1_000 },
    );
  });

  test('are reserved before output: the affordable output fits, and one more token does not', () => {
    fc.assert(
      fc.property(
        prices,
        requests,
        fc.nat(2_000_000_000).map(micros),
        (price, request, amountMicros) => {
          const outputTokens = affordableOutputTokens(price, { ...request, amountMicros });
          const worst = (tokens: number) =>
            worstCaseMicros(price, { ...request, outputTokens: tokens });
          if (outputTokens > 0) assert(worst(outputTokens) <= amountMicros);
          if (outputTokens < 100_000_000) assert(worst(outputTokens + 1) > amountMicros);
        },
      ),
      { numRuns: 1_000 },
    );
  });
});
