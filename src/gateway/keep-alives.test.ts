import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { KeepAlives, type KeptStream } from './keep-alives.ts';

/** A stream that is written to once, at the start of the test's clock. */
function silentStream(clock: { nowMs: number }): KeptStream & { lastWriteMs: number; keepAlives: number } {
  return {
    lastWriteMs: clock.nowMs,
    keepAlives: 0,
    keepAlive() {
      this.keepAlives++;
      this.lastWriteMs = clock.nowMs;
    },
  };
}

test('a stream gets one keep-alive for each silence, and none while it is written to', (t) => {
  const clock = { nowMs: 0 };
  const keepAlives = new KeepAlives(10_000, () => clock.nowMs);
  t.after(() => keepAlives.close());
  const silent = silentStream(clock);
  const busy = silentStream(clock);
  keepAlives.add(silent);
  keepAlives.add(busy);
  const counts = [];
  for (clock.nowMs = 0; clock.nowMs <= 30_000; clock.nowMs += 1_000) {
    busy.lastWriteMs = clock.nowMs;
    keepAlives.sweep();
    if (clock.nowMs % 10_000 === 9_000) counts.push(silent.keepAlives);
  }
  assert.deepEqual([...counts, silent.keepAlives, busy.keepAlives], [0, 1, 2, 3, 0]);
});

test('a stream that has ended is left alone', (t) => {
  const clock = { nowMs: 0 };
  const keepAlives = new KeepAlives(10_000, () => clock.nowMs);
  t.after(() => keepAlives.close());
  const ended = silentStream(clock);
  keepAlives.add(ended);
  keepAlives.remove(ended);
  clock.nowMs = 60_000;
  keepAlives.sweep();
  assert.equal(ended.keepAlives, 0);
});

test('the timer sweeps by itself until it is closed', async () => {
  const keepAlives = new KeepAlives(20);
  const clock = { nowMs: keepAlives.nowMs() };
  const silent = silentStream(clock);
  keepAlives.add(silent);
  while (silent.keepAlives === 0) await setTimeout(10);
  keepAlives.close();
  const seen = silent.keepAlives;
  await setTimeout(60);
  assert.equal(silent.keepAlives, seen);
});
