import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { PageCiter } from './cite-pages.ts';

const page = (number: number) => ({
  title: `T${number}`,
  url: `https://example.com/${number}`,
  snippet: `${'a'.repeat(149)}👪`,
  date: null,
});
const withPages = (count: number) => {
  const citer = new PageCiter();
  citer.add(Array.from({ length: count }, (_page, index) => page(index + 1)));
  return citer;
};
/** Returns each cited page and the words that its citation covers. */
const citedIn = (text: string, pieces: readonly string[]) => {
  const citer = withPages(12);
  citer.startText();
  return pieces
    .flatMap((piece) => citer.read(piece))
    .map((each) => {
      assert.ok(each.type === 'url' && each.span);
      return [each.title, text.slice(each.span.start, each.span.end)];
    });
};

test('marks cite the pages of their numbers, wherever they are in the text', () => {
  for (const [text, cited] of [
    ['It is [1].', [['T1', '[1]']]],
    ['👩‍👩‍👧[12]', [['T12', '[12]']]],
    [
      '[1][2, 3,2]',
      [
        ['T1', '[1]'],
        ['T2', '[2, 3,2]'],
        ['T3', '[2, 3,2]'],
      ],
    ],
    ['list[1] [0] [13] [x] [1', []],
    ['[[4]]', [['T4', '[4]']]],
  ] as const)
    assert.deepEqual(citedIn(text, [text]), cited, text);
});

test('any pieces of a text cite what the whole cites', () => {
  const words = fc.constantFrom('[1]', '[2, 3]', '[', ']', '1', ', ', 'a', '🗼', '[99]', ' ');
  const cuts = fc.array(fc.nat({ max: 60 }), { maxLength: 8 });
  fc.assert(
    fc.property(fc.array(words, { maxLength: 40 }), cuts, (parts, places) => {
      const text = parts.join('');
      const ends = [...places.toSorted((one, other) => one - other), text.length];
      const pieces = ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end));
      assert.deepEqual(citedIn(text, pieces), citedIn(text, [text]));
    }),
  );
});

test('an answer has at most 500 citations, and cited words are no half characters', () => {
  const citer = withPages(3);
  const citations = [citer.citeText({ type: 'text', text: '[1, 2, 3]'.repeat(400) })].flatMap(
    ({ citations: cited = [] }) => cited,
  );
  assert.equal(citations.length, 500);
  assert.ok(citations.every((each) => each.type === 'url' && each.citedText!.isWellFormed()));
});
