// Clouds as routes: their addresses, and credentials that are exchanged for tokens. The services that
// give the tokens are local.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { jwtVerify } from 'jose';
import sharp from 'sharp';
import {
  answerContent,
  streamFrames,
  type UpstreamWireName,
  wholeAnswer,
  type WireName,
} from '../support/answers.ts';
import { endpoint, endpoints } from '../support/endpoints.ts';
import { signatureOf } from '../support/aws-signature.ts';
import { encodeEvent, encodeException, encodeInvoked } from '../support/event-stream.ts';
import { readPlainly } from '../support/plain/read-plainly.ts';
import { rowOf } from '../support/rows.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { isObject, type JsonObject } from '../../src/lib/json.ts';
import { estimateInputTokens } from '../../src/lib/tokens.ts';
import {
  answerBytes,
  answerJson,
  answerStatus,
  startUpstream,
  type LocalUpstream,
} from '../support/upstream.ts';

const content = { text: 'one two', tokens: { input: 5, output: 20 } };
const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const account = {
  type: 'service_account',
  client_email: 'gateway@my-project.iam.gserviceaccount.com',
  private_key_id: 'key-7',
  private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
};
const keys = {
  accessKeyId: 'AKIAEXAMPLE000001',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
};
const entraToken = '/my-tenant/oauth2/v2.0/token';

const onVertex =
  '/project/v1/projects/my-project/locations/europe-west1/publishers/anthropic/models';
const vertexClaude = `${onVertex}/claude-sonnet-4-5%4020250929`;
const hi = [{ role: 'user', content: 'Hi' }];

const cachePrices = { input: 1, output: 10, cache_read: 0.1, cache_write: 1.25, cache_write_1h: 2 };

let tokens: LocalUpstream;
let gateway: TestGateway;
let key: string;

before(async () => {
  tokens = await startUpstream();
  process.env['AZURE_AUTHORITY_HOST'] = tokens.url;
  gateway = await startGateway(({ url }) => {
    const route = (provider: string, model: string, more = {}) => ({
      routes: [{ provider, model, ...more }],
      prices: { input: 1, output: 1 },
    });
    return {
      providers: {
        keyed: {
          kind: 'azure',
          base_url: `${url}/keyed`,
          api_key: 'azure-key-123456',
          // It stands for a host on the web.
          pass_fields: ['messages.content.image'],
        },
        classic: {
          kind: 'azure',
          base_url: `${url}/classic`,
          api_key: 'azure-key-123456',
          api_version: '2024-10-21',
        },
        entra: { kind: 'azure', base_url: `${url}/entra`, api_key: 'my-tenant:my-app:s3cr3t:x' },
        signed: {
          kind: 'bedrock',
          base_url: `${url}/signed`,
          region: 'eu-west-1',
          api_key: `${keys.accessKeyId}:${keys.secretAccessKey}`,
        },
        bearer: { kind: 'bedrock', base_url: `${url}/bearer`, api_key: 'bedrock-api-key-abc' },
        express: { kind: 'vertex', base_url: `${url}/express`, api_key: 'express-key-1234' },
        project: {
          kind: 'vertex',
          base_url: `${url}/project`,
          project: 'my-project',
          region: 'europe-west1',
          api_key: 'ambient',
        },
        pasted: {
          kind: 'vertex',
          base_url: `${url}/pasted`,
          project: 'my-project',
          api_key: JSON.stringify({ type: 'external_account', token_url: url }),
        },
      },
      models: {
        nova: route('signed', 'us.amazon.nova-lite-v1:0'),
        'bedrock-claude': route('bearer', 'us.anthropic.claude-sonnet-5'),
        'older-claude': route('signed', 'anthropic.claude-haiku-4-5'),
        'converse-claude': {
          ...route('signed', 'anthropic.claude-opus-4-5', { api: 'converse' }),
          prices: cachePrices,
        },
        arn: route('bearer', 'arn:aws:bedrock:us-east-1:123456789012:profile/x', {
          api: 'messages',
        }),
        gpt: route('keyed', 'my gpt'),
        'gpt-chat': route('keyed', 'grok', { api: 'chat' }),
        'azure-claude': route('keyed', 'claude-prod'),
        classic: route('classic', 'my/gpt'),
        'by-entra': route('entra', 'my-gpt'),
        gemini: route('express', 'gemini-3.8-flash'),
        'project-gemini': route('project', 'gemini-3.8-flash'),
        'vertex-claude': route('project', 'claude-sonnet-4-5@20250929'),
        llama: route('project', 'meta/llama-4'),
        pasted: route('pasted', 'gemini-3.8-flash'),
        'dear-region': route('keyed', 'grok', { api: 'chat', cost_factor: 1.5 }),
        'claude-sonnet-5': {
          routes: [{ provider: 'bearer', model: 'eu.anthropic.claude-sonnet-5', cost_factor: 1.1 }],
        },
        'claude-sonnet-5-eu': {
          routes: [{ provider: 'bearer', model: 'eu.anthropic.claude-sonnet-5' }],
          prices: { input: 2.2, output: 11 },
        },
        'cloud-then-azure': {
          routes: [
            { provider: 'bearer', model: 'us.anthropic.claude-sonnet-5' },
            { provider: 'keyed', model: 'claude-prod' },
          ],
          prices: { input: 1, output: 1 },
        },
        'has-another': {
          routes: [
            { provider: 'entra', model: 'gone' },
            { provider: 'keyed', model: 'grok', api: 'chat' },
          ],
          prices: { input: 1, output: 1 },
        },
      },
      image_models: { 'gpt-image-flare': { routes: [{ provider: 'keyed', model: 'my-images' }] } },
      retries: { max_attempts: 1 },
    };
  });
  const file = join(gateway.program.dataDir, 'account.json');
  await writeFile(file, JSON.stringify({ ...account, token_uri: `${tokens.url}/google` }));
  process.env['GOOGLE_APPLICATION_CREDENTIALS'] = file;
  ({ key } = await gateway.makeKey({ mode: 'live', creditUsd: 50 }));
});
after(async () => {
  await gateway.stop();
  await tokens.close();
});
beforeEach(() => {
  tokens.on(entraToken, answerJson({ access_token: 'entra-token-1', expires_in: 3_599 }));
  tokens.on('/google', answerJson({ access_token: 'google-token-1', expires_in: 3_599 }));
});

