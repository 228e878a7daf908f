import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';

import {
  columnDigits,
  fixedUsdText,
  foreignText,
  microsFromText,
  shortUsdText,
  usdText,
} from './money-text.ts';

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

test('a headline shows the nearest cent, and never zero for an amount that is not', () => {
  const cases: readonly [number, string][] = [
    [0, '$0.00'],
    // A balance of $1,000 after two calls of a millionth.
    [999_999_998, '$1,000.00'],
    [12_345_000, '$12.34'],
    [12_355_000, '$12.36'],
    [12_345_001, '$12.35'],
    [999_999, '$1.00'],
    [5_001, '$0.01'],
    [5_000, '<$0.01'],
    [1, '<$0.01'],
    [-1, '−<$0.01'],
    [-12_349_999, '−$12.35'],
  ];
  for (const [micros, text] of cases) assert.equal(shortUsdText(micros), text);
});

const anyMicros = fc.integer({ min: -(10 ** 13), max: 10 ** 13 });

test('a headline is within half a cent of the amount', () => {
  fc.assert(
    fc.property(anyMicros, (micros) => {
      const text = shortUsdText(micros);
      if (text.includes('<')) return Math.abs(micros) <= 5_000 && micros !== 0;
      const shown = microsFromText(text.replace('−', ''))!;
      return Math.abs(shown - Math.abs(micros)) <= 5_000 && (micros === 0) === (shown === 0);
    }),
  );
});

test('a column shows each amount exactly, with one number of decimals and no more than it needs', () => {
  fc.assert(
    fc.property(fc.array(anyMicros, { minLength: 1 }), (column) => {
      const digits = columnDigits(column);
      const texts = column.map((micros) => fixedUsdText(micros, digits));
      const isExact = texts.every(
        (text, row) => microsFromText(text.replace('−', '')) === Math.abs(column[row]!),
      );
      const isOneLength = texts.every((text) => text.split('.')[1]!.length === digits);
      const isShortest = digits === 2 || texts.some((text) => !text.endsWith('0'));
      return isExact && isOneLength && isShortest;
    }),
  );
  assert.equal(columnDigits([1_000_000, null, 250_000]), 2);
  assert.equal(columnDigits([1_000_000, 123]), 6);
});

test('a typed amount is parsed exactly or rejected', () => {
  const cases: readonly [string, number | null][] = [
    ['5', 5_000_000],
    ['$1,250.5', 1_250_500_000],
    ['.000001', 1],
    [' 0.10 ', 100_000],
    ['0.0000001', null],
    ['1,25', null],
    ['0,500', null],
    ['012,500', null],
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
