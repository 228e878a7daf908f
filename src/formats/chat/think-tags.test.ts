import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { ThinkTags } from './think-tags.ts';

const cases: readonly (readonly [whole: string, thinking: string, text: string])[] = [
  ['<think>\nHm.\n</think>\n\nYes.', 'Hm.', 'Yes.'],
  ['\n <think>Hm.</think>Yes.', 'Hm.', 'Yes.'],
  ['<think>a < b </thin> c</think>\n', 'a < b </thin> c', ''],
  // Cut off at its limit.
  ['<think>Hm. It', 'Hm. It', ''],
  ['<think></think>Yes.', '', 'Yes.'],
  // No reasoning at the start.
  ['Yes. <think>no</think>', '', 'Yes. <think>no</think>'],
  ['<thinking>no</thinking>', '', '<thinking>no</thinking>'],
  ['<thi', '', '<thi'],
  ['\n', '', '\n'],
  ['', '', ''],
  ['<think>a</think>b<think>c</think>', 'a', 'b<think>c</think>'],
];

/** `cuts`: the lengths of the pieces that come before the rest. */
function split(whole: string, cuts: readonly number[] = []) {
  const tags = new ThinkTags();
  let at = 0;
  const reads = [...cuts, whole.length].map((cut) => tags.push(whole.slice(at, (at += cut))));
  const all = [...reads, tags.end()];
  return {
    thinking: all.map((read) => read.thinking).join(''),
    text: all.map((read) => read.text).join(''),
  };
}

for (const [whole, thinking, text] of cases) {
  test(`${JSON.stringify(whole)} is read as thought and text`, () =>
    assert.deepEqual(split(whole), { thinking, text }));
}

const pieces = fc.array(
  fc.oneof(
    fc.constantFrom('<think>', '</think>', '<', '/', 'think', '>', ' ', '\n', '</', ' '.repeat(70)),
    fc.string({ maxLength: 5 }),
  ),
);

test('however a text is split, thought and text are the same, and no word is lost', () => {
  fc.assert(
    fc.property(pieces, fc.array(fc.nat(5)), (parts, cuts) => {
      const whole = parts.join('');
      const { thinking, text } = split(whole, cuts);
      const expected = split(whole);
      assert.equal(text.trim(), expected.text.trim());
      assert.equal(thinking.trim(), expected.thinking.trim());
      const bare = (words: string) => words.replaceAll(/\s/g, '');
      const kept = bare(thinking + text);
      if (bare(whole).startsWith('<think>')) assert.ok(kept.length >= bare(whole).length - 15);
      else assert.equal(kept, bare(whole));
    }),
  );
});