async function ask(
  model: string,
  { stream = false, format = 'chat' }: { stream?: boolean; format?: WireName } = {},
) {
  const { path, body } = endpoint(format);
  return gateway.postRecorded(path, { key, body: body({ model, stream }) });
}

const azureKey = { 'api-key': 'azure-key-123456' };
const claudeOnAzure = {
  path: '/keyed/anthropic/v1/messages',
  wire: 'messages',
  headers: { 'x-api-key': 'azure-key-123456', 'anthropic-version': '2023-06-01' },
} as const;
/** Where a model's host is called, and what the call has there. */
const addresses: Readonly<
  Record<
    string,
    {
      readonly model: string;
      readonly format?: WireName;
      readonly stream?: boolean;
      readonly path: string;
      readonly wire: UpstreamWireName;
      readonly headers?: object;
      readonly query?: string;
      readonly body?: object;
    }
  >
> = {
  'Azure has Chat at its v1 address, with the key of the resource': {
    model: 'gpt',
    path: '/keyed/openai/v1/chat/completions',
    wire: 'chat',
    headers: azureKey,
  },
  'a route of Azure may name Chat': {
    model: 'gpt-chat',
    stream: true,
    path: '/keyed/openai/v1/chat/completions',
    wire: 'chat',
    headers: azureKey,
  },
  'Azure has Responses at its v1 address, and stores nothing': {
    model: 'gpt',
    format: 'responses',
    path: '/keyed/openai/v1/responses',
    wire: 'responses',
    body: { model: 'my gpt', store: false },
  },
  'Claude on Azure is asked in its own format': {
    ...claudeOnAzure,
    model: 'azure-claude',
    format: 'messages',
    stream: true,
  },
  'Claude on Azure is asked in its own format, also for a client of Chat': {
    ...claudeOnAzure,
    model: 'azure-claude',
    stream: true,
  },
  'Azure’s classic addresses name the deployment and the version': {
    model: 'classic',
    path: '/classic/openai/deployments/my%2Fgpt/chat/completions',
    wire: 'chat',
    query: 'api-version=2024-10-21',
  },
  'Gemini on Vertex is called with an express key': {
    model: 'gemini',
    path: '/express/v1beta1/publishers/google/models/gemini-3.8-flash:generateContent',
    wire: 'gemini',
    headers: { 'x-goog-api-key': 'express-key-1234' },
  },
  'models of other vendors on Vertex are asked in Chat': {
    model: 'llama',
    path: '/project/v1/projects/my-project/locations/europe-west1/endpoints/openapi/chat/completions',
    wire: 'chat',
    body: { model: 'meta/llama-4' },
  },
  'an ARN is asked in the format that its route names': {
    model: 'arn',
    format: 'messages',
    path: `/bearer/model/${encodeURIComponent('arn:aws:bedrock:us-east-1:123456789012:profile/x')}/invoke`,
    wire: 'messages',
  },
};
for (const [name, { model, format, stream, wire, ...sent }] of Object.entries(addresses))
  test(name, async () => {
    gateway.upstream.on(sent.path, answerContent(wire, content));
    const { reply, asked } = await ask(model, { format, stream });
    assert.equal(reply.status, 200, reply.text);
    assert.match(reply.text, /two/);
    assert.partialDeepStrictEqual(asked[0], sent);
  });

