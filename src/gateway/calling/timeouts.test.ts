import assert from 'node:assert/strict';
import { test } from 'node:test';
import { timeoutsFor } from './timeouts.ts';

const provider = { connect_ms: 5_000, idle_ms: 120_000, total_ms: 1_800_000 };
const supports = { thinking: false, streaming: true, vision: false, tools: true };

test('the first byte may take long for a thinking model and for an answer without streaming', () => {
  const firstByteMs = (thinking: boolean, stream: boolean) =>
    timeoutsFor(provider, { model: { timeouts: {}, supports: { ...supports, thinking } }, stream })
      .first_byte_ms;
  assert.deepEqual(
    [
      firstByteMs(false, true),
      firstByteMs(false, false),
      firstByteMs(true, true),
      firstByteMs(true, false),
    ],
    [120_000, 600_000, 600_000, 600_000],
  );
});

test('a model’s timeouts override its provider’s field by field, and those the defaults', () => {
  const model = { timeouts: { idle_ms: 7, connect_ms: 3 }, supports };
  assert.deepEqual(timeoutsFor({ ...provider, first_byte_ms: 9 }, { model, stream: true }), {
    connect_ms: 3,
    first_byte_ms: 9,
    idle_ms: 7,
    total_ms: 1_800_000,
  });
  const both = timeoutsFor(
    { ...provider, first_byte_ms: 9 },
    { model: { timeouts: { first_byte_ms: 11 }, supports }, stream: true },
  );
  assert.equal(both.first_byte_ms, 11);
});
