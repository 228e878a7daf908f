// The requests to the batch APIs of Bedrock and Vertex AI, and the reading of their results.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectOf } from '../../lib/json.ts';
import type { HostCalls } from './host.ts';
import { batchHostOf } from './index.ts';

const cloud = {
  bucket: 's3://my-bucket/batches',
  role: 'arn:aws:iam::123456789012:role/batches',
  place: { region: 'eu-west-1', project: 'p', apiVersion: null },
  baseUrl: 'https://bedrock-runtime.eu-west-1.amazonaws.com',
  linesMin: 100,
};
const googleUrl = 'https://europe-west1-aiplatform.googleapis.com';
const google = { ...cloud, bucket: 'gs://my-bucket', role: null, baseUrl: googleUrl };
const bedrock = batchHostOf({ kind: 'bedrock', wishes: {}, cloud })!;
const vertex = batchHostOf({ kind: 'vertex', wishes: {}, cloud: google })!;
const mark = 'sent_01kb0000000000000000000000';
const location = '/v1beta1/projects/p/locations/global';
const gemini = `${location}/publishers/google/models/gemini-3.8-flash:generateContent`;
const claudeAt = (region: string) =>
  `/v1/projects/p/locations/${region}/publishers/anthropic/models/claude-haiku-4-5%4020251001:rawPredict`;
const lines = { bytes: 0, count: 0, pieces: async function* () {} };

/** Calls that all have this answer, and what they were. */
function callsWith(answer: object) {
  const asked: { path: string; body?: unknown }[] = [];
  const calls: HostCalls = {
    call: async (_method, path, body) => (asked.push({ path, body }), { ...answer }),
    send: async (path) => (asked.push({ path }), {}),
    read: () => assert.fail('nothing is read'),
    pause: () => assert.fail('nothing waits'),
  };
  return { asked, calls };
}

test('without a bucket no cloud has batches, and with one no other kind of provider needs it', () => {
  for (const kind of ['bedrock', 'vertex'] as const)
    for (const none of [null, undefined])
      assert.equal(batchHostOf({ kind, wishes: {}, ...(none === null && { cloud: null }) }), null);
  const openAi = batchHostOf({ kind: 'openai', wishes: {} });
  assert.equal(batchHostOf({ kind: 'openai', wishes: {}, cloud }), openAi);
});

test('a cloud runs only calls that its batch API takes', () => {
  const beta = { 'anthropic-beta': 'effort-2025-11-24' };
  const tools = '{"toolConfig":{"tools":[]}}';
  for (const [host, path, body, headers, isTaken] of [
    [bedrock, '/model/amazon.nova-lite-v1%3A0/converse', '{"messages":[]}', {}, true],
    [bedrock, '/model/amazon.nova-lite-v1%3A0/converse', tools, {}, false],
    [bedrock, '/model/m/converse', '{"messages":[{"text":"\\"toolConfig\\""}]}', {}, true],
    [bedrock, '/model/global.anthropic.claude-sonnet-5/invoke', tools, {}, true],
    [bedrock, '/model/m/converse-stream', '{}', {}, false],
    [vertex, gemini, '{}', {}, true],
    [vertex, claudeAt('europe-west1'), '{}', {}, true],
    [vertex, claudeAt('europe-west1'), '{}', beta, false],
    [vertex, claudeAt('global'), '{}', {}, false],
    [vertex, '/v1/projects/p/locations/global/endpoints/openapi/chat/completions', '{}', {}, false],
  ] as const)
    assert.equal(
      host.paths.test(path) && host.takes!({ path, body, headers }),
      isTaken,
      `${path} ${body}`,
    );
});

test("a job and its files are asked for at the cloud's own addresses", async () => {
  const { asked, calls } = callsWith({});
  for (const host of [bedrock, vertex])
    await host.upload!(calls, { mark, path: '', model: '', lines });
  const [atS3, atGoogle] = asked.map(({ path }) => path) as [string, string];
  const key = `${mark}/lines.jsonl`;
  for (const [host, path, wanted] of [
    [bedrock, atS3, ['https://s3.eu-west-1.amazonaws.com', `/my-bucket/batches/${key}`, 's3']],
    [bedrock, '/x', ['https://bedrock.eu-west-1.amazonaws.com', '/x', undefined]],
    [vertex, atGoogle, ['https://storage.googleapis.com', `/my-bucket/${key}`, undefined]],
    [vertex, '/x', [undefined, '/x', undefined]],
  ] as const) {
    const { origin, path: at, service } = host.addressOf!(path);
    assert.deepEqual([origin, at, service], wanted);
  }
  const own = { ...cloud, baseUrl: 'https://bedrock-runtime.eusc-de-east-1.amazonaws.eu' };
  const sovereign = batchHostOf({ kind: 'bedrock', wishes: {}, cloud: own })!.addressOf!(atS3);
  assert.equal(sovereign.origin, 'https://s3.eusc-de-east-1.amazonaws.eu');
  // A proxy has all below its own address, whatever its name.
  for (const baseUrl of [
    'http://127.0.0.1:8080/aws',
    'https://bedrock-runtime.example.com',
    'https://bedrock-runtime.eu-west-1.amazonaws.com.example.com',
  ]) {
    const proxied = { ...cloud, baseUrl };
    const { addressOf } = batchHostOf({ kind: 'bedrock', wishes: {}, cloud: proxied })!;
    assert.deepEqual(addressOf!(atS3), { path: `/my-bucket/batches/${key}`, service: 's3' });
    assert.deepEqual(addressOf!('/x'), { path: '/x' });
  }
});

