import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RequestEvent } from '../events/request-events.ts';
import { RequestRecord } from './request-record.ts';

test('a listener that throws stops neither the request nor the other listeners', async () => {
  const heard: RequestEvent['type'][] = [];
  const errors: unknown[] = [];
  const broken = new Error('no space left');
  const fails = () => {
    throw broken;
  };
  const record = new RequestRecord('req_1', {
    path: '/v1/responses',
    listeners: [{ hear: fails }, { hear: ({ type }) => void heard.push(type) }],
    onError: (error) => errors.push(error),
  });
  const charged = await record.tellStep(
    { elapsedMs: () => 0 },
    () => Promise.resolve('charged'),
    () => ({ type: 'settled', settled: null }),
  );
  assert.deepEqual([charged, heard, errors], ['charged', ['settled'], [broken]]);
});
