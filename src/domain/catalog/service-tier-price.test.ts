// Prices of service tiers and of hours: what is held, what is charged, and what is lost.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { serviceTiers } from '../../canonical/service-tier.ts';
import { noUsage, totalInputTokens, type Usage } from '../../canonical/usage.ts';
import type { PriceEntry } from '../../config/model-schema.ts';
import { costOf } from '../../terms/price-terms.ts';
import { roundUpToMicro } from '../../lib/money.ts';
import { hourMs } from '../../lib/utc-time.ts';
import {
  affordableOutputTokens,
  atCost,
  batchPrice,
  ownKeyPrice,
  priceFor,
  priceUsage,
  upstreamCostOf,
  worstCaseMicros,
  type Allowed,
  type AppliedPrice,
} from './price.ts';
import { readPrices } from './read-prices.ts';
import { readWeeklyHours, shareOf } from './weekly-hours.ts';

const usd = fc.integer({ min: 0, max: 100_000 }).map((cents) => cents / 1_000);
const priceSets = fc.record({
  input: usd,
  output: usd,
  cache_read: usd,
  cache_write: usd,
  cache_write_1h: usd,
  tiers: fc.array(
    fc.record({ above_input_tokens: fc.integer({ min: 1, max: 2_000 }), input: usd, output: usd }),
    { maxLength: 1 },
  ),
});
const days = 'Mon Tue Wed Thu Fri Sat Sun'.split(' ');
const time = fc
  .tuple(fc.nat(23), fc.nat(59))
  .map((parts) => parts.map((part) => String(part).padStart(2, '0')).join(':'));
const weeklyHours = fc
  .tuple(fc.constantFrom(...days), fc.constantFrom(...days), time, time)
  .map(([first, last, from, to]) => `${first}-${last} ${from}-${to}`);
const entries: fc.Arbitrary<PriceEntry> = fc
  .tuple(
    priceSets,
    fc.record({ flex: priceSets, priority: priceSets, ultrafast: priceSets }, { requiredKeys: [] }),
    fc.array(
      fc
        .tuple(priceSets, fc.array(weeklyHours, { minLength: 1, maxLength: 2 }))
        .map(([set, utc]) => ({ ...set, utc })),
      { maxLength: 2 },
    ),
  )
  .map(([set, service_tiers, hours]) => ({ ...set, service_tiers, hours }));

const startMs = Date.parse('2026-11-02T00:00Z');
const times = fc.integer({ min: startMs, max: startMs + 14 * 24 * hourMs });
const allowances: fc.Arbitrary<Allowed> = fc
  .tuple(fc.constantFrom(undefined, ...serviceTiers), times, fc.nat(30 * hourMs))
  .map(([tier, fromMs, lengthMs]) => ({ tier, fromMs, untilMs: fromMs + lengthMs }));
const tokens = fc.oneof(fc.nat(5), fc.nat(2_500));
const usages: fc.Arbitrary<Usage> = fc.record({
  inputTokens: tokens,
  cacheReadTokens: tokens,
  cacheWriteTokens: tokens,
  cacheWrite1hTokens: tokens,
  outputTokens: tokens,
  reasoningTokens: fc.constant(0),
  tier: fc.constantFrom(undefined, 'standard', 'scale', 'batch', ...serviceTiers),
});

function applied(entry: PriceEntry, markup = 1): AppliedPrice {
  const model = { prices: readPrices({ prices: entry }, false) } as unknown as Parameters<
    typeof priceFor
  >[0];
  return priceFor(model, { markup, multiplierPpm: 1_000_000, nowMs: startMs })!;
}

test('a batch costs at most its hold, and a part of the standard price, whatever tier is named', () => {
  const parts = fc.integer({ min: 1, max: 100 }).map((percent) => percent / 100);
  const choices = fc.tuple(entries, parts, usages, allowances);
  fc.assert(
    fc.property(choices, ([entry, batch, usage, allowed]) => {
      assert.equal(batchPrice(applied(entry)), null);
      const standard = applied({ ...entry, service_tiers: {}, hours: [], batch });
      const price = batchPrice({ ...applied({ ...entry, batch }), allowed })!;
      const run = { usage, nowMs: allowed.untilMs };
      const { costMicros, upstreamCostMicros, priceVersion } = priceUsage(price, run);
      assert.match(priceVersion, /^0\/batch/);
      assert.equal(costMicros, upstreamCostMicros);
      const size = { inputTokensUpper: totalInputTokens(usage), choices: 1 };
      const most = worstCaseMicros(price, { ...size, outputTokens: usage.outputTokens });
      assert.ok(costMicros <= most);
      const whole = priceUsage(standard, { ...run, usage: { ...usage, tier: 'standard' } });
      // Each price is rounded up to a picodollar.
      assert.ok(Math.abs(costMicros - whole.costMicros * batch) <= 2);
    }),
  );
});

