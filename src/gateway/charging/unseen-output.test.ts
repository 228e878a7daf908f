import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestClock } from '../../../tests/support/test-clock.ts';
import { OutputMeter } from '../../canonical/output-bytes.ts';
import { noUsage } from '../../canonical/usage.ts';
import { UnseenOutput, type Unseen } from './unseen-output.ts';

/** A call of a route that writes 50 tokens a second. */
function openCall(unseen: Unseen, choices = 1) {
  const clock = new TestClock();
  const call = new UnseenOutput(clock, { choices, unseen, tokensPerSecond: 50 });
  const output = new OutputMeter();
  /** Waits, then shows this many tokens. */
  const show = async (ms: number, tokens: number) => {
    await clock.advance(ms);
    output.addText('four'.repeat(tokens));
    call.note({ output, usage: null });
  };
  return { clock, call, show };
}

test('a silence counts by the speed of its route, without what was shown at its end', async () => {
  const { call, show } = openCall('parts');
  call.begin();
  await show(500, 25);
  assert.equal(call.tokens, 0, 'shorter silences are the network’s');
  await show(10_000, 100);
  assert.equal(call.tokens, 400);
});

test('a count of the provider replaces what was estimated up to then', async () => {
  const { clock, call } = openCall('parts');
  call.begin();
  await clock.advance(10_000);
  call.note({ output: new OutputMeter(), usage: { ...noUsage, outputTokens: 700 } });
  assert.equal(call.tokens, 0);
  await clock.advance(2_000);
  assert.equal(call.tokens, 100);
});

test('output that is raised to the count of a turn is not output that came after it', () => {
  const { call } = openCall('parts');
  const output = new OutputMeter();
  output.addText('four');
  call.note({ output, usage: { ...noUsage, outputTokens: 4_000 } });
  output.addBytes(16_000);
  call.noteCounted(output);
  call.note({ output, usage: { ...noUsage, outputTokens: 4_000 } });
  assert.deepEqual(call.counted, { tokens: 4_000, bytes: output.bytes });
});

test('the time before the first event is a queue, and counts only if no event ever comes', async () => {
  const { clock, call, show } = openCall('parts');
  await clock.advance(60_000);
  assert.deepEqual([call.isHidden, call.hasBegun, call.tokens], [true, false, 3_000]);
  call.begin();
  await show(0, 1);
  assert.deepEqual([call.isHidden, call.hasBegun, call.tokens], [false, true, 0]);
});

test('a stream that shows everything is hidden only before its first event', async () => {
  const { clock, call } = openCall('nothing');
  assert.equal(call.isHidden, true);
  call.begin();
  await clock.advance(60_000);
  assert.deepEqual([call.isHidden, call.tokens], [false, 0]);
  call.end();
});

test('the speed of a stream is measured by what it shows, without silences', async () => {
  const { clock, call, show } = openCall('parts', 2);
  call.begin();
  await show(1_000, 40);
  await show(30_000, 500);
  await show(1_000, 40);
  assert.deepEqual(call.written, { tokens: 40, ms: 2_000 }, 'of each choice');
  await clock.advance(1_000);
  call.end();
  assert.deepEqual(call.written, { tokens: 40, ms: 2_000 }, 'nothing is shown at the end');
  call.noteOwnWait();
  assert.equal(call.written, null, 'a pause of ours makes it unknown');
});

test('the speed of a whole answer is measured by the provider’s count', async () => {
  const { clock, call } = openCall('all', 2);
  await clock.advance(4_000);
  call.noteWhole({ ...noUsage, outputTokens: 400 });
  assert.deepEqual(call.written, { tokens: 200, ms: 4_000 });
});
