import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { noUsage, totalInputTokens, type Usage } from '../../canonical/usage.ts';
import { micros, picosFromUsdPerMillion, type PicosPerToken } from '../../lib/money.ts';
import type { Model, PriceVersion, TokenPrices } from './model.ts';
import {
  affordableOutputTokens,
  listPrices,
  priceAt,
  priceFor,
  priceUsage,
  worstCaseMicros,
  type AppliedPrice,
  type PriceFactor,
} from './price.ts';

const oneToOne: PriceFactor = { markup: 1, multiplierPpm: 1_000_000 };

const tokens = fc.oneof(fc.nat(20), fc.nat(2_000), fc.nat(100_000_000));
const picos = fc.oneof(fc.nat(5), fc.nat(1_000_000_000)) as fc.Arbitrary<PicosPerToken>;
const tokenPrices: fc.Arbitrary<TokenPrices> = fc.record(
  {
    input: picos,
    output: picos,
    cacheRead: picos,
    cacheWrite: picos,
    cacheWrite1h: picos,
    audio: picos,
  },
  { requiredKeys: ['input', 'output', 'cacheRead', 'cacheWrite', 'cacheWrite1h'] },
);
const usages: fc.Arbitrary<Usage> = fc
  .record({
    inputTokens: tokens,
    cacheReadTokens: tokens,
    cacheWriteTokens: tokens,
    cacheWrite1hTokens: tokens,
    outputTokens: tokens,
    reasoningTokens: tokens,
  })
  .chain((usage) =>
    fc.record({
      ...(Object.fromEntries(
        Object.entries(usage).map(([name, count]) => [name, fc.constant(count)]),
      ) as { readonly [Name in keyof typeof usage]: fc.Arbitrary<number> }),
      audioTokens: fc.nat(usage.inputTokens),
      cacheReadAudioTokens: fc.nat(usage.cacheReadTokens),
    }),
  );
const versions: fc.Arbitrary<PriceVersion> = fc.record({
  version: fc.constant('0'),
  effectiveFromMs: fc.constant(0),
  isListPrice: fc.boolean(),
  variants: fc.constant([]),
  base: tokenPrices,
  tiers: fc
    .uniqueArray(fc.record({ aboveInputTokens: tokens, prices: tokenPrices }), {
      selector: (tier) => tier.aboveInputTokens,
      maxLength: 3,
    })
    .map((tiers) => tiers.toSorted((a, b) => a.aboveInputTokens - b.aboveInputTokens)),
});
const factors: fc.Arbitrary<PriceFactor> = fc.record({
  markup: fc.oneof(
    fc.constant(1),
    fc.nat(3_000_000).map((ppm) => ppm / 1_000_000),
  ),
  multiplierPpm: fc.oneof(fc.constant(1_000_000), fc.nat(3_000_000)),
});
const searchPrices = fc.bigInt(0n, 10n ** 14n);
const appliedPrices: fc.Arbitrary<Required<Pick<AppliedPrice, 'search'>> & AppliedPrice> = fc
  .tuple(versions, factors, searchPrices, searchPrices)
  .map(([upstream, factor, listPicos, upstreamPicos]) => ({
    list: listPrices(upstream, factor),
    upstream,
    search: { listPicos, upstreamPicos },
  }));

