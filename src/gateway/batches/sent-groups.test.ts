import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BatchMax } from '../../providers/batches/host.ts';
import { batchHostOf } from '../../providers/batches/index.ts';
import { SentGroups } from './sent-groups.ts';

const place = { region: 'eu-west-1', project: null, apiVersion: null };
const route = { provider: 'one', upstreamModel: 'model', format: 'chat' } as const;

/** Adds equal lines, and returns how many are in each batch at the provider. */
function sizesOf(count: number, max: Partial<BatchMax>, { bytes = 1, inputs = 0 } = {}): number[] {
  const groups = new SentGroups({ id: 'batch_1', nowMs: 0 });
  const line = { route, batchModel: null, max, inputs };
  const ids = Array.from({ length: count }, () => groups.groupFor(line, bytes));
  assert.deepEqual(new Set(ids), new Set(groups.takeNew().map(({ id }) => id)));
  return [...Map.groupBy(ids, (id) => id).values()].map((lines) => lines.length);
}

test('a batch at a provider has no more than its host takes, and no more than is done again', () => {
  const gemini = batchHostOf({ kind: 'google', wishes: {} })!.max!;
  const openAi = batchHostOf({ kind: 'openai', wishes: {} })!.max!;
  const cloud = { bucket: 's3://b', role: 'r', place, baseUrl: 'https://x', linesMin: 100 };
  const bedrock = batchHostOf({ kind: 'bedrock', wishes: {}, cloud })!.max!;
  const mebibyte = 1024 * 1024;
  assert.deepEqual(sizesOf(250, gemini), [100, 100, 50]);
  assert.deepEqual(sizesOf(5, gemini, { bytes: 3 * mebibyte }), [2, 2, 1]);
  assert.deepEqual(sizesOf(60, openAi, { inputs: 2_000 }), [25, 25, 10]);
  assert.deepEqual(sizesOf(10_001, openAi), [10_000, 1]);
  // It takes no few lines, so nothing may be left over.
  assert.deepEqual(sizesOf(50_000, bedrock, { bytes: 4_000 }), [50_000]);
  assert.deepEqual(sizesOf(13, {}, { bytes: 4 * mebibyte }), [12, 1]);
});

test('lines of one model that run under different ids in batches are sent apart', () => {
  const groups = new SentGroups({ id: 'batch_1', nowMs: 0 });
  const [one, other, again] = ['night', 'slow', 'night'].map((batchModel) =>
    groups.groupFor({ route, batchModel, max: {}, inputs: 0 }, 1),
  );
  assert.notEqual(one, other);
  assert.equal(one, again);
});