describe('any answer to any request', () => {
  const cases = fc.record({
    entry: entries,
    allowed: allowances,
    usage: usages,
    nowMs: times,
    markup: fc.constantFrom(1, 1.25, 0.5),
  });

  test('is charged at most what was held, exactly by one of the prices', () => {
    fc.assert(
      fc.property(cases, ({ entry, allowed, usage, nowMs, markup }) => {
        const price = { ...applied(entry, markup), allowed };
        const charged = priceUsage(price, { usage, nowMs });
        const { outputTokens } = usage;
        const size = { inputTokensUpper: totalInputTokens(usage), outputTokens, choices: 1 };
        const held = worstCaseMicros(price, size);
        assert(charged.costMicros <= held, `${charged.costMicros} of ${held}`);
        const bought = { usage, searches: 0, images: 0 };
        assert.equal(charged.costMicros, costOf(charged.terms.list, bought));
        assert.equal(charged.upstreamCostMicros, costOf(charged.terms.upstream, bought));
        const possible = pricesFor(price, totalInputTokens(usage));
        const { list } = charged.terms;
        assert(
          possible.some((set) =>
            Object.entries(set).every(([name, picos]) => list[name as keyof typeof list] === picos),
          ),
        );
      }),
      { numRuns: 2_000 },
    );
  });

  test('costs its account what its own tier costs, unless that was not allowed', () => {
    fc.assert(
      fc.property(cases, ({ entry, allowed, usage, nowMs }) => {
        const price = { ...applied(entry), allowed };
        const charged = priceUsage(price, { usage, nowMs });
        const sold = Object.keys(entry.service_tiers ?? {});
        const isPriced = usage.tier === 'standard' || sold.includes(usage.tier ?? '');
        const isWithin = nowMs >= allowed.fromMs && nowMs <= allowed.untilMs;
        const isSold = isPriced && (usage.tier === allowed.tier || usage.tier === 'standard');
        if (isSold && (usage.tier !== 'standard' || isWithin))
          assert.equal(charged.tier, usage.tier);
        // As it was asked for.
        const unnamed = { ...usage, tier: undefined };
        if (!isPriced) assert.deepEqual(charged, priceUsage(price, { usage: unnamed, nowMs }));
        // Nothing is lost when the provider does what it was asked for, in time.
        if (!isPriced && isWithin)
          assert.equal(upstreamCostOf(price, { usage, nowMs }), charged.upstreamCostMicros);
      }),
      { numRuns: 2_000 },
    );
  });

  test('costs its account the same on a route that costs the operator more or less', () => {
    const withFactor = cases.chain((one) =>
      fc.integer({ min: 0, max: 3_000_000 }).map((costPpm) => ({ ...one, costPpm })),
    );
    fc.assert(
      fc.property(withFactor, ({ entry, allowed, usage, nowMs, markup, costPpm }) => {
        const price = { ...applied(entry, markup), allowed };
        const [plain, there] = [price, atCost(price, costPpm)].map((of) =>
          priceUsage(of, { usage, nowMs }),
        ) as [ReturnType<typeof priceUsage>, ReturnType<typeof priceUsage>];
        assert.equal(there.costMicros, plain.costMicros);
        // Each token's price is rounded up to a picodollar, and the sum to a microdollar.
        const exact = (plain.upstreamCostMicros * costPpm) / 1_000_000;
        const slack = 2 + costPpm / 1_000_000 + totalInputTokens(usage) + usage.outputTokens;
        assert(Math.abs(there.upstreamCostMicros - exact) <= slack, `${exact}`);
        const tenth = atCost(price, 1_100_000).upstream.base.output;
        assert.equal(tenth, Math.ceil((price.upstream.base.output * 11) / 10));
      }),
      { numRuns: 1_000 },
    );
  });

  test('fits the output that an amount was said to pay for', () => {
    fc.assert(
      fc.property(cases, fc.nat(2_000_000), ({ entry, allowed, usage, nowMs }, amountMicros) => {
        const price = { ...applied(entry), allowed };
        const size = { inputTokensUpper: totalInputTokens(usage), choices: 1 };
        const asked = { ...size, amountMicros: amountMicros as never };
        const outputTokens = affordableOutputTokens(price, asked);
        if (outputTokens === 0) return;
        const answer = { ...usage, outputTokens: Math.min(outputTokens, usage.outputTokens) };
        assert(priceUsage(price, { usage: answer, nowMs }).costMicros <= amountMicros);
      }),
    );
  });
});

