import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { searchKindNames } from '../../terms/provider-kind.ts';
import { loadConfig } from '../../config/load.ts';
import { searchProviderKinds } from '../../providers/registry.ts';
import { callsFor } from './http-source.ts';
import { mostSearchPrice, searchPriceOf } from './search-prices.ts';

const config = loadConfig({ env: { TOLLGATE_CONFIG: '/dev/null' }, cwd: '/' });

test('no search costs more than its hold, whichever provider answers in however many calls', () => {
  const asked = fc.record({
    kinds: fc.uniqueArray(fc.constantFrom(...searchKindNames), { minLength: 1 }),
    callUsd: fc.option(fc.integer({ min: 0, max: 1_000 }).map((mills) => mills / 1_000)),
    statedUsd: fc.option(
      fc.integer({ min: 0, max: 1_000 }).map((mills) => mills / 1_000),
      { nil: undefined },
    ),
    num: fc.integer({ min: 1, max: 50 }),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    markup: fc.integer({ min: 0, max: 5_000 }).map((mills) => mills / 1_000),
    multiplierPpm: fc.nat(3_000_000),
  });
  fc.assert(
    fc.property(asked, ({ kinds, callUsd, statedUsd, num, share, ...factor }) => {
      const toolPrices = callUsd === null ? {} : { web_search: callUsd };
      const prices = {
        search: {
          ...config.search,
          providers: kinds,
          ...(statedUsd !== undefined && { price_usd: statedUsd }),
        },
        providers: Object.fromEntries(
          kinds.map((kind) => [kind, { kind, tool_prices: toolPrices }]),
        ),
      } as unknown as typeof config;
      const most = mostSearchPrice(prices, num, factor)!;
      for (const kind of kinds) {
        const calls = Math.max(1, Math.ceil(callsFor(searchProviderKinds[kind], num) * share));
        const served = searchPriceOf(prices, { provider: kind, num, calls }, factor)!;
        assert.ok(served.listPicos <= most.listPicos && served.upstreamPicos <= most.upstreamPicos);
        const more = searchPriceOf(prices, { provider: kind, num: num + 1, calls }, factor)!;
        assert.ok(more.upstreamPicos >= served.upstreamPicos, 'more results never cost less');
      }
    }),
  );
});
