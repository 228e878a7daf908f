import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { dayOf, monthOf, nextDayMs, nextMonthMs } from './utc-time.ts';

const hourMs = 3_600_000;
const machine = process.env['TZ'];

for (const zone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago']) {
  describe(`on a machine in ${zone}`, () => {
    before(() => {
      process.env['TZ'] = zone;
    });
    after(() => {
      if (machine === undefined) delete process.env['TZ'];
      else process.env['TZ'] = machine;
    });

    test('a day begins at 00:00 UTC', () => {
      const newYearMs = Date.UTC(2027, 0, 1);
      assert.notEqual(new Date(newYearMs).getTimezoneOffset(), 0);
      assert.deepEqual([dayOf(newYearMs - 1), dayOf(newYearMs)], ['2026-12-31', '2027-01-01']);
      for (const beforeMs of [1, 12 * hourMs, 24 * hourMs])
        assert.equal(nextDayMs(newYearMs - beforeMs), newYearMs);
      assert.equal(nextDayMs(newYearMs), newYearMs + 24 * hourMs);
    });

    test('a month begins at 00:00 UTC of its first day', () => {
      for (const [year, month, name, next] of [
        [2027, 0, '2026-12', '2027-01'],
        [2028, 2, '2028-02', '2028-03'],
      ] as const) {
        const beginMs = Date.UTC(year, month, 1);
        assert.deepEqual([monthOf(beginMs - 1), monthOf(beginMs)], [name, next]);
        for (const beforeMs of [1, 12 * hourMs, 28 * 24 * hourMs])
          assert.equal(nextMonthMs(beginMs - beforeMs), beginMs);
        assert.equal(nextMonthMs(beginMs), Date.UTC(year, month + 1, 1));
      }
    });
  });
}
