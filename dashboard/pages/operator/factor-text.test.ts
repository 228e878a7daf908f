import assert from 'node:assert/strict';
import { test } from 'node:test';
import { factorField, factorText, ppmFromText } from './factor-text.ts';

test('a factor is read exactly or not at all, and written as it was read', () => {
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
  for (const ppm of [0, 1, 900_000, 1_250_000]) assert.equal(ppmFromText(factorField(ppm)), ppm);
  assert.equal(factorText(1_250_000), '×1.25');
});