test('a region that costs more takes from the margin, not from the account', async () => {
  gateway.upstream.on('/keyed/openai/v1/chat/completions', answerContent('chat', content));
  const { reply } = await ask('dear-region');
  // 5 and 20 tokens at a dollar a million.
  assert.equal(reply.headers['x-service-cost-micros'], '25');
  const charge = await rowOf(gateway.database, 'charges', { model_id: 'dear-region' });
  assert.equal(Number(charge.upstream_cost_micros), 38);
});

test('a profile of one geography is charged as the model, or at the operator’s own price for it', async () => {
  const path = '/bearer/model/eu.anthropic.claude-sonnet-5/invoke';
  const dear = { text: 'one', tokens: { input: 1_000, output: 200 } };
  gateway.upstream.on(path, answerContent('messages', dear));
  const chargeOf = async (model: string) => {
    const { reply } = await ask(model);
    assert.equal(reply.status, 200, reply.text);
    const charge = await rowOf(gateway.database, 'charges', { model_id: model });
    return [Number(charge.cost_micros), Number(charge.upstream_cost_micros)] as const;
  };
  const [listed, billed] = await chargeOf('claude-sonnet-5');
  assert.equal(billed, Math.ceil((listed * 11) / 10));
  assert.deepEqual(await chargeOf('claude-sonnet-5-eu'), [4_400, 4_400]);
});

test('images are made by Azure’s deployments at its v1 address', async () => {
  const png = await sharp({ create: { width: 8, height: 8, channels: 3, background: 'red' } })
    .png()
    .toBuffer();
  const path = '/keyed/openai/v1/images/generations';
  gateway.upstream.on(path, answerJson({ data: [{ b64_json: png.toString('base64') }] }));
  const body = { model: 'gpt-image-flare', prompt: 'A square', response_format: 'b64_json' };
  const { reply, asked } = await gateway.postRecorded('/v1/images/generations', { key, body });
  assert.equal(reply.status, 200, reply.text);
  assert.equal((asked[0]!.body as JsonObject)['model'], 'my-images');
  assert.equal(asked[0]!.query, 'api-version=preview');
  assert.equal(asked[0]!.headers.authorization, 'Bearer azure-key-123456');
});

test('an application’s token is fetched once, and sent instead of a key', async () => {
  gateway.upstream.on('/entra/openai/v1/chat/completions', answerContent('chat', content));
  const asked = tokens.requests.length;
  const all = await Promise.all(Array.from({ length: 20 }, () => ask('by-entra')));
  for (const { reply, asked: calls } of all) {
    assert.equal(reply.status, 200, reply.text);
    assert.equal(calls[0]!.headers.authorization, 'Bearer entra-token-1');
    assert.equal(calls[0]!.headers['api-key'], undefined);
  }
  const requests = tokens.requests.slice(asked);
  assert.equal(requests.length, 1);
  assert.deepEqual(Object.fromEntries(new URLSearchParams(requests[0]!.text)), {
    grant_type: 'client_credentials',
    scope: 'https://cognitiveservices.azure.com/.default',
    client_id: 'my-app',
    client_secret: 's3cr3t:x',
  });
});

