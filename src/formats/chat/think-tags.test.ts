import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { splitThoughts, ThinkTags } from './think-tags.ts';

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

for (const [whole, thinking, text] of cases) {
  test(`${JSON.stringify(whole)} is read as thought and text`, () =>
    assert.deepEqual(splitThoughts(whole), { thinking, text }));
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
      const tags = new ThinkTags();
      let [thinking, text, at] = ['', '', 0];
      const add = (read: { thinking: string; text: string }) => {
        thinking += read.thinking;
        text += read.text;
      };
      for (const cut of [...cuts, whole.length]) {
        add(tags.push(whole.slice(at, at + cut)));
        at += cut;
      }
      add(tags.end());
      const expected = splitThoughts(whole);
      assert.equal(text.trim(), expected.text.trim());
      assert.equal(thinking.trim(), expected.thinking.trim());
      const bare = (words: string) => words.replaceAll(/\s/g, '');
      const kept = bare(thinking + text);
      if (bare(whole).startsWith('<think>')) assert.ok(kept.length >= bare(whole).length - 15);
      else assert.equal(kept, bare(whole));
    }),
  );
});
