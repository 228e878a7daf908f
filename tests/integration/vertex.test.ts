// What Vertex wants otherwise than the Gemini API: how service tiers are asked for and named, and how
// input is counted.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { streamFrames, wholeAnswer } from '../support/answers.ts';
import { loadCloudRecordings } from '../support/cloud-recordings.ts';
import { startGateway } from '../support/gateway.ts';
import { rowsOf } from '../support/rows.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { vertex } from '../../src/providers/vertex/index.ts';
import { answerJson, answerSse, type Script } from '../support/upstream.ts';

const content = { text: 'one two', tokens: { input: 1_000, output: 100 } };
const gemini = '/v1beta1/publishers/google/models/gemini-3.8-flash';
/** 1000 and 100 tokens by the prices below, in microdollars. */
const costs = { standard: 3_000, flex: 1_500, priority: 6_000 };

const gateway = await startGateway(({ url }) => ({
  providers: { vertex: { kind: 'vertex', base_url: url, api_key: 'express-key-1234' } },
  models: {
    gemini: {
      routes: [{ provider: 'vertex', model: 'gemini-3.8-flash' }],
      prices: {
        input: 2,
        output: 10,
        service_tiers: { flex: { input: 1, output: 5 }, priority: { input: 4, output: 20 } },
      },
    },
    llama: {
      routes: [{ provider: 'vertex', model: 'meta/llama-4' }],
      prices: { input: 2, output: 10, service_tiers: { flex: { input: 1, output: 5 } } },
    },
  },
  retries: { max_attempts: 1 },
}));
const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 50 });
after(() => gateway.stop());

/** Answers with the tier as Vertex names it; a stream also has it where no token is counted. */
function answerWith(trafficType: string): Script {
  const named = (data: JsonObject) => ({
    ...data,
    usageMetadata: { ...(data.usageMetadata as object | undefined), trafficType },
  });
  const { start, deltas, end } = streamFrames('gemini', content);
  const frames = [...start, ...deltas, ...end].map((frame) => ({
    data: named((frame as { data: JsonObject }).data),
  }));
  const [whole, stream] = [
    answerJson(named(wholeAnswer('gemini', content) as JsonObject)),
    answerSse([...frames, { data: { usageMetadata: { trafficType } } }]),
  ];
  return (response, request) =>
    (request.path.includes('stream') ? stream : whole)(response, request);
}

for (const [asked, trafficType, tier] of [
  [null, 'ON_DEMAND', 'standard'],
  ['flex', 'ON_DEMAND_FLEX', 'flex'],
  ['priority', 'ON_DEMAND_PRIORITY', 'priority'],
  // Where the location does not know tiers, or the tier is full.
  ['flex', 'ON_DEMAND', 'standard'],
  ['priority', 'ON_DEMAND', 'standard'],
  // Never dearer than what was asked for.
  [null, 'ON_DEMAND_PRIORITY', 'standard'],
  [null, 'ON_DEMAND_OFFPEAK', 'standard'],
  // What the operator has paid for is charged as asked.
  ['priority', 'PROVISIONED_THROUGHPUT', 'priority'],
  [null, 'PROVISIONED_THROUGHPUT', 'standard'],
] as const)
  for (const stream of [false, true])
    test(`${asked ?? 'no tier'} asked, ${trafficType} answered${stream ? ' in a stream' : ''}: ${tier} is charged`, async () => {
      for (const call of ['generateContent', 'streamGenerateContent'])
        gateway.upstream.on(`${gemini}:${call}`, answerWith(trafficType));
      const body = {
        model: 'gemini',
        messages: [{ role: 'user', content: 'Hi' }],
        stream,
        ...(asked && { service_tier: asked }),
      };
      const { reply, asked: sent } = await gateway.recordUpstream(() =>
        gateway.post('/v1/chat/completions', { key, body }),
      );
      assert.equal(reply.status, 200, reply.text);
      assert.doesNotMatch(reply.text, /provisioned/i);
      const [charge] = await rowsOf(gateway.database, 'charges', { id: reply.requestId });
      assert.equal(Number(charge!.cost_micros), costs[tier]);
      const [{ headers, body: sentBody }] = sent as [(typeof sent)[number]];
      assert.equal(headers['x-vertex-ai-llm-shared-request-type'], asked ?? undefined);
      assert.equal(headers['x-vertex-ai-llm-request-type'], asked ? 'shared' : undefined);
      assert.ok(!('serviceTier' in (sentBody as JsonObject)));
    });

test('Chat on Vertex offers no tiers, because its answers do not name them', async () => {
  const body = {
    model: 'llama',
    messages: [{ role: 'user', content: 'Hi' }],
    service_tier: 'flex',
  };
  const { reply, asked } = await gateway.recordUpstream(() =>
    gateway.post('/v1/chat/completions', { key, body }),
  );
  assert.equal(reply.status, 400, reply.text);
  assert.match(reply.text, /`flex` is not offered/);
  assert.equal(asked.length, 0);
});

test('the format of an image, which Vertex alone takes, is passed to it', async () => {
  gateway.upstream.on(`${gemini}:generateContent`, answerWith('ON_DEMAND'));
  const imageConfig = { imageOutputOptions: { mimeType: 'image/jpeg', compressionQuality: 80 } };
  const body = { contents: [{ parts: [{ text: 'Draw.' }] }], generationConfig: { imageConfig } };
  const { reply, asked } = await gateway.recordUpstream(() =>
    gateway.post('/v1beta/models/gemini:generateContent', { key, body }),
  );
  assert.equal(reply.status, 200, reply.text);
  const { generationConfig } = asked[0]!.body as { generationConfig: JsonObject };
  assert.deepEqual(generationConfig['imageConfig'], imageConfig);
});

test('input is counted with the fields that Vertex takes, and without generating', async () => {
  gateway.upstream.on(`${gemini}:countTokens`, answerJson({ totalTokens: 36 }));
  const tool = { type: 'function', name: 'look', parameters: { type: 'object', properties: {} } };
  const { reply, asked } = await gateway.recordUpstream(() =>
    gateway.post('/v1/responses/input_tokens', {
      key,
      body: { model: 'gemini', input: 'Hi', instructions: 'Be brief.', tools: [tool] },
    }),
  );
  assert.equal(reply.json<JsonObject>().input_tokens, 36, reply.text);
  const { contents, systemInstruction, tools, ...rest } = asked[0]!.body as JsonObject;
  assert.deepEqual(contents, [{ role: 'user', parts: [{ text: 'Hi' }] }]);
  assert.deepEqual(systemInstruction, { parts: [{ text: 'Be brief.' }] });
  assert.deepEqual(tools, [{ functionDeclarations: [{ name: 'look' }] }]);
  assert.deepEqual(Object.keys(rest), ['generationConfig']);
});

for (const { file, bytes } of loadCloudRecordings('vertex').filter(({ path }) =>
  path.endsWith(':countTokens'),
))
  test(`${file} is read as a count`, () => {
    const answer = JSON.parse(bytes.toString('utf8')) as JsonObject;
    assert.equal(vertex.inputCounts!.gemini!.read(answer), answer.totalTokens);
    assert.ok((answer.totalTokens as number) > 0);
  });
