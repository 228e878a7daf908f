import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byLikeness, textsOf } from './likeness.ts';

test('the text with the most similar vector comes first', () => {
  const texts = textsOf(' one \n\ntwo\nthree\n');
  assert.deepEqual(texts, ['one', 'two', 'three']);
  const vectors = [
    [2, 0],
    [0, 5],
    [3, 3],
  ];
  assert.deepEqual(
    byLikeness(texts, vectors).map(({ text, likeness }) => [text, likeness.toFixed(3)]),
    [
      ['three', '0.707'],
      ['two', '0.000'],
    ],
  );
});