test('Gemini on Vertex is called below its project with a token', async () => {
  const project =
    '/project/v1beta1/projects/my-project/locations/europe-west1/publishers/google/models/gemini-3.8-flash:generateContent';
  gateway.upstream.on(project, answerContent('gemini', content));
  const { reply, asked } = await ask('project-gemini');
  assert.equal(reply.status, 200, reply.text);
  assert.equal(asked[0]!.headers.authorization, 'Bearer google-token-1');
  assert.equal(asked[0]!.headers['x-goog-api-key'], undefined);
  const sent = new URLSearchParams(tokens.requests.find(({ path }) => path === '/google')!.text);
  const { payload, protectedHeader } = await jwtVerify(sent.get('assertion')!, publicKey, {
    audience: `${tokens.url}/google`,
    issuer: account.client_email,
  });
  assert.equal(protectedHeader.kid, 'key-7');
  assert.equal(payload['scope'], 'https://www.googleapis.com/auth/cloud-platform');
  assert.equal(payload.exp! - payload.iat!, 3_600);
});

test('Claude on Vertex keeps its own format: the model stands in the path, the version in the body', async () => {
  for (const call of ['rawPredict', 'streamRawPredict'])
    gateway.upstream.on(`${vertexClaude}:${call}`, answerContent('messages', content));
  for (const stream of [false, true]) {
    const { reply, asked } = await ask('vertex-claude', { format: 'messages', stream });
    assert.equal(reply.status, 200, reply.text);
    assert.match(reply.text, /two/);
    const body = asked[0]!.body as JsonObject;
    assert.deepEqual(
      [body['model'], body['anthropic_version'], body['stream'] ?? false],
      [undefined, 'vertex-2023-10-16', stream],
    );
    assert.equal(asked[0]!.headers['anthropic-version'], undefined);
  }
});

const usage = { inputTokens: 5, outputTokens: 20, totalTokens: 25 };
const converseFrames = [
  encodeEvent('messageStart', { role: 'assistant', p: 'ab' }),
  encodeEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'one ' } }),
  encodeEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'two' } }),
  encodeEvent('contentBlockStop', { contentBlockIndex: 0 }),
  encodeEvent('messageStop', { stopReason: 'end_turn' }),
];
const binary = { headers: { 'content-type': 'application/vnd.amazon.eventstream' } };

test('Bedrock is asked by Converse with a signature over the final request', async () => {
  const path = '/signed/model/us.amazon.nova-lite-v1%3A0';
  const message = { role: 'assistant', content: [{ text: 'one two' }] };
  gateway.upstream.on(
    `${path}/converse`,
    answerJson({ output: { message }, stopReason: 'end_turn', usage }),
  );
  const streamed = Buffer.concat([...converseFrames, encodeEvent('metadata', { usage })]);
  gateway.upstream.on(
    `${path}/converse-stream`,
    answerBytes(streamed, { ...binary, sizes: [1, 30] }),
  );
  for (const format of ['chat', 'messages'] as const)
    for (const stream of [false, true]) {
      const { reply, asked } = await ask('nova', { format, stream });
      assert.equal(reply.status, 200, reply.text);
      assert.match(reply.text, stream ? /one .*two/s : /one two/);
      const { headers, path: sentPath, text } = asked[0]!;
      const signed = signatureOf({ path: sentPath, headers, text, region: 'eu-west-1' });
      assert.equal(/Signature=(\w+)/.exec(headers.authorization!)![1], signed);
      assert.match(headers.authorization!, /eu-west-1\/bedrock\/aws4_request/);
    }
});

test('the usage behind Bedrock’s last event is charged', async () => {
  const path = '/signed/model/us.amazon.nova-lite-v1%3A0/converse-stream';
  const counted = { inputTokens: 7, outputTokens: 30, cacheReadInputTokens: 3, totalTokens: 40 };
  gateway.upstream.on(
    path,
    answerBytes(
      Buffer.concat([...converseFrames, encodeEvent('metadata', { usage: counted })]),
      binary,
    ),
  );
  const body = {
    model: 'nova',
    stream: true,
    stream_options: { include_usage: true },
    messages: hi,
  };
  const reply = await gateway.post('/v1/chat/completions', { key, body });
  // 10 input and 30 output tokens at a dollar a million.
  assert.match(reply.text, /"cost":0\.00004\b/);
});

