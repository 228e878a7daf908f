import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { forecastMicros } from './forecast.ts';
import { dayOf, dayStartMs, monthStartMs, nextDayMs, nextMonthMs } from '../../lib/utc-time.ts';

const hourMs = 3_600_000;
const noonMs = Date.UTC(2026, 10, 21, 12);

function forecastOfDay(spentMicros: number, nowMs: number, createdAtMs = 0): number | null {
  const window = { startMs: dayStartMs(nowMs), endMs: nextDayMs(nowMs) };
  return forecastMicros({ spentMicros, ...window, createdAtMs, nowMs });
}

test('half of a day forecasts twice its spend', () => {
  assert.equal(forecastOfDay(1_000, noonMs), 2_000);
});

test('there is no forecast before an eighth of the window, or without spend', () => {
  assert.equal(forecastOfDay(1_000, noonMs - 9 * hourMs), 8_000);
  assert.equal(forecastOfDay(1_000, noonMs - 9 * hourMs - 1), null);
  assert.equal(forecastOfDay(0, noonMs), null);
  const nowMs = Date.UTC(2026, 1, 4, 12);
  const month = { startMs: monthStartMs(nowMs), endMs: nextMonthMs(nowMs), createdAtMs: 0 };
  assert.equal(forecastMicros({ ...month, spentMicros: 7, nowMs }), 56);
  assert.equal(forecastMicros({ ...month, spentMicros: 7, nowMs: nowMs - 1 }), null);
});

test('a key that was made in the window spends from then on', () => {
  assert.equal(forecastOfDay(1_000, noonMs, noonMs - 6 * hourMs), 3_000);
  assert.equal(forecastOfDay(1_000, noonMs, noonMs - hourMs), null);
});

test('a forecast is never below the spend, and is the spend at the end of the window', () => {
  const moments = fc.integer({ min: Date.UTC(2024, 0, 1), max: Date.UTC(2030, 0, 1) });
  fc.assert(
    fc.property(moments, fc.integer({ min: 1, max: 9e15 }), (nowMs, spentMicros) => {
      const forecast = forecastOfDay(spentMicros, nowMs);
      assert.ok(forecast === null || forecast >= spentMicros);
      const last = nextDayMs(nowMs) - 1;
      assert.equal(dayOf(last), dayOf(nowMs));
      const atEnd = forecastOfDay(spentMicros, last)!;
      assert.ok(atEnd - spentMicros <= Math.ceil(spentMicros / (24 * hourMs - 1)));
    }),
  );
});
