import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestClock } from '../../tests/support/test-clock.ts';
import { KeepAlives, type KeptStream } from './keep-alives.ts';

/** A stream that is written to once, now. */
function silentStream(clock: TestClock): KeptStream & { lastWriteMs: number; keepAlives: number } {
  return {
    lastWriteMs: clock.elapsedMs(),
    keepAlives: 0,
    keepAlive() {
      this.keepAlives++;
      this.lastWriteMs = clock.elapsedMs();
    },
  };
}

test('a stream gets one keep-alive for each silence, and none while it is written to', async () => {
  const clock = new TestClock();
  const keepAlives = new KeepAlives(clock);
  const silent = silentStream(clock);
  const busy = silentStream(clock);
  keepAlives.add(silent);
  keepAlives.add(busy);
  const counts = [];
  for (let second = 1; second <= 30; second++) {
    await clock.advance(1_000);
    busy.lastWriteMs = clock.elapsedMs();
    if (second % 10 === 9) counts.push(silent.keepAlives);
  }
  assert.deepEqual([...counts, silent.keepAlives, busy.keepAlives], [0, 1, 2, 3, 0]);
});

test('a stream that has ended gets no keep-alives, nor does any once the gateway closes', async () => {
  const clock = new TestClock();
  const keepAlives = new KeepAlives(clock);
  const [ended, open] = [silentStream(clock), silentStream(clock)];
  const end = keepAlives.add(ended);
  keepAlives.add(open);
  end();
  // In a longer move, the clock leaves out ticks.
  for (let step = 0; step < 4; step++) await clock.advance(15_000);
  assert.deepEqual([ended.keepAlives, open.keepAlives], [0, 6]);
  keepAlives.close();
  await clock.advance(60_000);
  assert.equal(open.keepAlives, 6);
});
