import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foreignText, microsFromText, shortUsdText, usdText } from './money-text.ts';

test('money shows every significant digit, and at least two decimals', () => {
  const cases: readonly [number, string][] = [
    [0, '$0.00'],
    [1, '$0.000001'],
    [123, '$0.000123'],
    [10_000, '$0.01'],
    [100_000, '$0.10'],
    [12_500_000, '$12.50'],
    [1_234_005_000, '$1,234.005'],
    [-1_500_000, '−$1.50'],
    [-1, '−$0.000001'],
  ];
  for (const [micros, text] of cases) assert.equal(usdText(micros), text);
});

test('short money drops fractions of a cent from one dollar on, and never shows more than there is', () => {
  assert.equal(shortUsdText(12_349_999), '$12.34');
  assert.equal(shortUsdText(-12_349_999), '−$12.34');
  assert.equal(shortUsdText(999_999), '$0.999999');
});

test('a typed amount is parsed exactly or rejected', () => {
  const cases: readonly [string, number | null][] = [
    ['5', 5_000_000],
    ['$1,250.5', 1_250_500_000],
    ['.000001', 1],
    [' 0.10 ', 100_000],
    ['0.0000001', null],
    ['1,25', null],
    ['', null],
    ['.', null],
    ['-1', null],
    ['1e3', null],
    ['99999999999999999', null],
  ];
  for (const [text, micros] of cases) assert.equal(microsFromText(text), micros, text);
});

test('formatted amounts parse back to the same value', () => {
  for (const micros of [0, 1, 999, 1_000_000, 123_456_789, 5_000_000_000_000])
    assert.equal(microsFromText(usdText(micros)), micros);
});

test('each currency shows its own number of decimals', () => {
  const cases = { eur: '€12.50', jpy: '¥1,250', kwd: 'KWD\u00a01.250' };
  for (const [currency, text] of Object.entries(cases))
    assert.equal(foreignText(12_500_000, currency), text);
});