test('a prompt that Bedrock may keep for an hour is held at that price', async () => {
  const counted = { inputTokens: 1, cacheWriteInputTokens: 900, outputTokens: 1, totalTokens: 902 };
  const cacheDetails = [{ ttl: '1h', inputTokens: 900 }];
  gateway.upstream.on(
    '/signed/model/anthropic.claude-opus-4-5/converse',
    answerJson({
      output: { message: { role: 'assistant', content: [{ text: 'Yes' }] } },
      stopReason: 'end_turn',
      usage: { ...counted, cacheDetails },
    }),
  );
  const text = 'A lighthouse at night. '.repeat(180);
  const kept = [{ type: 'text', text, cache_control: { type: 'ephemeral', ttl: '1h' } }];
  const reply = await gateway.post('/v1/messages', {
    key,
    body: { model: 'converse-claude', max_tokens: 1, messages: [{ role: 'user', content: kept }] },
  });
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.costMicros, 1_811);
  const { upper } = estimateInputTokens(text);
  const { held_delta_micros: held } = await rowOf(gateway.database, 'entries', {
    id: reply.requestId,
    kind: 'reserve',
  });
  assert.ok(held >= 2 * upper, `${held} for ${upper} tokens`);
});

test('an exception in the middle of Bedrock’s stream is an error, free of charge', async () => {
  const path = '/signed/model/us.amazon.nova-lite-v1%3A0/converse-stream';
  const exception = encodeException(
    'throttlingException',
    'Too many requests, account 123456789012',
  );
  gateway.upstream.on(
    path,
    answerBytes(Buffer.concat([...converseFrames.slice(0, 3), exception]), binary),
  );
  const balance = async () => (await gateway.get('/v1/balance', { key })).text;
  const earlier = await balance();
  const { reply } = await ask('nova', { stream: true });
  assert.match(reply.text, /"error"/);
  assert.doesNotMatch(reply.text, /123456789012/);
  assert.equal(await balance(), earlier);
});

test('Claude on Bedrock keeps its own format, with its betas in the body', async () => {
  const path = '/bearer/model/us.anthropic.claude-sonnet-5';
  const frames = streamFrames('messages', content);
  const events = [...frames.start, ...frames.deltas, ...frames.end].map((frame) =>
    encodeInvoked((frame as { data: object }).data),
  );
  gateway.upstream.on(`${path}/invoke`, answerJson(wholeAnswer('messages', content)));
  gateway.upstream.on(
    `${path}/invoke-with-response-stream`,
    answerBytes(Buffer.concat(events), binary),
  );
  const shared = { type: 'ephemeral', scope: 'global' };
  for (const stream of [false, true]) {
    const body = {
      model: 'bedrock-claude',
      stream,
      max_tokens: 20,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', cache_control: shared }] }],
      tools: [{ name: 'f', input_schema: { type: 'object' }, eager_input_streaming: true }],
    };
    const headers = {
      'anthropic-beta':
        'context-management-2025-06-27,skills-2025-10-02,redact-thinking-2026-02-12',
    };
    const { reply, asked } = await gateway.postRecorded('/v1/messages', { key, body, headers });
    assert.equal(reply.status, 200, reply.text);
    assert.match(reply.text, /two/);
    const sent = asked[0]!.body as JsonObject;
    for (const name of ['model', 'stream', 'service_tier']) assert.ok(!(name in sent), name);
    assert.equal(sent['anthropic_version'], 'bedrock-2023-05-31');
    assert.deepEqual(sent['anthropic_beta'], [
      'context-management-2025-06-27',
      'fine-grained-tool-streaming-2025-05-14',
    ]);
    assert.match(asked[0]!.text, /"cache_control":\{"type":"ephemeral"\}/);
    assert.doesNotMatch(asked[0]!.text, /eager_input_streaming/);
    assert.deepEqual(
      new Set(String(reply.headers['x-service-ignored']).split(/, ?/)),
      new Set([
        'cache_control.scope',
        'anthropic-beta.redact-thinking-2026-02-12',
        'anthropic-beta.skills-2025-10-02',
      ]),
    );
    assert.equal(asked[0]!.headers.authorization, 'Bearer bedrock-api-key-abc');
  }
});