/** All prices that a request of this length could be charged by. */
function pricesFor({ list }: AppliedPrice, inputTokens: number) {
  return [list, ...list.variants].map(
    ({ base, tiers }) =>
      tiers.findLast(({ aboveInputTokens }) => inputTokens > aboveInputTokens)?.prices ?? base,
  );
}

const openAi: PriceEntry = {
  input: 2,
  output: 10,
  tiers: [{ above_input_tokens: 272_000, input: 4, output: 15 }],
  service_tiers: {
    flex: { input: 1, output: 5, tiers: [{ above_input_tokens: 272_000, input: 2, output: 7.5 }] },
    priority: { input: 4, output: 20 },
    ultrafast: { input: 12, output: 60 },
  },
};
const million: Usage = { ...noUsage, outputTokens: 1_000_000 };

test('the tier that the answer names is charged, up to the dearest that was allowed', () => {
  type Asked = Allowed['tier'];
  const cases: [Asked, named: string | undefined, usd: number, lost: number, version: string][] = [
    [undefined, undefined, 10, 0, '0'],
    [undefined, 'standard', 10, 0, '0'],
    [undefined, 'flex', 5, 0, '0/flex'],
    [undefined, 'priority', 10, 10, '0'],
    ['flex', 'flex', 5, 0, '0/flex'],
    ['flex', 'standard', 10, 0, '0'],
    ['flex', undefined, 5, 0, '0/flex'],
    ['flex', 'scale', 5, 0, '0/flex'],
    ['flex', 'priority', 10, 10, '0'],
    ['priority', 'priority', 20, 0, '0/priority'],
    ['priority', 'standard', 10, 0, '0'],
    ['priority', 'flex', 5, 0, '0/flex'],
    ['priority', 'batch', 20, 0, '0/priority'],
    ['priority', 'ultrafast', 20, 40, '0/priority'],
    ['ultrafast', 'ultrafast', 60, 0, '0/ultrafast'],
    ['ultrafast', 'priority', 20, 0, '0/priority'],
  ];
  for (const [tier, named, usdCharged, usdLost, version] of cases) {
    const price = { ...applied(openAi), allowed: { tier, fromMs: startMs, untilMs: startMs } };
    const run = { usage: { ...million, tier: named }, nowMs: startMs };
    const charged = priceUsage(price, run);
    const lost = upstreamCostOf(price, run) - charged.upstreamCostMicros;
    const got = [charged.costMicros / 1e6, lost / 1e6, charged.priceVersion];
    assert.deepEqual(got, [usdCharged, usdLost, version], `${tier} asked, ${named} answered`);
  }
});

test('a long input has its own price in each tier', () => {
  const allowed = { tier: 'flex' as const, fromMs: startMs, untilMs: startMs };
  const usage = { ...million, inputTokens: 300_000, tier: 'flex' };
  const charged = priceUsage({ ...applied(openAi), allowed }, { usage, nowMs: startMs });
  assert.equal(charged.priceVersion, '0/flex>272000');
  assert.equal(charged.costMicros, 300_000 * 2 + 7_500_000);
});

