import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leastCpuMsOf } from '../../../tests/support/cpu-time.ts';
import fc from '../../../tests/support/property.ts';
import { toPlainText } from './plain-text.ts';

const lengthMax = 2_000;

const texts: [html: string, text: string][] = [
  ['The <strong>quick</strong> brown&nbsp;fox', 'The quick brown fox'],
  ['Tom &amp; Jerry&#39;s &quot;best&quot; &#x2014; caf&#233;', 'Tom & Jerry\'s "best" — café'],
  ['the &lt;b&gt; tag', 'the <b> tag'],
  ['&amp;lt;', '&lt;'],
  ['first<br>second<br/>third<p class="x">fourth</p>', 'first second third fourth'],
  ['a<wbr>b <a href="x?a=1>2" title=\'>\'>link</a>', 'ab link'],
  ['before<script>if (a < b) alert("<b>")</script>after', 'before after'],
  ['<style>p { color: red }</style>text<!-- not <b>seen</b> -->', 'text'],
  ['<!DOCTYPE html><?xml version="1.0"?>text', 'text'],
  ['if a < b and c > d, a<5', 'if a < b and c > d, a<5'],
  ['the <script> tag alone', 'the tag alone'],
  ['<<b>script>alert(1)<</b>/script>', 'alert(1)'],
  ['AT&T &unknown; &; &#; &#xZZ; & co', 'AT&T &unknown; &; &#; &#xZZ; & co'],
  ['&#0;&#xD800;&#x110000;', '���'],
  ['&constructor; &toString;', '&constructor; &toString;'],
  ['  lines\n\tand   spaces ', 'lines and spaces'],
  ['<img src=x onerror="alert(1)">', ''],
  ['<img src=x onerror=alert(1) ">text</>', 'text'],
  ['half \ud83d a character', 'half � a character'],
];
for (const [html, text] of texts) {
  test(`${JSON.stringify(html)} reads ${JSON.stringify(text)}`, () =>
    assert.equal(toPlainText(html, lengthMax), text));
}

/** The start of something that browsers parse as a tag or comment, with an end. */
const tagLike = /<[a-z/!?][^<>]*>/i;

test('no tag remains', () => {
  const parts = fc.constantFrom(
    '<',
    '>',
    '</',
    '/>',
    'b',
    'script',
    ' ',
    '"',
    "'",
    '=',
    '!--',
    '--',
    'a',
    '<b>',
    '</b>',
    '?',
    '\n',
  );
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 60 }), (words) => {
      const text = toPlainText(words.join(''), lengthMax);
      assert.ok(!tagLike.test(text), text);
    }),
    { numRuns: 5_000 },
  );
});

test('text without markup is unchanged', () => {
  const character = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 1 })
    .filter((text) => !/[<&\s]/u.test(text));
  const sentence = fc.array(fc.array(character, { minLength: 1, maxLength: 8 }), { maxLength: 20 });
  fc.assert(
    fc.property(sentence, (words) => {
      const text = words.map((word) => word.join('')).join(' ');
      assert.equal(toPlainText(text, lengthMax), text);
    }),
    { numRuns: 1_000 },
  );
});

test('escaped text is restored', () => {
  const escape = (text: string) =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('<b>', '&amp;', 'a', '<', '>', '&', ' x', 'é'), { maxLength: 30 }),
      (words) => {
        const text = words.join('').trim();
        assert.equal(toPlainText(escape(text), lengthMax), text);
      },
    ),
  );
});

test('long texts are cut, but never within a character', () => {
  assert.equal(toPlainText('abcdef', 4), 'abc…');
  assert.equal(toPlainText('ab😀def', 4), 'ab…');
  assert.ok(toPlainText('<b>x</b>'.repeat(100_000), lengthMax).length <= lengthMax);
});

test('nested tags leave no tag, at any depth', () => {
  for (const depth of [1, 7, 8, 9, 100, 2_000]) {
    assert.doesNotMatch(
      toPlainText(`${'<'.repeat(depth)}${'b>'.repeat(depth)}`, lengthMax),
      tagLike,
    );
  }
});

test('hostile texts are processed quickly', () => {
  const parts = [
    '<',
    '<a',
    '<a"',
    "<a'",
    '<a "',
    '<script>',
    '<!--',
    '&#',
    '<a x=',
    '</',
    '<b>b>',
    'a',
  ];
  const hostile = [
    ...parts.map((part) => part.repeat(8_000)),
    '<'.repeat(2_000) + 'b>'.repeat(2_000),
    `<${'a'.repeat(8_000)}`,
  ];
  for (const text of hostile) {
    const tookMs = leastCpuMsOf(() => toPlainText(text, lengthMax));
    assert.ok(tookMs < 50, `${text.slice(0, 20)}: ${tookMs} ms`);
  }
});
