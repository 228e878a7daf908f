// What a host refuses though the request is right: reasoning that it cannot decrypt, and summaries.
// The request runs once more without them. And what a client sees that sets an effort alone.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startGateway } from '../support/gateway.ts';
import type { Json } from '../support/plain/reading.ts';
import { parseSse } from '../support/formats/sse.ts';
import { modelOf } from '../support/model-of.ts';
import { TestClock } from '../support/test-clock.ts';
import { answerJson, answerSse, answerStatus } from '../support/upstream.ts';

const clock = new TestClock();

const thinks = { supports: { thinking: true } };
const gpt = (model: string) => modelOf([{ provider: 'openai', api: 'responses', model }], thinks);
const models = {
  gpt: gpt('gpt-5.4'),
  'gpt-2': gpt('gpt-5.5'),
  claude: modelOf([{ provider: 'anthropic', model: 'claude-sonnet-4-5' }], thinks),
  gemini: modelOf([{ provider: 'google', model: 'gemini-3.1-pro-preview' }], thinks),
  router: modelOf([{ provider: 'local', model: 'google/gemini-3.1-pro-preview' }], thinks),
};
const gateway = await startGateway({ models, log: { level: 'error' } }, { clock });
const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
after(() => gateway.stop());

const usage = { input_tokens: 5, output_tokens: 3, total_tokens: 8 };
const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'ok', annotations: [] }],
};
const response = {
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  output: [message],
  usage,
};
const stale = answerStatus(400, {
  body: {
    error: {
      message: 'The encrypted content gAAA could not be verified.',
      type: 'invalid_request_error',
      param: null,
      code: 'invalid_encrypted_content',
    },
  },
});
const text = (content: string) => ({ role: 'user', content });
const reasoning = { type: 'reasoning', id: 'rs_03', summary: [], encrypted_content: 'gAAAAABq' };
const call = { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'f', arguments: '{}' };
const result = { type: 'function_call_output', call_id: 'c1', output: '1' };

async function sentBy(send: () => Promise<unknown>): Promise<Json[]> {
  const earlier = gateway.upstream.requests.length;
  await send();
  return gateway.upstream.requests.slice(earlier).map(({ body }) => body as Json);
}

test('reasoning that OpenAI cannot decrypt is left out of a second call, and the client is told', async () => {
  const asked = {
    '/v1/responses': { input: [text('x'), reasoning, call, result] },
    '/v1/messages': {
      max_tokens: 99,
      messages: [
        text('x'),
        {
          role: 'assistant',
          content: [
            { type: 'redacted_thinking', data: 'tg1.openai.gAAAAABq' },
            { type: 'text', text: 'a' },
          ],
        },
        text('y'),
      ],
    },
  };
  for (const [path, body] of Object.entries(asked)) {
    gateway.upstream.on('/v1/responses', stale, answerJson(response));
    let ignored: unknown;
    const [first, second, ...more] = await sentBy(async () => {
      const reply = await gateway.post(path, { key, body: { model: 'gpt', ...body } });
      assert.equal(reply.status, 200, reply.text);
      ignored = reply.headers['x-service-ignored'];
    });
    assert.match(String(ignored), /encrypted_content/);
    assert.match(JSON.stringify(first), /gAAAAABq/);
    assert.doesNotMatch(JSON.stringify(second!.input), /reasoning|gAAAAABq|fc_1/);
    assert.deepEqual(more, []);
  }
});

test('a host that goes on refusing is asked no third time', async () => {
  gateway.upstream.on('/v1/responses', stale);
  const sent = await sentBy(async () => {
    const body = { model: 'gpt', input: [text('x'), reasoning, text('y')] };
    const reply = await gateway.post('/v1/responses', { key, body });
    assert.equal(reply.status, 400);
    assert.equal(reply.costMicros, null);
  });
  assert.equal(sent.length, 2);
});

const refusedFor = (why: string) =>
  answerStatus(400, {
    body: { type: 'error', error: { type: 'invalid_request_error', message: why } },
  });
