import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TelemetryConfig } from '../../config/schema.ts';
import { newTraceId } from '../../lib/trace-context.ts';
import { createSampler } from './sampler.ts';

const samplerOf = (sampler: TelemetryConfig['sampler'], ratio = 1) =>
  createSampler({ sampler, sampler_ratio: ratio } as TelemetryConfig);
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const sampled = { traceId, flags: '01' };
const unsampled = { traceId, flags: '00' };

test('each standard sampler decides as its name says', () => {
  const table = [
    ['always_on', true, true, true],
    ['always_off', false, false, false],
    ['parentbased_always_on', true, true, false],
    ['parentbased_always_off', false, true, false],
  ] as const;
  for (const [name, alone, withSampled, withUnsampled] of table) {
    const isSampled = samplerOf(name);
    assert.deepEqual(
      [isSampled(null, traceId), isSampled(sampled, traceId), isSampled(unsampled, traceId)],
      [alone, withSampled, withUnsampled],
      name,
    );
  }
});

test('a ratio takes its share of the traces, and the same ones everywhere', () => {
  const ids = Array.from({ length: 4_000 }, newTraceId);
  const [one, other] = [
    samplerOf('traceidratio', 0.25),
    samplerOf('parentbased_traceidratio', 0.25),
  ];
  const taken = ids.filter((id) => one(null, id));
  assert.ok(taken.length > 800 && taken.length < 1_200, `${taken.length} of 4000`);
  assert.deepEqual(
    ids.filter((id) => other(null, id)),
    taken,
  );
  assert.equal(samplerOf('traceidratio', 0)(null, 'f'.repeat(32)), false);
  assert.equal(samplerOf('traceidratio', 1)(null, 'f'.repeat(32)), true);
});
