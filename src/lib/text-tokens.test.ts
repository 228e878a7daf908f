import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { countTokens } from '../../tests/support/encodings.ts';
import { Random } from '../../tests/support/random.ts';
import { tokenTables } from '../../tests/support/token-tables.ts';
import { scaled } from '../../tests/support/volume.ts';
import * as tables from './token-tables.ts';
import { addText } from './text-tokens.ts';
import { estimateInputTokens } from './tokens.ts';

const upperOf = (text: string) => estimateInputTokens({ input: text }).upper;

/** The bound alone, without a request's overhead. */
function boundOf(text: string): number {
  const sums = { halves: 0, eighths: 0 };
  addText(text, sums);
  return sums.eighths / 8;
}

test('the tables match the encodings', () => {
  // When this fails, replace the content of token-tables.ts by the result of tokenTables().
  assert.deepEqual({ ...tables }, tokenTables());
});

const hostileTexts: Readonly<Record<string, string>> = {
  'letters and signs in turn': 'A~b^',
  'other letters and signs': '~q`Z|x}K',
  'control characters': '\u0001\u0002\u0008\u000e\u001f\u007f',
  'one control character': '\u0000',
  digits: '12345 67890 ',
  'single digits': '1 2 3 4 ',
  'numbers with signs': '[-1.5e-3,0.07]',
  hex: '3f9a7c01b2e84d56',
  base64: 'QUJDRGVmZ2hpSktMbW5vUHFyc3R1dg+/=',
  'letters in random case': 'qZxKjWvQyPgTbX',
  'rare letter pairs': 'qzxjvkwqjxzgvfqk',
  'single letters': 'a b c d e ',
  'letters between brackets': 'x[i]=y[j]+z[k];',
  contractions: "'vE'LL're'S'D",
  'spaces before signs': ' ~ ^ ` | ',
  'white space beyond ASCII': ' \u3000 \u00a0 \u3000',
  'white space': ' \t \t\n \r\v\f  ',
  'long rows of spaces': `${' '.repeat(100)}x`,
  'long rows of tabs': `${'\t'.repeat(50)}x`,
  'JSON escapes': '\\u0041\\n\\"\\\\\\t\\u00e9',
  'special tokens': '<|endoftext|><|im_start|>',
  Chinese: '日本語のテキストです。',
  'rare Chinese': '髮濒籰賊腢鸲獨薫癢狥',
  Korean: '픿풲쮇똎쭬욗벲뗹',
  Russian: 'Съешь же ещё этих мягких французских булок',
  Arabic: 'ڌٞڮي۽ګؔٛۅڬً',
  'accents in turn with letters': 'éaüzñqŵ',
  'combining marks': 'e\u0301\u0302\u0303~\u0301(\u0308',
  emoji: '🙂🎉👩‍👩‍👧‍👦🏳️‍🌈',
  'rare scripts': 'ᚠᛇᚻ᛫ᒣᓂᐊꓶᠠ𒀀𓂀',
  'private use': '\ue000\uf8ff\u{f0000}',
  'halves of pairs': 'a\ud800b\udc00',
  'invisible characters': '\u200b\u200d\ufeff\u2060\u00ad',
};

for (const [name, text] of Object.entries(hostileTexts)) {
  test(`the upper estimate is not below the encodings' count of ${name}`, () => {
    for (const times of [1, 2, 40, 250]) {
      const long = text.repeat(times);
      const tokens = countTokens(long);
      assert.ok(upperOf(long) >= tokens, `${times} times: ${upperOf(long)} < ${tokens}`);
      assert.ok(boundOf(long) >= tokens, `${times} times: ${boundOf(long)} < ${tokens}`);
    }
  });
}

const range = (from: number, to: number, step = 1) =>
  Array.from({ length: Math.ceil((to - from) / step) }, (_, index) =>
    String.fromCodePoint(from + index * step),
  );
const letters = range(0x61, 0x7b);
const digits = range(0x30, 0x3a);
const capitals = range(0x41, 0x5b);
const ascii = range(0, 0x80);
const alphabets: Readonly<Record<string, readonly string[]>> = {
  ascii,
  letters,
  words: [...letters, ' '],
  'mixed case': [...letters, ...capitals],
  'letters and digits': [...letters, ...capitals, ...digits],
  signs: ascii.filter((character) => /[^\sa-zA-Z0-9]/.test(character)),
  control: range(0, 0x20),
  spaces: ['  ', '     ', ...Array.from(' \t\n\r\v\f\u3000\u00a0é;/x1')],
  contractions: Array.from("'sdmtlrveSDMTLRVE ab"),
  code: [...letters, ...Array.from('()[]{};:,."\'=<>/\\_-+*&|!?# \n')],
  numbers: [...digits, ...Array.from('.,- abe:')],
  latin: range(0, 0x180),
  'two bytes': range(0x80, 0x800),
  'three bytes': [...range(0x800, 0xd800), ...range(0xe000, 0x10000)],
  'four bytes': range(0x10000, 0x110000, 199),
  chinese: range(0x4e00, 0x9fff),
  kana: range(0x3000, 0x3100),
  hangul: range(0xac00, 0xd7a4),
  all: [...ascii, ...Array.from('é日한ж🙂\u0301\u200b\ufffdǅªſ\ud800')],
};

for (const [name, alphabet] of Object.entries(alphabets)) {
  test(`a search finds no text of ${name} with more tokens than the bound`, () => {
    const random = new Random(`tokens ${name}`);
    for (let search = 0; search < scaled(12, 300); search++) climb(alphabet, random);
  });
}

/** Mutates a text repeatedly to raise the ratio of real to estimated tokens, up to the bound. */
function climb(alphabet: readonly string[], random: Random): void {
  let best = Array.from(
    { length: 1 + random.below(14) },
    () => alphabet[random.below(alphabet.length)]!,
  );
  let bestRatio = 0;
  for (let step = 0; step < 50; step++) {
    const changed = [...best];
    const removed = random.below(3);
    const added = Array.from(
      { length: random.below(3) },
      () => alphabet[random.below(alphabet.length)]!,
    );
    changed.splice(random.below(changed.length), removed, ...added);
    if (changed.length === 0 || changed.length > 20) continue;
    const text = changed.join('').repeat(4);
    const [tokens, bound] = [countTokens(text), boundOf(text)];
    assert.ok(tokens <= bound, `${tokens} tokens, ${bound} estimated: ${JSON.stringify(text)}`);
    if (tokens / bound < bestRatio) continue;
    best = changed;
    bestRatio = tokens / bound;
  }
}

test('a real text has no more tokens than the bound, at any length', () => {
  const text = readFileSync('LICENSE', 'utf8') + readFileSync('src/lib/text-tokens.ts', 'utf8');
  for (let from = 0; from < text.length; from += 97) {
    const part = text.slice(from, from + 300);
    assert.ok(countTokens(part) <= boundOf(part), JSON.stringify(part));
  }
});