const unsigned = refusedFor('messages.1.content.0: Invalid `signature` in `thinking` block');
// Of a Claude without `claude` in its name, which is sent unsigned thinking.
const lacking = refusedFor('messages.1.content.0.thinking.signature: Field required');

test('a host that refuses thinking where none is left is asked no more', async () => {
  const thinking = { type: 'thinking', thinking: 'Hm', signature: 'c3RhbGU=' };
  for (const [content, calls] of [
    [[{ type: 'text', text: 'a' }], 1],
    [[thinking, { type: 'text', text: 'a' }], 2],
  ] as const) {
    gateway.upstream.on('/v1/messages', unsigned, unsigned, unsigned, answerJson({}));
    const messages = [text('x'), { role: 'assistant', content }, text('y')];
    const sent = await sentBy(async () => {
      const body = { model: 'claude', max_tokens: 99, messages };
      assert.equal((await gateway.post('/v1/messages', { key, body })).status, 400);
    });
    assert.equal(sent.length, calls);
  }
});

test('thinking whose signature Anthropic refuses is left out of a second call', async () => {
  const answer = {
    type: 'message',
    content: [{ type: 'text', text: 'ok' }],
    stop_reason: 'end_turn',
  };
  for (const refusal of [unsigned, lacking]) {
    gateway.upstream.on('/v1/messages', refusal, answerJson({ ...answer, usage }));
    const thinking = { type: 'thinking', thinking: 'Hm', signature: 'c3RhbGU=' };
    const input = { id: JSON.rawJSON('1234567890123456789') };
    const content = [thinking, { type: 'tool_use', id: 't1', name: 'f', input }];
    const results = [{ type: 'tool_result', tool_use_id: 't1', content: '1' }];
    const [, second] = await sentBy(async () => {
      const body = {
        model: 'claude',
        max_tokens: 4_000,
        thinking: { type: 'enabled', budget_tokens: 1_024 },
        messages: [text('x'), { role: 'assistant', content }, { role: 'user', content: results }],
      };
      const reply = await gateway.post('/v1/messages', { key, body });
      assert.equal(reply.status, 200, reply.text);
      assert.match(String(reply.headers['x-service-ignored']), /thinking/);
    });
    const { messages } = second!;
    assert.deepEqual(messages[1].content, JSON.parse(JSON.stringify([content[1]])));
    assert.ok(gateway.upstream.requests.at(-1)!.text.includes(JSON.stringify(input)));
    assert.equal(second!.thinking, undefined, 'a turn without its thinking goes on without it');
  }
});

const corrupt = {
  error: { code: 400, message: 'Corrupted thought signature.', status: 'INVALID_ARGUMENT' },
};
const details = [
  { type: 'reasoning.encrypted', data: 'c2ln', format: 'google-gemini-v1', id: 'c1', index: 0 },
];
const signedCall = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } };
const ofChat = [
  text('x'),
  { role: 'assistant', content: null, reasoning_details: details, tool_calls: [signedCall] },
  { role: 'tool', tool_call_id: 'c1', content: '1' },
];
const parts = [
  { functionCall: { name: 'f', args: {} }, thoughtSignature: 'c2ln' },
  { functionCall: { name: 'f', args: {} } },
];
const results = parts.map(() => ({
  functionResponse: { name: 'f', response: { output: '1' } },
}));
const ofGemini = [
  { role: 'user', parts: [{ text: 'x' }] },
  { role: 'model', parts },
  { role: 'user', parts: results },
  { role: 'model', parts: [{ text: 'a', thoughtSignature: 'c2ln' }] },
  { role: 'user', parts: [{ text: 'y' }] },
];
const geminiPath = '/v1beta/models/gemini-3.1-pro-preview:generateContent';
const skipped = /"thoughtSignature":"skip_thought_signature_validator"/g;

