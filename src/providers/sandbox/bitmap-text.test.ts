import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { letters } from './bitmap-font.ts';
import { cutText, forEachDot, layOutText, type TextBlock, toAscii } from './bitmap-text.ts';

function show(block: TextBlock): string[] {
  const rows = Array.from({ length: block.height }, () => Array<string>(block.width).fill('.'));
  forEachDot(block, (x, y) => (rows[y]![x] = '#'));
  return rows.map((row) => row.join(''));
}

test('text is drawn as readable dots', () => {
  assert.deepEqual(show(layOutText('Hi, py', 100)), [
    '#...#.#.................',
    '#...#...................',
    '#...#.#........###..#..#',
    '#####.#........#..#.#..#',
    '#...#.#........#..#.#..#',
    '#...#.#..#.....#..#.#..#',
    '#...#.#..#.....###...###',
    '........#......#.......#',
    '...............#.....##.',
  ]);
});

test('every printable ASCII character has its own letter', () => {
  const printable = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index));
  assert.deepEqual(new Set(Object.keys(letters)), new Set(printable));
  assert.equal(new Set(Object.values(letters)).size, printable.length);
});

test('accents and typographic marks become plain letters, other scripts Latin ones', () => {
  assert.equal(toAscii('“Café” – naïve…\r\n\tß\u{0}'), '"Cafe" - naive...\n ss');
  assert.equal(toAscii('日本 Київ 🦊'), 'RiBen Kiiv :fox:');
});

test('no line is too wide, and no word is lost', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', maxLength: 200 }),
      fc.integer({ min: 40, max: 300 }),
      (grapheme, width) => {
        const text = toAscii(grapheme);
        const block = layOutText(text, width);
        const rows = show(block);
        assert.ok(block.width <= width, `${block.width} > ${width}`);
        assert.ok(rows.every((row) => row.length === block.width));
        const dots = (shown: readonly string[]) => shown.join('').replaceAll('.', '').length;
        assert.equal(dots(rows), dots(show(layOutText(text, 1e9))));
      },
    ),
  );
});

test('a text that does not fit ends with dots', () => {
  const block = layOutText('one two three four five six', 50);
  const cut = cutText(block, { width: 50, height: 30 });
  assert.equal(cut.lines.length, 2);
  assert.ok(cut.width <= 50);
  const end = show(cut)
    .slice(12 + 6, 12 + 7)[0]!
    .trimEnd();
  assert.match(end, /#\.#\.#\.*$/);
  assert.equal(cutText(block, { width: 50, height: 1_000 }), block);
});