describe('the cost of a request', () => {
  test('is the exact sum of all buckets, rounded up once', () => {
    fc.assert(
      fc.property(appliedPrices, usages, fc.nat(100), (price, usage, searches) => {
        const { list, upstream, search } = price;
        const charged = priceUsage(price, { usage, searches, nowMs: 0 });
        for (const [version, searchPicos, cost] of [
          [list, search.listPicos, charged.costMicros],
          [upstream, search.upstreamPicos, charged.upstreamCostMicros],
        ] as const) {
          const exact = exactPicos(version, usage) + BigInt(searches) * searchPicos;
          // The smallest whole number of microdollars that is at least the exact price.
          assert(BigInt(cost) * 1_000_000n >= exact);
          assert((BigInt(cost) - 1n) * 1_000_000n < exact || exact === 0n);
        }
        const named = charged.priceVersion.includes(`+${search.listPicos}/search`);
        assert.equal(named, searches > 0, charged.priceVersion);
      }),
    );
  });

  const price = applied(
    { input: 2.5, output: 10, cacheRead: 0.25, cacheWrite: 3.125, cacheWrite1h: 5, audio: 32 },
    [
      {
        aboveInputTokens: 1_000,
        prices: usdPrices({
          input: 5,
          output: 15,
          cacheRead: 0.5,
          cacheWrite: 6.25,
          cacheWrite1h: 10,
        }),
      },
      {
        aboveInputTokens: 2_000,
        prices: usdPrices(everyPrice(1)),
      },
    ],
  );
  const cases: [title: string, usage: Partial<Usage>, costMicros: number, priceVersion: string][] =
    [
      ['nothing costs nothing', {}, 0, '0'],
      ['one token is rounded up to a microdollar', { cacheReadTokens: 1 }, 1, '0'],
      ['the parts are added before the rounding', { inputTokens: 1, cacheReadTokens: 2 }, 3, '0'],
      [
        'every bucket has its own price',
        {
          inputTokens: 100,
          cacheReadTokens: 100,
          cacheWriteTokens: 100,
          cacheWrite1hTokens: 100,
          outputTokens: 100,
        },
        2_088,
        '0',
      ],
      [
        'an input of the threshold itself is still below the tier',
        { inputTokens: 1_000 },
        2_500,
        '0',
      ],
      [
        'one token more and the tier prices all of it',
        { inputTokens: 1_001, outputTokens: 1 },
        5_020,
        '0>1000',
      ],
      [
        'cached input counts towards the tier',
        { inputTokens: 1, cacheReadTokens: 1_000 },
        505,
        '0>1000',
      ],
      [
        'sound in the input and in the cache costs its own price',
        { inputTokens: 100, audioTokens: 40, cacheReadTokens: 10, cacheReadAudioTokens: 10 },
        // 60 × 2.5 + 40 × 32 + 10 × 3.2
        1_462,
        '0+1209500000/audio',
      ],
      [
        'sound without a price of its own costs as other input',
        { inputTokens: 1_100, audioTokens: 1_000 },
        5_500,
        '0>1000',
      ],
      ['the last tier that is exceeded counts', { inputTokens: 2_001 }, 2_001, '0>2000'],
    ];
  for (const [title, usage, costMicros, priceVersion] of cases) {
    test(title, () => {
      const priced = priceUsage(price, { usage: { ...noUsage, ...usage }, nowMs: 0 });
      const expected = { costMicros, upstreamCostMicros: costMicros, priceVersion };
      assert.partialDeepStrictEqual(priced, expected);
    });
  }
});

describe('the price per token of an account', () => {
  test('is the price times markup and multiplier, rounded up to a whole picodollar', () => {
    fc.assert(
      fc.property(versions, factors, (version, factor) => {
        const markupPpm = BigInt(
          version.isListPrice ? 1_000_000 : Math.round(factor.markup * 1_000_000),
        );
        const list = listPrices(version, factor);
        for (const bucket of [
          'input',
          'output',
          'cacheRead',
          'cacheWrite',
          'cacheWrite1h',
        ] as const) {
          const exact = BigInt(version.base[bucket]) * markupPpm * BigInt(factor.multiplierPpm);
          const scaled = BigInt(list.base[bucket]) * 1_000_000_000_000n;
          assert(scaled >= exact && scaled - exact < 1_000_000_000_000n);
        }
        assert.deepEqual(
          list.tiers.map((tier) => tier.aboveInputTokens),
          version.tiers.map((tier) => tier.aboveInputTokens),
        );
      }),
    );
  });

  test('has the markup only on prices that the operator did not set', () => {
    const { upstream } = applied({
      input: 2,
      output: 3,
      cacheRead: 1,
      cacheWrite: 2,
      cacheWrite1h: 2,
      audio: 20,
    });
    const factor = { markup: 1.25, multiplierPpm: 900_000 };
    assert.equal(listPrices(upstream, factor).base.input, 2_250_000);
    assert.equal(listPrices(upstream, factor).base.audio, 22_500_000);
    assert.equal(listPrices({ ...upstream, isListPrice: true }, factor).base.input, 1_800_000);
    assert.equal(listPrices(upstream, oneToOne), upstream);
  });

  test("the operator's cost has neither markup nor multiplier", () => {
    const { upstream } = applied({
      input: 2,
      output: 3,
      cacheRead: 1,
      cacheWrite: 2,
      cacheWrite1h: 2,
    });
    const list = listPrices(upstream, { markup: 2, multiplierPpm: 500_000 });
    const double = listPrices(upstream, { markup: 2, multiplierPpm: 1_000_000 });
    const usage = { ...noUsage, inputTokens: 10 };
    const costs = (priced: ReturnType<typeof priceUsage>) => [
      priced.costMicros,
      priced.upstreamCostMicros,
    ];
    assert.deepEqual(costs(priceUsage({ list, upstream }, { usage, nowMs: 0 })), [20, 20]);
    assert.deepEqual(costs(priceUsage({ list: double, upstream }, { usage, nowMs: 0 })), [40, 20]);
  });
});