/** `host`: the path at which the local upstream plays the host. */
const refusedSignatures = [
  {
    client: 'a Gemini client',
    host: geminiPath,
    path: '/v1beta/models/gemini:generateContent',
    body: { contents: ofGemini },
    ignored: 'thinking',
    left: 1,
  },
  {
    client: 'a Chat client',
    host: geminiPath,
    path: '/v1/chat/completions',
    body: { model: 'gemini', messages: ofChat },
    ignored: 'thinking',
    left: 1,
  },
  {
    client: 'a Chat client through OpenRouter',
    host: '/local/v1/chat/completions',
    path: '/v1/chat/completions',
    body: { model: 'router', messages: ofChat },
    ignored: 'reasoning_details',
    left: 0,
  },
];

for (const { client, host, path, body, ignored, left } of refusedSignatures) {
  test(`a signature that Google refuses is left out of a second call: ${client}`, async () => {
    const isRouter = host.startsWith('/local');
    const refusal = isRouter
      ? {
          error: {
            code: 400,
            message: 'Provider returned error',
            metadata: { raw: JSON.stringify(corrupt) },
          },
        }
      : corrupt;
    const choice = {
      index: 0,
      message: { role: 'assistant', content: 'ok' },
      finish_reason: 'stop',
    };
    const answer = isRouter
      ? { choices: [choice], usage: { prompt_tokens: 5, completion_tokens: 1 } }
      : {
          candidates: [
            { content: { role: 'model', parts: [{ text: 'ok' }] }, finishReason: 'STOP' },
          ],
          usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 1 },
        };
    gateway.upstream.on(host, answerStatus(400, { body: refusal }), answerJson(answer));
    const sent = await sentBy(async () => {
      const reply = await gateway.post(path, { key, body });
      assert.equal(reply.status, 200, reply.text);
      assert.equal(reply.headers['x-service-ignored'], ignored);
    });
    const [first, second] = sent.map((one) => JSON.stringify(one));
    assert.equal(sent.length, 2);
    assert.match(first!, /"c2ln"/);
    assert.doesNotMatch(second!, /c2ln/);
    assert.equal(second!.match(skipped)?.length ?? 0, left);
  });
}