describe('hours of the week', () => {
  const weekend = 'Sat-Sun 00:00-24:00';
  const deepSeek: PriceEntry = {
    input: 0.3,
    output: 1.2,
    hours: [
      {
        utc: [
          ...['00:00-01:00', '04:00-06:00', '10:00-24:00'].map((at) => `Mon-Fri ${at}`),
          weekend,
        ],
        input: 0.15,
        output: 0.6,
      },
    ],
  };
  const price = applied(deepSeek);
  const at = (text: string) => Date.parse(text);

  test('DeepSeek costs half outside of its peak hours, to the millisecond', () => {
    const cases: [time: string, usdCharged: number][] = [
      ['2026-12-01T00:59:59.999Z', 0.6],
      ['2026-12-01T01:00:00.000Z', 1.2],
      ['2026-12-01T03:59:59.999Z', 1.2],
      ['2026-12-01T04:00:00.000Z', 0.6],
      ['2026-12-01T05:59:59.999Z', 0.6],
      ['2026-12-01T06:00:00.000Z', 1.2],
      ['2026-12-01T09:59:59.999Z', 1.2],
      ['2026-12-01T10:00:00.000Z', 0.6],
      ['2026-12-04T23:59:59.999Z', 0.6],
      ['2026-12-05T02:00:00.000Z', 0.6],
      ['2026-12-06T23:59:59.999Z', 0.6],
      ['2026-12-07T00:00:00.000Z', 0.6],
      ['2026-12-07T01:00:00.000Z', 1.2],
    ];
    for (const [instant, usdCharged] of cases) {
      const allowed = { fromMs: at(instant), untilMs: at(instant) + hourMs };
      const charged = priceUsage({ ...price, allowed }, { usage: million, nowMs: at(instant) });
      assert.equal(charged.costMicros / 1e6, usdCharged, instant);
    }
  });

  test('a hold covers the hours that the answer may end in, and no others', () => {
    const size = { inputTokensUpper: 0, outputTokens: 1_000_000, choices: 1 };
    const held = (from: string, until: string) => {
      const allowed = { fromMs: at(from), untilMs: at(until) };
      return worstCaseMicros({ ...price, allowed }, size) / 1e6;
    };
    assert.equal(held('2026-12-01T04:00Z', '2026-12-01T05:59:59.999Z'), 0.6);
    assert.equal(held('2026-12-01T04:00Z', '2026-12-01T06:00Z'), 1.2);
    assert.equal(held('2026-12-01T03:59:59.999Z', '2026-12-01T04:30Z'), 1.2);
    assert.equal(held('2026-12-05T10:00Z', '2026-12-05T20:00Z'), 0.6);
  });

  test('an answer that ends in hours that were not held costs no more than was held', () => {
    const allowed = { fromMs: at('2026-12-01T05:00Z'), untilMs: at('2026-12-01T05:30Z') };
    const run = { usage: million, nowMs: at('2026-12-01T06:00Z') };
    const charged = priceUsage({ ...price, allowed }, run);
    assert.equal(charged.costMicros, 600_000);
    assert.equal(upstreamCostOf({ ...price, allowed }, run), 1_200_000);
  });

  test('a span touches the hours that begin at its last millisecond', () => {
    const hours = readWeeklyHours('Tue 06:00-07:00');
    const share = (from: string, until: string) =>
      shareOf(hours, { fromMs: at(`2026-12-01T${from}Z`), untilMs: at(`2026-12-01T${until}Z`) });
    assert.equal(share('05:00', '05:59:59.999'), 'none');
    assert.equal(share('05:00', '06:00'), 'some');
    assert.equal(share('06:00', '06:59:59.999'), 'all');
    assert.equal(share('06:59:59.999', '07:00'), 'some');
    assert.equal(share('07:00', '08:00'), 'none');
  });

  test('begin and end as a clock says, also past midnight and Sunday', () => {
    fc.assert(
      fc.property(weeklyHours, times, fc.nat(30 * hourMs), (text, fromMs, lengthMs) => {
        const hours = readWeeklyHours(text);
        const now = { fromMs, untilMs: fromMs };
        assert.equal(shareOf(hours, now), isInside(text, fromMs) ? 'all' : 'none', text);
        const span = { fromMs, untilMs: fromMs + lengthMs };
        const minutes = Array.from(
          { length: Math.ceil(lengthMs / 60_000) },
          (_, index) => fromMs + index * 60_000,
        ).concat(span.untilMs);
        const inside = minutes.map((minute) => isInside(text, minute));
        const share = shareOf(hours, span);
        if (inside.includes(true)) assert.notEqual(share, 'none', text);
        if (inside.includes(false)) assert.notEqual(share, 'all', text);
      }),
      { numRuns: 300 },
    );
  });

  /** Decides by the words of a date, not by arithmetic. */
  function isInside(text: string, timeMs: number): boolean {
    const [range = '', clock = ''] = text.split(' ');
    const [from = '', to = ''] = clock.split('-');
    const [first = '', last = first] = range.split('-');
    const listed: string[] = [];
    for (let index = days.indexOf(first); ; index = (index + 1) % 7) {
      listed.push(days[index]!);
      if (days[index] === last) break;
    }
    const words = (ms: number) => new Date(ms).toUTCString();
    const now = words(timeMs).slice(17, 22);
    const today = listed.includes(words(timeMs).slice(0, 3));
    const yesterday = listed.includes(words(timeMs - 24 * hourMs).slice(0, 3));
    if (from < to) return today && from <= now && now < to;
    return (today && from <= now) || (yesterday && now < to);
  }
});