test('a job of Bedrock has the form of its lines, and a name that it takes', async () => {
  const jobArn = 'arn:aws:bedrock:eu-west-1:123456789012:model-invocation-job/0123456789ab';
  for (const [call, type] of [
    ['invoke', 'InvokeModel'],
    ['converse', 'Converse'],
  ]) {
    const { asked, calls } = callsWith({ jobArn });
    const sent = { mark, path: `/model/m/${call}`, model: 'm', lines };
    assert.equal(await bedrock.create(calls, sent, 's3://my-bucket/x.jsonl'), '0123456789ab');
    const { jobName, ...job } = objectOf(asked[0]!.body);
    assert.match(String(jobName), /^[a-zA-Z0-9]{1,63}(-*[a-zA-Z0-9+\-.]){0,63}$/);
    assert.ok(String(jobName).length <= 63);
    assert.deepEqual(job, {
      roleArn: cloud.role,
      modelId: 'm',
      modelInvocationType: type,
      inputDataConfig: {
        s3InputDataConfig: { s3Uri: 's3://my-bucket/x.jsonl', s3InputFormat: 'JSONL' },
      },
      outputDataConfig: { s3OutputDataConfig: { s3Uri: `s3://my-bucket/batches/${mark}/` } },
      timeoutDurationInHours: 24,
    });
  }
});

test('a job of Vertex AI names the model and its vendor', async () => {
  for (const [path, model, wanted] of [
    [gemini, 'gemini-3.8-flash', 'publishers/google/models/gemini-3.8-flash'],
    [claudeAt('eu'), 'claude-x@1', 'publishers/anthropic/models/claude-x@1'],
  ] as const) {
    const name = 'projects/1/locations/eu/batchPredictionJobs/456';
    const { asked, calls } = callsWith({ name });
    const sent = { mark, path, model, lines };
    assert.equal(await vertex.create(calls, sent, 'gs://my-bucket/x.jsonl'), '456');
    assert.equal(asked[0]!.path, '/v1/projects/p/locations/eu-west-1/batchPredictionJobs');
    assert.equal(objectOf(asked[0]!.body)['model'], wanted);
  }
});

test('a result of Bedrock is known by its record, with the answer or the error of its line', () => {
  const line = (fields: object) =>
    bedrock.readLine({ recordId: `${mark}_7`, modelInput: {}, ...fields }, mark);
  const body = { message: 'too odd' };
  for (const [fields, result] of [
    [{ modelOutput: { stop_reason: 'x' } }, { status: 200, body: { stop_reason: 'x' } }],
    [{ error: { errorCode: 429, errorMessage: 'too odd' } }, { status: 429, body }],
    [{ error: { errorCode: 200, errorMessage: 'too odd' } }, { status: 500, body }],
    [{ error: { errorMessage: 'too odd' } }, { status: 500, body }],
  ] as const)
    assert.deepEqual(line(fields), { customId: `${mark}_7`, result });
  assert.equal(line({}), null);
  assert.equal(bedrock.readLine({ modelOutput: {} }, mark), null);
});

test("every line of Vertex AI is known by its result, and Gemini's labels keep to Google's limits", () => {
  const values = new Map<string, Set<string>>();
  for (let number = 0; number < 50_000; number += 1) {
    const customId = `${mark}_${number}`;
    const written = vertex.writeLine(customId, gemini, { contents: [], model: 'm' });
    const labels = objectOf(objectOf(written['request'])['labels']);
    for (const [key, value] of Object.entries(labels)) {
      assert.match(`${key} ${String(value)}`, /^[a-z][a-z_]{0,62} [0-9]{1,63}$/);
      values.set(key, (values.get(key) ?? new Set()).add(String(value)));
    }
    const read = vertex.readLine({ ...written, response: {}, status: '' }, mark);
    assert.equal(read?.customId, customId);
  }
  for (const [key, { size }] of values) assert.ok(size <= 1_000, `${key}: ${size}`);
  const written = vertex.writeLine(`${mark}_7`, claudeAt('eu'), { model: 'm', messages: [] });
  assert.deepEqual(written, { custom_id: `${mark}_7`, request: { messages: [] } });
});

test('the status of a line of Vertex AI says whether it has failed', () => {
  const request = { labels: { tollgate_thousand: '1', tollgate_line: '2' } };
  const error = { code: 400, message: 'Please use a valid role.' };
  for (const [status, wanted] of [
    ['', [200, {}]],
    [null, [200, {}]],
    [{}, [200, {}]],
    [`Bad Request: ${JSON.stringify({ error })}`, [400, { error }]],
    ['Internal error', [500, { error: { message: 'Internal error' } }]],
    ['{"error": 7}', [500, { error: 7 }]],
    [{ code: 8, message: 'later' }, [429, { error: { code: 8, message: 'later' } }]],
  ] as const) {
    const [code, body] = wanted;
    const read = vertex.readLine({ request, response: {}, status }, mark);
    assert.deepEqual(read, { customId: `${mark}_1002`, result: { status: code, body } });
  }
  assert.equal(vertex.readLine({ request, status: '' }, mark), null);
  // Nobody else's labels name a line of ours.
  for (const labels of [
    undefined,
    {},
    { tollgate_line: '1' },
    { ...request.labels, tollgate_line: '' },
  ])
    assert.match(vertex.readLine({ request: { labels }, response: {} }, mark)!.customId, /_null$/);
});

test('a job whose files have no readable address is looked at again', async () => {
  for (const [host, job] of [
    [bedrock, { status: 'Completed', outputDataConfig: {} }],
    [bedrock, { status: 'Lost' }],
    [vertex, { state: 'JOB_STATE_SUCCEEDED', outputInfo: { gcsOutputDirectory: 'bq://x' } }],
    [vertex, { state: 'JOB_STATE_UNSPECIFIED' }],
  ] as const)
    await assert.rejects(host.look(callsWith(job).calls, 'x', 1), /no files|unknown sta/);
});