test('what Bedrock adds to Claude’s answers stays here: measurements, and what a guardrail hid', async () => {
  const trace = {
    'amazon-bedrock-guardrailAction': 'INTERVENED',
    'amazon-bedrock-trace': {
      guardrail: {
        modelOutput: ['The number is 4111.'],
        arn: 'arn:aws:bedrock:us-east-1:123456789012:guardrail/x',
      },
    },
    'amazon-bedrock-invocationMetrics': { inputTokenCount: 5, invocationLatency: 3 },
  };
  const path = '/bearer/model/us.anthropic.claude-sonnet-5';
  const { start, deltas, end } = streamFrames('messages', content);
  const events = [...start, ...deltas, ...end].map((frame) =>
    encodeInvoked({ ...(frame as { data: object }).data, ...trace }),
  );
  gateway.upstream.on(
    `${path}/invoke`,
    answerJson({ ...wholeAnswer('messages', content), ...trace }),
  );
  gateway.upstream.on(
    `${path}/invoke-with-response-stream`,
    answerBytes(Buffer.concat(events), binary),
  );
  for (const client of endpoints)
    for (const stream of [false, true]) {
      const body = client.body({ model: 'bedrock-claude', stream });
      const reply = await gateway.post(client.path, { key, body });
      assert.equal(reply.status, 200, reply.text);
      assert.equal(readPlainly(client.name, stream, reply.text).text, content.text);
      assert.doesNotMatch(reply.text, /amazon-bedrock|4111|123456789012/);
    }
});

test('Bedrock counts the input of its models', async () => {
  const path = '/bearer/model/anthropic.claude-sonnet-5/count-tokens';
  gateway.upstream.on(path, answerJson({ inputTokens: 12 }));
  const body = { model: 'bedrock-claude', messages: hi };
  const { reply, asked } = await gateway.postRecorded('/v1/messages/count_tokens', { key, body });
  assert.deepEqual(reply.json(), { input_tokens: 12 });
  const { input } = asked[0]!.body as { input: { invokeModel: { body: string } } };
  const inner = JSON.parse(Buffer.from(input.invokeModel.body, 'base64').toString()) as JsonObject;
  assert.equal(inner['anthropic_version'], 'bedrock-2023-05-31');
});

test('where a cloud cannot count, the gateway estimates', async () => {
  const refusal = { message: "The provided model doesn't support counting tokens." };
  const message = 'claude-sonnet-4-5 is not supported for token counting';
  const counted = { inputTokens: 31 };
  const nova = '/signed/model/amazon.nova-lite-v1%3A0/count-tokens';
  const claude = '/bearer/model/anthropic.claude-sonnet-5/count-tokens';
  const count = () =>
    Promise.all([
      gateway.post('/v1/responses/input_tokens', { key, body: { model: 'nova', input: 'Hi' } }),
      gateway.post('/v1/messages/count_tokens', {
        key,
        body: { model: 'bedrock-claude', messages: hi },
      }),
    ]);
  for (const path of [nova, claude]) gateway.upstream.on(path, answerJson(counted));
  for (const reply of await count()) assert.equal(reply.json()['input_tokens'], 31, reply.text);
  for (const path of [nova, claude])
    gateway.upstream.on(path, answerStatus(400, { body: refusal }));
  for (const reply of await count()) {
    assert.equal(reply.status, 200, reply.text);
    assert.equal(reply.headers['x-service-token-count'], 'estimate');
  }
  const body = { type: 'error', error: { type: 'invalid_request_error', message } };
  gateway.upstream.on(`${onVertex}/count-tokens:rawPredict`, answerStatus(400, { body }));
  const onOther = await gateway.post('/v1/messages/count_tokens', {
    key,
    body: { model: 'vertex-claude', messages: hi },
  });
  assert.equal(onOther.headers['x-service-token-count'], 'estimate', onOther.text);
});

test('Bedrock refuses to count long inputs, and says how long they are', async () => {
  const message = 'prompt is too long: 300012 tokens > 200000 maximum';
  const path = '/bearer/model/anthropic.claude-sonnet-5/count-tokens';
  gateway.upstream.on(path, answerStatus(400, { body: { message } }));
  const body = { model: 'bedrock-claude', messages: hi };
  const reply = await gateway.post('/v1/messages/count_tokens', { key, body });
  assert.deepEqual([reply.status, reply.json()], [200, { input_tokens: 300_012 }]);
});

