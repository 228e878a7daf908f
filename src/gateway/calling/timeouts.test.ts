import assert from 'node:assert/strict';
import { test } from 'node:test';
import { timeoutsFor } from './timeouts.ts';

const provider = { connect_ms: 5_000, total_ms: 1_800_000 };
const supports = { thinking: false, streaming: true, vision: false, audio: false, tools: true };

test('a thinking model may be silent for longer, and a whole answer may use all of its time', () => {
  const silences = (thinking: boolean, stream: boolean) => {
    const model = { timeouts: {}, supports: { ...supports, thinking } };
    const { first_byte_ms: firstByteMs, idle_ms: idleMs } = timeoutsFor(provider, {
      model,
      stream,
    });
    return stream ? [firstByteMs, idleMs] : firstByteMs;
  };
  assert.deepEqual(silences(false, true), [120_000, 120_000]);
  assert.deepEqual(silences(true, true), [600_000, 600_000]);
  assert.deepEqual([silences(false, false), silences(true, false)], [1_800_000, 1_800_000]);
  const quick = { timeouts: { total_ms: 60_000 }, supports };
  assert.equal(timeoutsFor(provider, { model: quick, stream: false }).first_byte_ms, 60_000);
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
