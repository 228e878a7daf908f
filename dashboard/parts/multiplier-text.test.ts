import assert from 'node:assert/strict';
import { test } from 'node:test';
import { multiplierField, multiplierText, ppmFromText } from './multiplier-text.ts';

test('a multiplier is parsed exactly or rejected, and formats back to the same text', () => {
  const cases: readonly [string, number | null][] = [
    ['1', 1_000_000],
    ['×0.9', 900_000],
    ['1.25', 1_250_000],
    ['0', 0],
    ['0.000001', 1],
    ['1000', 1_000_000_000],
    ['1000.1', null],
    ['0.0000001', null],
    ['-1', null],
    ['', null],
    ['a lot', null],
  ];
  for (const [text, ppm] of cases) assert.equal(ppmFromText(text), ppm, text);
  for (const ppm of [0, 1, 900_000, 1_250_000])
    assert.equal(ppmFromText(multiplierField(ppm)), ppm);
  assert.equal(multiplierText(1_250_000), '×1.25');
});
