import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { columnOf } from '../../../tests/support/column-of.ts';
import type { FoundPage } from '../../terms/search-source.ts';
import { readPageAddress } from './search-result.ts';
import { toSearchResults, writeSearchBody } from './search-result.ts';

const nowMs = Date.UTC(2026, 0, 10);
const page = (url: string, more: Partial<FoundPage> = {}): FoundPage => ({
  title: 'T',
  url,
  snippet: 'S',
  date: null,
  score: null,
  ...more,
});
const urlsOf = (...urls: string[]) => {
  const pages = urls.map((url) => page(url));
  return columnOf(toSearchResults(pages, { num: 50, nowMs }), 'url');
};

test('a found page becomes a search result', () => {
  const found = page('https://www.Example.com/a?b=1#c', {
    title: '<b>A</b> &amp; B',
    snippet: 'x<br>y',
    date: '2 days ago',
    score: 0.5,
  });
  assert.deepEqual(toSearchResults([found], { num: 10, nowMs }), [
    {
      position: 1,
      title: 'A & B',
      url: 'https://www.Example.com/a?b=1#c',
      snippet: 'x y',
      date: '2026-01-08',
      source: 'example.com',
      score: 0.5,
    },
  ]);
});

test('a page without a title gets its host as the title', () => {
  const untitled = page('https://example.com/x', { title: ' <b></b> ' });
  assert.equal(toSearchResults([untitled], { num: 1, nowMs })[0]!.title, 'example.com');
});

const same: [first: string, second: string][] = [
  ['https://example.com/a', 'https://EXAMPLE.com/a'],
  ['https://example.com/a', 'https://example.com/a/'],
  ['https://example.com', 'https://example.com/'],
  ['https://example.com/a', 'https://example.com/a#part'],
  ['https://example.com/a', 'https://example.com:443/a'],
  ['https://example.com/a', 'http://example.com:80/a'],
  ['https://example.com/a', 'https://example.com/a?utm_source=x&UTM_medium=y&gclid=1'],
  ['https://example.com/a?b=1', 'https://example.com/a?utm_campaign=z&b=1'],
  ['https://example.com/a', ' https://example.com/a\n'],
  ['https://bücher.example/ä', 'https://xn--bcher-kva.example/%C3%A4'],
];
for (const [first, second] of same) {
  test(`one page: ${first} and ${JSON.stringify(second)}`, () => {
    assert.deepEqual(urlsOf(first, second), [first]);
    assert.deepEqual(urlsOf(second, first), [second.trim()]);
  });
}

const different: [first: string, second: string][] = [
  ['https://example.com/a', 'https://example.com/A'],
  ['https://example.com/a', 'https://www.example.com/a'],
  ['https://example.com/a', 'https://example.com:8443/a'],
  ['https://example.com/a?b=1', 'https://example.com/a?b=2'],
  ['https://example.com/a?b=1&c=2', 'https://example.com/a?c=2&b=1'],
];
for (const [first, second] of different) {
  test(`two pages: ${first} and ${second}`, () =>
    assert.deepEqual(urlsOf(first, second), [first, second]));
}

test('only http and https addresses are shown', () => {
  const relative = ['', 'example.com', '/a', '//example.com'];
  const schemes = ['javascript:alert(1)', 'data:text/html,x', 'ftp://example.com/a'];
  assert.deepEqual(urlsOf(...relative, ...schemes, 'file:///etc/passwd'), []);
  const long = `https://example.com/${'a'.repeat(10_000)}`;
  assert.deepEqual(urlsOf('https://', 'https://exa mple.com', long, 'http://x'), ['http://x']);
});

test('an address with unencoded characters is encoded', () => {
  assert.equal(readPageAddress('https:\\\\example.com\\a')?.url, 'https://example.com/a');
  assert.equal(readPageAddress('https://example.com/a b')?.url, 'https://example.com/a%20b');
  const read = 'https://ru.wikipedia.org/wiki/Кот';
  assert.equal(readPageAddress(read)?.url, read);
});

test('positions count up, and there are at most `num` results without duplicates', () => {
  const pages = fc.array(
    fc.tuple(fc.integer({ min: 0, max: 30 }), fc.constantFrom('http', 'https', 'gopher')),
    { maxLength: 80 },
  );
  fc.assert(
    fc.property(pages, fc.integer({ min: 1, max: 50 }), (found, num) => {
      const foundPages = found.map(([path, scheme]) => page(`${scheme}://example.com/${path}`));
      const results = toSearchResults(foundPages, { num, nowMs });
      const web = found.filter(([, scheme]) => scheme !== 'gopher');
      const paths = new Set(columnOf(web, 0));
      assert.equal(results.length, Math.min(num, paths.size));
      const positions = results.map((_result, index) => index + 1);
      assert.deepEqual(columnOf(results, 'position'), positions);
      assert.equal(new Set(results.map(({ url }) => new URL(url).pathname)).size, results.length);
    }),
  );
});

test('the response body has the same shape with and without results', () => {
  assert.deepEqual(writeSearchBody({ id: 'ws_1', query: 'q', provider: 'brave', results: [] }), {
    id: 'ws_1',
    object: 'search',
    query: 'q',
    provider: 'brave',
    results: [],
    usage: { searches: 1 },
  });
});
