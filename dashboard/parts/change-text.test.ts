import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changeText } from './change-text.ts';

test('a change is a percentage, or a factor from three times on', () => {
  assert.equal(changeText(112, 100), '+12%');
  assert.equal(changeText(60, 100), '−40%');
  assert.equal(changeText(310, 100), '×3.1');
  assert.equal(changeText(0, 100), '−100%');
  assert.equal(changeText(1_000, 1_001), 'unchanged');
  assert.equal(changeText(5, 5), 'unchanged');
  assert.equal(changeText(5, 0), '');
});
