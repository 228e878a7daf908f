// Answers of hosts that rank documents are untrusted.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { readRanking } from './index.ts';

const documentCount = 3;
const value = fc.oneof(fc.jsonValue(), fc.constantFrom(0, 1, 2, 3, -1, 0.5, 1e9, '0'));
const result = fc.oneof(fc.jsonValue(), fc.record({ index: value, relevance_score: value }));
const answer = fc.record(
  {
    results: fc.oneof(fc.jsonValue(), fc.array(result, { maxLength: 4 })),
    data: fc.array(result, { maxLength: 4 }),
    meta: fc.oneof(fc.jsonValue(), fc.record({ billed_units: fc.record({ search_units: value }) })),
    usage: fc.oneof(fc.jsonValue(), fc.record({ total_tokens: value })),
  },
  { requiredKeys: [] },
);

test('whatever a host answers is a ranking of known documents with plausible counts, or none', () => {
  fc.assert(
    fc.property(answer, (given) => {
      const ranking = readRanking(given, documentCount);
      if (!ranking) return;
      const places = ranking.results.map(({ index }) => index);
      assert.equal(new Set(places).size, places.length);
      for (const { index, score } of ranking.results)
        assert.ok([0, 1, 2].includes(index) && Number.isFinite(score));
      for (const count of [ranking.searchUnits, ranking.tokens])
        assert.ok(count === null || (Number.isInteger(count) && count >= 0));
    }),
  );
});