test('Vertex counts the input of Claude at one address, so the body names the model', async () => {
  gateway.upstream.on(`${onVertex}/count-tokens:rawPredict`, answerJson({ input_tokens: 9 }));
  const body = { model: 'vertex-claude', messages: hi };
  const { reply, asked } = await gateway.postRecorded('/v1/messages/count_tokens', { key, body });
  assert.deepEqual(reply.json(), { input_tokens: 9 });
  // It refuses versions of models there.
  assert.equal((asked[0]!.body as JsonObject)['model'], 'claude-sonnet-4-5');
});

test('what Claude cannot do on a cloud is refused by name, or served by another route', async () => {
  const image = { type: 'image', source: { type: 'url', url: 'https://x.example/a.png' } };
  const refused = [
    [{ messages: [{ role: 'user', content: [image] }] }, 'messages[0].content[0].source'],
    [{ speed: 'fast' }, 'speed'],
  ] as const;
  gateway.upstream.on('/keyed/anthropic/v1/messages', answerContent('messages', content));
  for (const [fields, field] of refused)
    for (const model of ['vertex-claude', 'bedrock-claude', 'cloud-then-azure']) {
      const body = { model, max_tokens: 20, messages: hi, ...fields };
      const reply = await gateway.post('/v1/messages', { key, body });
      // Without a price, no tier is sold.
      if (model === 'cloud-then-azure' && field !== 'speed') {
        assert.equal(reply.status, 200, reply.text);
        continue;
      }
      assert.equal(reply.status, 400, reply.text);
      assert.ok(reply.text.includes(field), reply.text);
    }
});

test('Vertex refuses the AI SDK’s `eager_input_streaming` of Claude’s tools, which is left out', async () => {
  gateway.upstream.on(`${vertexClaude}:rawPredict`, answerContent('messages', content));
  for (const isEager of [true, false]) {
    const tool = { name: 'f', input_schema: { type: 'object' }, eager_input_streaming: isEager };
    const messages = [{ role: 'user', content: 'Hi' }];
    const body = { model: 'vertex-claude', max_tokens: 20, messages, tools: [tool] };
    const { reply, asked } = await gateway.postRecorded('/v1/messages', { key, body });
    assert.equal(reply.status, 200, reply.text);
    assert.doesNotMatch(asked[0]!.text, /eager_input_streaming/);
    const ignored = isEager ? 'tools.eager_input_streaming' : undefined;
    assert.equal(reply.headers['x-service-ignored'], ignored);
  }
});

test('a cloud that does not know `strict` of tools gets them without, and the answer says so', async () => {
  const parameters = { type: 'object', properties: {}, required: [], additionalProperties: false };
  const bedrock = '/bearer/model/us.anthropic.claude-sonnet-5/invoke';
  const older = '/signed/model/anthropic.claude-haiku-4-5/invoke';
  for (const path of [`${vertexClaude}:rawPredict`, bedrock, older])
    gateway.upstream.on(path, answerContent('messages', content));
  for (const [model, isTaken] of [
    ['vertex-claude', false],
    ['bedrock-claude', false],
    ['older-claude', true],
  ] as const)
    for (const strict of [true, false])
      for (const client of endpoints) {
        const tool = {
          chat: { type: 'function', function: { name: 'f', parameters, strict } },
          responses: { type: 'function', name: 'f', parameters, strict },
          messages: { name: 'f', input_schema: parameters, strict },
        }[client.name];
        const body = client.body({ model, tools: [tool] });
        const { reply, asked } = await gateway.postRecorded(client.path, { key, body });
        assert.equal(reply.status, 200, reply.text);
        const [sent] = (asked[0]!.body as { tools: readonly JsonObject[] }).tools;
        assert.equal(sent!['strict'], isTaken ? strict : undefined, `${model} ${client.name}`);
        const ignored = String(reply.headers['x-service-ignored'] ?? '').split(/, ?/);
        assert.equal(
          ignored.includes('tools.strict'),
          strict && !isTaken,
          `${model} ${ignored.join()}`,
        );
      }
});

