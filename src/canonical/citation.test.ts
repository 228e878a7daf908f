import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pageCitation } from '../../tests/support/canonical/parts.ts';
import { asUrlCitation, placeSpan, readSpan } from './citation.ts';

test('a search result with an address is a citation of it; one without, and a document, are none', () => {
  const result = {
    type: 'search-result' as const,
    title: 'T',
    citedText: 'c',
    resultIndex: 0,
    blocks: { start: 0, end: 1 },
  };
  const url = pageCitation({ url: 'https://a.example/x', title: 'T', citedText: 'c' });
  assert.deepEqual(asUrlCitation({ ...result, source: 'https://a.example/x' }), url);
  assert.equal(asUrlCitation({ ...result, source: 'handbook, page 4' }), null);
  const place = { unit: 'page' as const, start: 1, end: 2 };
  assert.equal(
    asUrlCitation({ type: 'document', documentIndex: 0, title: null, citedText: 'c', place }),
    null,
  );
});

test('a span is moved by what stands ahead of its block, and the whole block stands for none', () => {
  assert.deepEqual(placeSpan({ start: 2, end: 5 }, { blockStart: 10, length: 20 }), {
    start: 12,
    end: 15,
  });
  assert.deepEqual(placeSpan(null, { blockStart: 10, length: 20 }), { start: 10, end: 30 });
});

test('indexes that are missing, wrong or empty are no span', () => {
  assert.deepEqual(readSpan(0, 3), { start: 0, end: 3 });
  for (const [start, end] of [
    [0, 0],
    [3, 1],
    [-1, 2],
    [0.5, 2],
    ['0', 3],
    [undefined, 3],
    [0, Infinity],
  ]) {
    assert.equal(readSpan(start, end), null);
  }
});