const item = { id: 'rs_1', type: 'reasoning', summary: [] as unknown[] };
const part = { item_id: 'rs_1', output_index: 0, summary_index: 0 };
const written = { type: 'summary_text', text: 'Hm.' };
const events = [
  { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
  { type: 'response.output_item.added', output_index: 0, item },
  { type: 'response.reasoning_summary_part.added', ...part, part: { ...written, text: '' } },
  { type: 'response.reasoning_summary_text.delta', ...part, delta: 'Hm.' },
  { type: 'response.reasoning_summary_text.done', ...part, text: 'Hm.' },
  { type: 'response.reasoning_summary_part.done', ...part, part: written },
  {
    type: 'response.output_item.done',
    output_index: 0,
    item: { ...item, summary: [written], encrypted_content: 'gAAA' },
  },
  {
    type: 'response.completed',
    response: { ...response, reasoning: { effort: 'low', summary: 'detailed' } },
  },
].map((data, index) => ({ event: data.type, data: { ...data, sequence_number: index } }));

test('reasoning that is refused in a stream is left out of a second call, before any of the answer', async () => {
  const error = { code: 'invalid_prompt', message: 'The encrypted content could not be verified.' };
  const failed = { type: 'response.failed', response: { ...response, status: 'failed', error } };
  const refusal = answerSse([{ event: failed.type, data: { ...failed, sequence_number: 0 } }]);
  gateway.upstream.on('/v1/responses', refusal, answerSse(events));
  const [, second, ...more] = await sentBy(async () => {
    const body = { model: 'gpt', input: [text('x'), reasoning, text('y')], stream: true };
    const reply = await gateway.post('/v1/responses', { key, body });
    assert.match(reply.text, /response\.completed/);
  });
  assert.deepEqual(second!.input, [text('x'), text('y')]);
  assert.deepEqual(more, []);
});

async function stream(asked: object, model = 'gpt') {
  gateway.upstream.on('/v1/responses', answerSse(events));
  let frames: Json[] = [];
  const [sent] = await sentBy(async () => {
    const body = { model, input: 'x', stream: true, reasoning: asked };
    const reply = await gateway.post('/v1/responses', { key, body });
    frames = parseSse(reply.text).map(({ data }) => JSON.parse(data) as Json);
  });
  return {
    sent: sent!.reasoning as unknown,
    frames,
    types: frames.map(({ type }) => String(type)),
  };
}

test('an effort alone streams OpenAI’s summary as reasoning text', async () => {
  const { sent, frames, types } = await stream({ effort: 'low' });
  assert.deepEqual(sent, { effort: 'low', summary: 'auto' });
  assert.deepEqual(
    types.filter((type) => /reasoning|part/.test(type)),
    ['response.reasoning_text.delta', 'response.reasoning_text.done'],
  );
  const delta = frames.find(({ type }) => type === 'response.reasoning_text.delta')!;
  assert.deepEqual([delta.delta, delta.content_index, delta.summary_index], ['Hm.', 0, undefined]);
  const added = frames.find(({ type }) => type === 'response.output_item.added')!;
  assert.deepEqual(added.item.content, [{ type: 'reasoning_text', text: '' }]);
  const finished = frames.find(({ type }) => type === 'response.output_item.done')!;
  assert.deepEqual(finished.item.summary, [written], 'the item returns to OpenAI as it came');
});

test('a client that asks for a summary itself gets OpenAI’s own events', async () => {
  const { sent, types, frames } = await stream({ effort: 'low', summary: 'detailed' });
  assert.deepEqual(sent, { effort: 'low', summary: 'detailed' });
  assert.ok(types.includes('response.reasoning_summary_text.delta'));
  assert.ok(!types.some((type) => type.startsWith('response.reasoning_text')));
  assert.equal(frames.at(-1)!.response.reasoning.summary, 'detailed');
});

test('no summary is asked for without an effort, or with none', async () => {
  assert.equal((await stream({})).sent instanceof Object, true);
  assert.deepEqual((await stream({ effort: 'none' })).sent, { effort: 'none' });
});

test('a summary of the client’s own that the host refuses is its error, and takes nobody else’s away', async () => {
  const error = {
    message: 'Unsupported value',
    param: 'reasoning.summary',
    code: 'unsupported_value',
  };
  gateway.upstream.on(
    '/v1/responses',
    answerStatus(400, { body: { error } }),
    answerJson(response),
  );
  const ask = (asked: object) => {
    const body = { model: 'gpt-2', input: 'x', reasoning: asked };
    return gateway.post('/v1/responses', { key, body });
  };
  assert.equal((await ask({ effort: 'low', summary: 'concise' })).status, 400);
  const [sent] = await sentBy(() => ask({ effort: 'low' }));
  assert.equal(sent!.reasoning.summary, 'auto');
});

test('a host that refuses summaries is asked once without, and no more for an hour', async () => {
  const refused = answerStatus(400, {
    body: {
      error: {
        message: 'Your organization must be verified to generate reasoning summaries.',
        type: 'invalid_request_error',
        param: 'reasoning.summary',
        code: 'unsupported_value',
      },
    },
  });
  const ask = (asked: object) =>
    sentBy(async () => {
      const body = { model: 'gpt-2', input: 'x', reasoning: asked };
      const reply = await gateway.post('/v1/responses', { key, body });
      assert.equal(reply.status, 200, reply.text);
      if ('summary' in asked) assert.equal(reply.headers['x-service-ignored'], 'reasoning.summary');
    });
  const asked = (sent: Json[]) => sent.map((body) => body.reasoning as unknown);
  gateway.upstream.on('/v1/responses', refused, answerJson(response));
  const effort = { effort: 'low' };
  assert.deepEqual(asked(await ask(effort)), [{ ...effort, summary: 'auto' }, effort]);
  assert.deepEqual(asked(await ask(effort)), [effort]);
  assert.deepEqual(asked(await ask({ ...effort, summary: 'auto' })), [effort]);
  await clock.advance(61 * 60_000);
  assert.deepEqual(asked(await ask(effort)), [{ ...effort, summary: 'auto' }]);
});
