import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DayCount, planSpans, widenSpans } from './spans.ts';

const day = (name: string, requests: number, matching: number): DayCount => ({
  day: `2026-11-${name}`,
  requests,
  matching,
});
const at = (text: string) => Date.parse(text);

function planned(days: readonly DayCount[], range: Parameters<typeof planSpans>[1] = {}): string[] {
  const short = (ms: number | null) => new Date(ms!).toISOString().slice(5, 16);
  return planSpans(days, range).map(({ fromMs, toMs }) => `${short(fromMs)} ${short(toMs)}`);
}

test('small days are read together, with the gaps between them, newest first', () => {
  assert.deepEqual(
    planned([day('21', 9_000, 1), day('20', 9_000, 0), day('03', 3_000, 1), day('02', 5, 1)]),
    ['11-20T00:00 11-22T00:00', '11-02T00:00 11-04T00:00'],
  );
});

test('days without matches are skipped', () => {
  assert.deepEqual(planned([day('21', 20_000, 0), day('20', 20_000, 4), day('19', 30_000, 0)]), [
    '11-20T00:00 11-21T00:00',
  ]);
  assert.deepEqual(planned([]), []);
});

test('a large day is a span of its own, which is searched in steps', () => {
  assert.deepEqual(planned([day('22', 5, 1), day('21', 60_000, 1), day('20', 5, 1)]), [
    '11-22T00:00 11-23T00:00',
    '11-21T00:00 11-22T00:00',
    '11-20T00:00 11-21T00:00',
  ]);
});

test('nothing outside the requested period is read', () => {
  const range = { fromMs: at('2026-11-21T10:00Z'), toMs: at('2026-11-21T12:00Z') };
  assert.deepEqual(planned([day('21', 60_000, 1)], range), ['11-21T10:00 11-21T12:00']);
  assert.deepEqual(
    planned([day('21', 5, 1), day('20', 5, 1)], { fromMs: at('2026-11-20T23:00Z') }),
    ['11-20T23:00 11-22T00:00'],
  );
});

test('spans that widen cover all the time, newest first, without a gap', () => {
  const newestMs = 200 * 86_400_000;
  const spans = widenSpans(newestMs, {});
  assert.deepEqual([spans[0]?.toMs, spans.at(-1)?.fromMs], [newestMs + 1, null]);
  spans.slice(1).forEach((span, index) => assert.equal(span.toMs, spans[index]!.fromMs));
  assert.deepEqual(widenSpans(newestMs, { fromMs: newestMs - 1, toMs: newestMs }), [
    { fromMs: newestMs - 1, toMs: newestMs },
  ]);
  assert.deepEqual(widenSpans(newestMs, { fromMs: 5, toMs: 10 }), [{ fromMs: 5, toMs: 10 }]);
});
