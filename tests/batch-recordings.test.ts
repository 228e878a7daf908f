// Batches that real providers have shown: what is read of them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BatchHost, HostCalls } from '../src/providers/batches/host.ts';
import { batchHostOf } from '../src/providers/batches/index.ts';
import type { JsonObject } from '../src/lib/json.ts';
import { batchLinesMax } from '../src/terms/batch.ts';

/** Answers every call with the recorded body. */
const callsWith = (body: object): HostCalls => ({
  call: async () => body as JsonObject,
  send: async () => body as JsonObject,
  read: () => Promise.reject(new Error('nothing is read')),
  pause: async () => {},
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
  model: 'gpt-5-nano',
  lines: { bytes: 0, count: 0, pieces: async function* () {} },
};

test("OpenAI's recorded batch is read", async () => {
  const host = batchHostOf({ kind: 'openai', wishes: {} })!;
  assert.equal(await host.create(callsWith(openAiBatch), sent, 'file-1'), openAiBatch.id);
  assert.deepEqual(await host.look(callsWith(openAiBatch), openAiBatch.id, 2), {
    state: 'ended',
    unrun: null,
    results: ['/files/file-4SnbT9qu8ShH2A1wCvTHNp/content'],
    files: ['/files/file-4SnbT9qu8ShH2A1wCvTHNp'],
  });
  for (const status of ['validating', 'in_progress', 'finalizing', 'cancelling'])
    assert.deepEqual(await host.look(callsWith({ ...openAiBatch, status }), 'x', 2), {
      state: 'running',
    });
});

test("Anthropic's recorded batch and its results are read", async () => {
  const host = batchHostOf({ kind: 'anthropic', wishes: {} })!;
  const { id } = anthropicBatch;
  assert.equal(await host.create(callsWith(anthropicBatch), sent, null), id);
  assert.deepEqual(await host.look(callsWith(anthropicBatch), id, 2), {
    state: 'ended',
    unrun: null,
    results: [`/v1/messages/batches/${id}/results`],
    files: [`/v1/messages/batches/${id}`],
  });
  const message = { model: 'claude-haiku-4-5-20251001', type: 'message', role: 'assistant' };
  assert.deepEqual(
    host.readLine({ custom_id: '0', result: { type: 'succeeded', message } }, 'sent_1'),
    {
      customId: '0',
      result: { status: 200, body: message },
    },
  );
});

/** Reads all results at a path of a host that does not show them as lines of text. */
async function resultsAt(host: BatchHost, body: object) {
  const read = await Array.fromAsync(host.read!(callsWith(body), '/x'));
  return read.map(({ line }) => host.readLine(line!, 'sent_1'));
}

/** Mistral's, for mistral-small-latest, on the same day. */
const mistralJob = {
  id: 'ca1cd668-91bd-4abb-accb-3541709c0db1',
  object: 'batch',
  metadata: null,
  endpoint: '/v1/chat/completions',
  output_file: 'abbe56be-ac4c-4562-9586-d3046defca39',
  error_file: null,
  errors: [],
  status: 'SUCCESS',
  created_at: 1_787_150_442,
  total_requests: 2,
};

test("Mistral's recorded job and its results are read", async () => {
  const host = batchHostOf({ kind: 'openai-compatible', wishes: { batches: 'mistral' } })!;
  const { id, output_file: file } = mistralJob;
  assert.equal(await host.create(callsWith(mistralJob), sent, 'file-1'), id);
  assert.deepEqual(await host.look(callsWith(mistralJob), id, 2), {
    state: 'ended',
    unrun: null,
    results: [`/files/${file}/content`],
    files: [`/files/${file}`, `/batch/jobs/${id}`],
  });
  for (const status of ['QUEUED', 'RUNNING'])
    assert.deepEqual(await host.look(callsWith({ ...mistralJob, status }), id, 2), {
      state: 'running',
    });
  const body = { object: 'chat.completion', model: 'mistral-small-latest' };
  const line = { custom_id: '0', response: { status_code: 200, body }, error: null };
  assert.deepEqual(host.readLine(line, 'sent_1'), { customId: '0', result: { status: 200, body } });
});

/** Gemini's, for gemini-2.5-flash, on the same day. */
const geminiResponse = { modelVersion: 'gemini-2.5-flash', responseId: 'xr-FavMd3JGa2Q-swqfYBw' };
const geminiBatch = {
  name: 'batches/31u18uq6dr4ods3957z38i1mbfa581k01xcq',
  metadata: {
    model: 'models/gemini-2.5-flash',
    displayName: 'ruby_llm_bf7406835d85c375',
    output: {
      inlinedResponses: {
        inlinedResponses: [{ response: geminiResponse, metadata: { custom_id: '0' } }],
      },
    },
    batchStats: { requestCount: '2', successfulRequestCount: '2' },
    state: 'BATCH_STATE_SUCCEEDED',
  },
  done: true,
};

test("Gemini's recorded batch and its results are read", async () => {
  const host = batchHostOf({ kind: 'google', wishes: {} })!;
  const path = '/v1beta/models/gemini-2.5-flash:generateContent';
  const id = await host.create(callsWith(geminiBatch), { ...sent, path }, null);
  assert.equal(`batches/${id}`, geminiBatch.name);
  const at = [`/v1beta/${geminiBatch.name}`];
  const ended = { state: 'ended', unrun: null, results: at, files: at };
  assert.deepEqual(await host.look(callsWith(geminiBatch), id, 2), ended);
  for (const state of ['BATCH_STATE_PENDING', 'BATCH_STATE_RUNNING'])
    assert.deepEqual(await host.look(callsWith({ ...geminiBatch, metadata: { state } }), id, 2), {
      state: 'running',
    });
  const result = { status: 200, body: geminiResponse };
  assert.deepEqual(await resultsAt(host, geminiBatch), [{ customId: '0', result }]);
});

test("Gemini's batches take one text a line to embed, and answer as a live call does", async () => {
  const host = batchHostOf({ kind: 'google', wishes: {} })!;
  const path = '/v1beta/models/gemini-embedding-001:batchEmbedContents';
  const request = { model: 'models/gemini-embedding-001', content: { parts: [{ text: 'one' }] } };
  const metadata = { custom_id: '0' };
  assert.deepEqual(host.writeLine('0', path, { requests: [request] }), { request, metadata });
  const paths: string[] = [];
  const calls = callsWith(geminiBatch);
  const send: HostCalls['send'] = (at, body) => (paths.push(at), calls.send(at, body));
  await host.create({ ...calls, send }, { ...sent, path }, null);
  assert.deepEqual(paths, ['/v1beta/models/gemini-embedding-001:asyncBatchEmbedContent']);
  const embedding = { values: [0.5, 0.25] };
  for (const [response, usageMetadata] of [
    [{ embedding, tokenCount: '7' }, { promptTokenCount: 7 }],
    [{ embedding }, {}],
  ])
    assert.deepEqual(host.readLine({ response, metadata }, 'sent_1'), {
      customId: '0',
      result: { status: 200, body: { embeddings: [embedding], usageMetadata } },
    });
});

test("xAI's recorded batch and its results are read", async () => {
  const host = batchHostOf({ kind: 'openai-compatible', wishes: { batches: 'xai' } })!;
  /** For grok-4.3, on 2026-08-10. */
  const id = 'batch_6cf19793-7856-44ab-86ec-c112af1b4054';
  const batchOf = (requests: number, pending: number) => ({
    batch_id: id,
    cancel_time: null,
    cancel_by_xai_message: null,
    state: {
      num_requests: requests,
      num_pending: pending,
      num_success: requests - pending,
      num_error: 0,
      num_cancelled: 0,
    },
  });
  assert.equal(await host.upload!(callsWith(batchOf(0, 0)), sent), id);
  for (const running of [batchOf(0, 0), batchOf(2, 2)])
    assert.deepEqual(await host.look(callsWith(running), id, 2), { state: 'running' });
  const results = [`/batches/${id}/results`];
  const ended = { state: 'ended', unrun: null, results, files: [] };
  assert.deepEqual(await host.look(callsWith(batchOf(2, 0)), id, 2), ended);
  const body = { object: 'chat.completion', model: 'grok-4.3' };
  const page = {
    results: [{ batch_request_id: '0', batch_result: { response: { chat_get_completion: body } } }],
    pagination_token: null,
  };
  const result = { status: 200, body };
  assert.deepEqual(await resultsAt(host, page), [{ customId: '0', result }]);
});

test('results of xAI without an end are read no longer than a batch may be', async () => {
  const host = batchHostOf({ kind: 'openai-compatible', wishes: { batches: 'xai' } })!;
  const results = [{ batch_request_id: '0', batch_result: {} }];
  let pages = 0;
  const tokens = {
    'that go in a circle': () => ['a', 'b'][pages % 2]!,
    'that are always new': () => String(pages),
  };
  for (const [what, token] of Object.entries(tokens)) {
    pages = 0;
    const call = async () => ({ results, pagination_token: token(), page: (pages += 1) });
    let last: unknown = null;
    for await (const { line } of host.read!({ ...callsWith({}), call }, '/batches/x/results'))
      last = line;
    assert.equal(last, null, `${what}: the results are not whole`);
    assert.ok(pages <= batchLinesMax + 1, `${what}: ${pages} pages`);
  }
});

test('an id of the provider that would lead elsewhere is refused', async () => {
  const host = batchHostOf({ kind: 'openai', wishes: {} })!;
  for (const id of ['../files', 'a/b', 'a?b', '..', '', 7, null])
    await assert.rejects(host.create(callsWith({ id }), sent, 'file-1'), /no id/);
});

test('a host runs only calls that its batch API takes', () => {
  const compatible = (batches: 'openai' | 'mistral' | 'xai') =>
    batchHostOf({ kind: 'openai-compatible', wishes: { batches } })!;
  const [azure, gemini, xAi, mistral] = [
    batchHostOf({ kind: 'azure', wishes: {} })!,
    batchHostOf({ kind: 'google', wishes: {} })!,
    compatible('xai'),
    compatible('mistral'),
  ];
  for (const [host, path, isTaken] of [
    [gemini, '/v1beta/models/m:generateContent', true],
    [gemini, '/v1beta/models/m:batchEmbedContents', true],
    [gemini, '/v1beta/models/m:countTokens', false],
    [xAi, '/chat/completions', true],
    [xAi, '/embeddings', false],
    [mistral, '/embeddings', true],
    [mistral, '/completions', false],
    [azure, '/openai/v1/responses', true],
    [azure, '/openai/v1/embeddings', false],
    [azure, '/openai/deployments/m/chat/completions', false],
    [compatible('openai'), '/responses', true],
    [compatible('openai'), '/moderations', false],
  ] as const)
    assert.equal(host.paths.test(path), isTaken, path);
  assert.equal(batchHostOf({ kind: 'openai-compatible', wishes: {} }), null);
});

test("Azure's file is waited for, and deleted when it is refused or never ready", async () => {
  const azure = batchHostOf({ kind: 'azure', wishes: {} })!;
  const refused = { kind: 'status', status: 400, retryAfterSeconds: null };
  for (const [statuses, wanted] of [
    [['pending', 'running', 'processed'], 'file-1'],
    [
      ['running', 'error'],
      { failure: { ...refused, message: 'The file of the batch was refused.' } },
    ],
    [[], /not ready/],
  ] as const) {
    const asked: string[] = [];
    const left = [...statuses];
    const calls: HostCalls = {
      ...callsWith({ id: 'file-1' }),
      call: async (method) => {
        asked.push(method);
        return { status: left.shift() ?? 'running' };
      },
      pause: async () => void asked.push('pause'),
    };
    const uploaded = azure.upload!(calls, sent);
    if (typeof wanted === 'string') assert.equal(await uploaded, wanted);
    else await assert.rejects(uploaded, wanted);
    assert.equal(asked.includes('DELETE'), typeof wanted !== 'string');
    assert.equal(
      asked.filter((step) => step === 'pause').length,
      statuses.length ? statuses.length - 1 : 120,
    );
  }
});
