// Batches that real providers have shown: what is read of them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HostCalls } from '../src/providers/batches/host.ts';
import { batchHostOf } from '../src/providers/batches/index.ts';
import type { JsonObject } from '../src/lib/json.ts';

/** Answers every call with the recorded body. */
const callsWith = (body: object): HostCalls => ({
  call: async () => body as JsonObject,
  send: async () => body as JsonObject,
  read: () => Promise.reject(new Error('nothing is read')),
});

/** OpenAI's, for gpt-5-nano, on 2026-08-19. */
const openAiBatch = {
  id: 'batch_6a85c08a63188190982c56b42faa4ff5',
  object: 'batch',
  endpoint: '/v1/responses',
  model: 'gpt-5-nano-2025-08-07',
  errors: null,
  input_file_id: 'file-5dskxx7B6SVyAyRgAHzTJ2',
  completion_window: '24h',
  status: 'completed',
  output_file_id: 'file-4SnbT9qu8ShH2A1wCvTHNp',
  error_file_id: null,
  created_at: 1_787_150_474,
  request_counts: { total: 2, completed: 2, failed: 0 },
  metadata: null,
};
/** Anthropic's, for claude-haiku-4-5, on the same day. */
const anthropicBatch = {
  id: 'msgbatch_01GUqGVJfUzZfBnjRymfPdV3',
  type: 'message_batch',
  processing_status: 'ended',
  request_counts: { processing: 0, succeeded: 2, errored: 0, canceled: 0, expired: 0 },
  ended_at: '2026-08-19T14:46:57.158324+00:00',
  created_at: '2026-08-19T14:44:51.493319+00:00',
  results_url:
    'https://api.anthropic.com/v1/messages/batches/msgbatch_01GUqGVJfUzZfBnjRymfPdV3/results',
};
const sent = {
  mark: 'sent_1',
  path: '/responses',
  lines: { bytes: 0, count: 0, pieces: async function* () {} },
};

test("OpenAI's recorded batch is read", async () => {
  const host = batchHostOf({ kind: 'openai', wishes: {} })!;
  assert.equal(await host.create(callsWith(openAiBatch), sent, 'file-1'), openAiBatch.id);
  assert.deepEqual(await host.look(callsWith(openAiBatch), openAiBatch.id), {
    state: 'ended',
    unrun: null,
    results: ['/files/file-4SnbT9qu8ShH2A1wCvTHNp/content'],
    files: ['/files/file-4SnbT9qu8ShH2A1wCvTHNp'],
  });
  for (const status of ['validating', 'in_progress', 'finalizing', 'cancelling'])
    assert.deepEqual(await host.look(callsWith({ ...openAiBatch, status }), 'x'), {
      state: 'running',
    });
});

test("Anthropic's recorded batch and its results are read", async () => {
  const host = batchHostOf({ kind: 'anthropic', wishes: {} })!;
  const { id } = anthropicBatch;
  assert.equal(await host.create(callsWith(anthropicBatch), sent, null), id);
  assert.deepEqual(await host.look(callsWith(anthropicBatch), id), {
    state: 'ended',
    unrun: null,
    results: [`/v1/messages/batches/${id}/results`],
    files: [`/v1/messages/batches/${id}`],
  });
  const message = { model: 'claude-haiku-4-5-20251001', type: 'message', role: 'assistant' };
  assert.deepEqual(host.readLine({ custom_id: '0', result: { type: 'succeeded', message } }), {
    customId: '0',
    result: { status: 200, body: message },
  });
});

test('an id of the provider that would lead elsewhere is refused', async () => {
  const host = batchHostOf({ kind: 'openai', wishes: {} })!;
  for (const id of ['../files', 'a/b', 'a?b', '..', '', 7, null])
    await assert.rejects(host.create(callsWith({ id }), sent, 'file-1'), /no id/);
});
