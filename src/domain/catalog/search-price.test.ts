import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { picosFromUsd } from '../../lib/money.ts';
import {
  endpointSearchPrice,
  searchPriceFor,
  type EndpointSearch,
  type SearchPriceQuery,
} from './search-price.ts';

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