test('Claude on Vertex gets the betas that are known there', async () => {
  gateway.upstream.on(`${vertexClaude}:rawPredict`, answerContent('messages', content));
  const body = {
    model: 'vertex-claude',
    max_tokens: 20,
    cache_control: { type: 'ephemeral' },
    messages: hi,
  };
  const headers = {
    'anthropic-beta': 'claude-code-20250219,prompt-caching-scope-2026-01-05,effort-2025-11-24',
  };
  const { reply, asked } = await gateway.postRecorded('/v1/messages', { key, body, headers });
  assert.equal(reply.status, 200, reply.text);
  assert.equal(asked[0]!.headers['anthropic-beta'], 'claude-code-20250219,effort-2025-11-24');
  assert.deepEqual((asked[0]!.body as JsonObject)['messages'], [
    { role: 'user', content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }] },
  ]);
  assert.equal((asked[0]!.body as JsonObject)['cache_control'], undefined);
  assert.match(
    String(reply.headers['x-service-ignored']),
    /anthropic-beta.prompt-caching-scope-2026-01-05/,
  );
});

test('a document in the settings names neither addresses nor files', async () => {
  const { reply, asked } = await ask('pasted');
  assert.equal(reply.status, 502, reply.text);
  assert.equal(asked.length, 0);
  assert.doesNotMatch(reply.text, /external_account|127\.0\.0\.1/);
});

test('a refused application is tried no further, another route answers, and its secret is nowhere', async () => {
  const described = { error_description: 'AADSTS7000215: wrong secret\r\nTrace: 1' };
  const refusal = { error: 'invalid_client', ...described };
  const prices = { input: 1, output: 1 };
  const entra = { provider: 'entra', model: 'a' };
  const own = await startGateway(({ url }) => ({
    providers: {
      entra: { kind: 'azure', base_url: `${url}/entra`, api_key: 'my-tenant:my-app:s3cr3t-two' },
      keyed: { kind: 'azure', base_url: `${url}/keyed`, api_key: 'azure-key-123456' },
    },
    models: {
      both: { routes: [entra, { provider: 'keyed', model: 'grok', api: 'chat' }], prices },
      one: { routes: [entra], prices },
    },
  }));
  try {
    tokens.on(entraToken, answerStatus(401, { body: refusal }));
    own.upstream.on('/keyed/openai/v1/chat/completions', answerContent('chat', content));
    const mine = await own.makeKey({ mode: 'live', creditUsd: 5 });
    const askFor = (model: string) =>
      own.post('/v1/chat/completions', { key: mine.key, body: { model, messages: hi } });
    const [both, one] = [await askFor('both'), await askFor('one')];
    assert.equal(both.status, 200, both.text);
    assert.equal(one.status, 502, one.text);
    const log = own.program.output;
    assert.match(log, /AADSTS7000215: wrong secret/);
    for (const text of [one.text, both.text, log]) assert.doesNotMatch(text, /s3cr3t-two/);
    assert.doesNotMatch(one.text, /AADSTS/);
  } finally {
    await own.stop();
  }
});

test('a deployment that is not there leaves the request to the next route', async () => {
  const error = { code: 'DeploymentNotFound', message: 'The API deployment does not exist.' };
  gateway.upstream.on('/entra/openai/v1/chat/completions', answerStatus(404, { body: { error } }));
  gateway.upstream.on('/keyed/openai/v1/chat/completions', answerContent('chat', content));
  const { reply, asked } = await ask('has-another');
  assert.equal(reply.status, 200, reply.text);
  assert.equal(asked.length, 2);
  assert.ok(isObject(JSON.parse(reply.text)));
});

test('test keys are answered by played clouds, in every format, with tools and thoughts', async () => {
  const { key: testKey } = await gateway.makeKey({ mode: 'test' });
  const tool = { name: 'get_weather', description: 'Weather', parameters: { type: 'object' } };
  for (const model of 'nova bedrock-claude gpt azure-claude gemini vertex-claude llama'.split(' '))
    for (const client of endpoints)
      for (const stream of [false, true]) {
        const said = client.body({ model, stream });
        const { reply, asked } = await gateway.postRecorded(client.path, {
          key: testKey,
          body: said,
        });
        assert.equal(reply.status, 200, reply.text);
        assert.match(reply.text, /sandbox/i);
        assert.equal(asked.length, 0);
      }
  const messages = [{ role: 'user', content: 'sandbox: tool=get_weather {"city":"Oslo"}' }];
  const body = { model: 'nova', messages, tools: [{ type: 'function', function: tool }] };
  const called = await gateway.post('/v1/chat/completions', { key: testKey, body });
  assert.match(called.text, /"name":"get_weather"/);
});