describe('the amount of a hold', () => {
  const requests = fc
    .record({
      inputTokensUpper: tokens,
      audioShare: fc.double({ min: 0, max: 1, noNaN: true }),
      outputTokens: tokens,
      choices: fc.integer({ min: 1, max: 8 }),
      searches: fc.nat(100),
    })
    .map(({ audioShare, ...request }) => ({
      ...request,
      audioTokensUpper: Math.floor(request.inputTokensUpper * audioShare),
    }));

  test('covers every way that the same tokens can be billed', () => {
    const shares = fc.array(fc.nat(1_000), { minLength: 5, maxLength: 5 });
    fc.assert(
      fc.property(
        appliedPrices,
        requests,
        shares,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: 1, max: 8 }),
        (price, given, [a = 0, b = 0, c = 0, d = 0, unused = 0], used, prompts) => {
          const each = given.choices;
          const request = { ...given, choices: prompts * each, prompts };
          // Some hosts bill the prompt for each of its answers.
          const most = request.inputTokensUpper * each;
          const whole = a + b + c + d + unused || 1;
          const part = (share: number) => Math.floor((most * share) / whole);
          const mostAudio = request.audioTokensUpper * each;
          const audioTokens = Math.min(part(a), mostAudio);
          const usage = {
            audioTokens,
            cacheReadAudioTokens: Math.min(part(b), mostAudio - audioTokens),
            inputTokens: part(a),
            cacheReadTokens: part(b),
            cacheWriteTokens: part(c),
            cacheWrite1hTokens: part(d),
            outputTokens: Math.floor(request.outputTokens * request.choices * used),
            reasoningTokens: 0,
          };
          const searches = Math.floor(request.searches * used);
          assert(totalInputTokens(usage) <= most);
          assert(
            worstCaseMicros(price, request) >=
              priceUsage(price, { usage, searches, nowMs: 0 }).costMicros,
          );
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test('is not above the most expensive way', () => {
    fc.assert(
      fc.property(versions, tokens, tokens, (upstream, inputTokensUpper, outputTokens) => {
        const price = { list: upstream, upstream };
        const held = worstCaseMicros(price, { inputTokensUpper, outputTokens, choices: 1 });
        const buckets = [
          'inputTokens',
          'cacheReadTokens',
          'cacheWriteTokens',
          'cacheWrite1hTokens',
        ] as const;
        // Within a tier the cost grows with the input, so no input costs more than the whole
        // estimate at that tier's prices.
        const bound = [
          upstream.base,
          ...upstream.tiers
            .filter((tier) => inputTokensUpper > tier.aboveInputTokens)
            .map((tier) => tier.prices),
        ]
          .flatMap((base) =>
            buckets.map(
              (bucket) =>
                priceUsage(pricedAt(base), {
                  usage: { ...noUsage, [bucket]: inputTokensUpper, outputTokens },
                  nowMs: 0,
                }).costMicros,
            ),
          )
          .reduce((most, cost) => (cost > most ? cost : most));
        assert.equal(held, bound);
      }),
    );
  });

  test('includes the price of a one-hour cache write only if one is possible', () => {
    const price = applied({ input: 2, output: 0, cacheRead: 1, cacheWrite: 3, cacheWrite1h: 4 });
    const request = { inputTokensUpper: 10, outputTokens: 1, choices: 1 };
    assert.equal(worstCaseMicros(price, request), 40);
    assert.equal(worstCaseMicros(price, { ...request, cachesLong: false }), 30);
  });

  test('never falls when the request grows', () => {
    const more = fc.nat(1_000);
    fc.assert(
      fc.property(appliedPrices, requests, more, more, (price, request, moreInput, moreOutput) => {
        const larger = {
          ...request,
          inputTokensUpper: request.inputTokensUpper + moreInput,
          audioTokensUpper: request.audioTokensUpper + moreInput,
          outputTokens: request.outputTokens + moreOutput,
        };
        const held = worstCaseMicros(price, request);
        assert(worstCaseMicros(price, larger) >= held);
        assert(worstCaseMicros(price, { ...request, choices: request.choices + 1 }) >= held);
      }),
    );
  });

  test('the affordable output fits the amount, and one more token does not', () => {
    const amounts = fc
      .oneof(fc.nat(100), fc.nat(10_000_000), fc.nat(2_000_000_000_000))
      .map(micros);
    fc.assert(
      fc.property(appliedPrices, requests, amounts, (price, request, amountMicros) => {
        const { inputTokensUpper, choices, searches } = request;
        const sized = { inputTokensUpper, choices, searches };
        const outputTokens = affordableOutputTokens(price, { ...sized, amountMicros });
        const worst = (output: number) =>
          worstCaseMicros(price, { ...sized, outputTokens: output });
        if (outputTokens > 0) assert(worst(outputTokens) <= amountMicros);
        if (outputTokens < 100_000_000) assert(worst(outputTokens + 1) > amountMicros);
      }),
      { numRuns: 1_000 },
    );
  });

  test('no output is affordable with an amount of 0, unless it is free', () => {
    const [paid, free] = [applied(everyPrice(1)), applied(everyPrice(0))];
    const request = { amountMicros: micros(0), inputTokensUpper: 10, choices: 1 };
    assert.equal(affordableOutputTokens(paid, request), 0);
    assert.equal(affordableOutputTokens(paid, { ...request, amountMicros: micros(-5) }), 0);
    assert.equal(affordableOutputTokens(free, request), 100_000_000);
  });
});

describe('which price is in effect', () => {
  const [newer, older] = [versionFrom('2026-12-01'), versionFrom('2026-06-01')];
  const model = { prices: [newer, older] } as unknown as Model;
  const cases: [day: string, expected: PriceVersion | null][] = [
    ['2026-05-31T23:59:59.999Z', null],
    ['2026-06-01T00:00:00Z', older],
    ['2026-11-30T23:59:59.999Z', older],
    ['2026-12-01T00:00:00Z', newer],
  ];
  for (const [day, expected] of cases) {
    test(`at ${day}: ${expected?.version ?? 'none'}`, () => {
      assert.equal(priceAt(model, Date.parse(day)), expected);
      assert.equal(
        priceFor(model, { nowMs: Date.parse(day), ...oneToOne })?.upstream ?? null,
        expected,
      );
    });
  }

  test('a model without a price has none at any time', () => {
    assert.equal(
      priceFor({ prices: [] } as unknown as Model, { nowMs: Date.UTC(2026, 10, 21), ...oneToOne }),
      null,
    );
  });
});

/**
 * The same in rational arithmetic: with numerators over a common denominator, and a separate tier
 * search.
 */
function exactPicos(version: PriceVersion, usage: Usage): bigint {
  let prices = version.base;
  const size = totalInputTokens(usage);
  for (const tier of version.tiers) if (size > tier.aboveInputTokens) prices = tier.prices;
  const parts: [tokens: number, price: number][] = [
    [usage.inputTokens, prices.input],
    [usage.cacheReadTokens, prices.cacheRead],
    [usage.cacheWriteTokens, prices.cacheWrite],
    [usage.cacheWrite1hTokens, prices.cacheWrite1h],
    [usage.outputTokens, prices.output],
  ];
  const { input, audio = input, cacheRead } = prices;
  const beyondInput = BigInt(audio - input);
  const cached = BigInt(usage.cacheReadAudioTokens ?? 0) * beyondInput;
  return parts.reduce(
    (sum, [count, price]) => sum + BigInt(count) * BigInt(price),
    BigInt(usage.audioTokens ?? 0) * beyondInput +
      (cacheRead < input ? (cached * BigInt(cacheRead)) / BigInt(input) : cached),
  );
}

type UsdPrices = Record<Exclude<keyof TokenPrices, 'audio'>, number> & { readonly audio?: number };

function usdPrices(usd: UsdPrices): TokenPrices {
  const priced = Object.entries(usd).map(([name, one]) => [name, picosFromUsdPerMillion(one)]);
  return Object.fromEntries(priced) as TokenPrices;
}

function applied(usd: UsdPrices, tiers: PriceVersion['tiers'] = []): AppliedPrice {
  return pricedAt(usdPrices(usd), tiers);
}

function pricedAt(base: TokenPrices, tiers: PriceVersion['tiers'] = []): AppliedPrice {
  const upstream = {
    version: '0',
    effectiveFromMs: 0,
    isListPrice: false,
    base,
    tiers,
    variants: [],
  };
  return { list: upstream, upstream };
}

function versionFrom(day: string): PriceVersion {
  const { upstream } = applied(everyPrice(1));
  return { ...upstream, version: day, effectiveFromMs: Date.parse(day) };
}

function everyPrice(usd: number): UsdPrices {
  return { input: usd, output: usd, cacheRead: usd, cacheWrite: usd, cacheWrite1h: usd };
}