describe('an answer with the account’s own key', () => {
  const cases = fc.record({
    entry: entries,
    allowed: allowances,
    usage: usages,
    nowMs: times,
    markup: fc.constantFrom(1, 1.25, 0.5),
    terms: fc.record({
      pricePpm: fc.oneof(fc.constantFrom(0, 1, 50_000, 1_000_000), fc.nat(1_000_000)),
      feePicos: fc.nat(100_000_000).map((feeMicros) => BigInt(feeMicros) * 1_000_000n),
    }),
    search: fc.option(
      fc.record({
        listPicos: fc.bigInt({ min: 0n, max: 10n ** 11n }),
        upstreamPicos: fc.bigInt({ min: 0n, max: 10n ** 11n }),
      }),
    ),
    isOwnSearch: fc.boolean(),
    searches: fc.nat(3),
  });

  test('is charged the part of each price and the fee, costs the operator nothing, and is held', () => {
    fc.assert(
      fc.property(cases, ({ entry, allowed, usage, nowMs, markup, terms, search, ...rest }) => {
        const { isOwnSearch } = rest;
        const searches = search ? rest.searches : 0;
        const price = {
          ...applied(entry, markup),
          allowed,
          ownKey: terms,
          ...(search && { search }),
        };
        const run = { usage, searches, nowMs };
        const charged = priceUsage(ownKeyPrice(price, { isOwnSearch }), run);
        // The sum of the parts in exact fractions of a picodollar, each rounded up once.
        const partOf = (picos: bigint) => (picos * BigInt(terms.pricePpm) + 999_999n) / 1_000_000n;
        const possible = [-1, ...price.list.variants.keys()].map((variant) => {
          const { base, tiers } = price.list.variants[variant] ?? price.list;
          const long = tiers.findLast((tier) => totalInputTokens(usage) > tier.aboveInputTokens);
          const set = long?.prices ?? base;
          const searchPicos = search?.listPicos ?? 0n;
          return roundUpToMicro(
            BigInt(usage.inputTokens) * partOf(BigInt(set.input)) +
              BigInt(usage.cacheReadTokens) * partOf(BigInt(set.cacheRead)) +
              BigInt(usage.cacheWriteTokens) * partOf(BigInt(set.cacheWrite)) +
              BigInt(usage.cacheWrite1hTokens) * partOf(BigInt(set.cacheWrite1h)) +
              BigInt(usage.outputTokens) * partOf(BigInt(set.output)) +
              BigInt(searches) * (isOwnSearch ? searchPicos : partOf(searchPicos)) +
              terms.feePicos,
          );
        });
        assert(possible.includes(charged.costMicros), `${charged.costMicros}`);
        const searchCost = isOwnSearch ? BigInt(searches) * (search?.upstreamPicos ?? 0n) : 0n;
        assert.equal(charged.upstreamCostMicros, roundUpToMicro(searchCost));
        assert.equal(
          charged.costMicros,
          costOf(charged.terms.list, { usage, searches, images: 0 }),
        );
        // The hold is that of the operator's routes, with the fee.
        const size = { inputTokensUpper: totalInputTokens(usage), choices: 1, searches };
        const held = worstCaseMicros(price, { ...size, outputTokens: usage.outputTokens });
        assert(charged.costMicros <= held, `${charged.costMicros} of ${held}`);
        assert(charged.priceVersion.endsWith('~own'));
        // The operator's route has no fee.
        assert.equal(priceUsage(price, run).terms.list.request, 0n);
      }),
      { numRuns: 2_000 },
    );
  });
});
