// Errors from which the vendors' SDKs build their own classes: on the straight path they keep what
// the SDK reads, scrubbed as the message is.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import Anthropic, { BadRequestError as AnthropicBadRequest } from '@anthropic-ai/sdk';
import OpenAI, { BadRequestError as OpenAiBadRequest } from 'openai';
import { endpoint } from '../support/endpoints.ts';
import { startGateway, upstreamKey } from '../support/gateway.ts';
import { pairModels } from '../support/pairs.ts';
import { answerJson, answerSse, answerStatus } from '../support/upstream.ts';

const [responses, chat, messages] = [
  endpoint('responses'),
  endpoint('chat'),
  endpoint('messages'),
] as const;

const gateway = await startGateway({ models: pairModels });
const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
after(() => gateway.stop());

const dimensions = {
  error_code: 'image_dimensions_too_large',
  max_side_length_pixels: 8_000,
  paths: ['messages.0.content.1'],
};
const anthropicError = (details: unknown) => ({
  type: 'error',
  error: { type: 'invalid_request_error', message: 'The image is too large.', details },
});
const openaiError = (fields: object = {}) => ({
  error: {
    message: "Unsupported value: 'reasoning.effort'.",
    type: 'invalid_request_error',
    param: 'reasoning.effort',
    code: 'unsupported_value',
    ...fields,
  },
});

const openai = () => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key, maxRetries: 0 });

test("Anthropic's SDK finds the code and the details of Anthropic's error", async () => {
  const client = new Anthropic({ baseURL: gateway.url, apiKey: key, maxRetries: 0 });
  gateway.upstream.on(
    messages.upstreamPath,
    answerStatus(400, { body: anthropicError(dimensions) }),
  );
  for (const stream of [false, true]) {
    const error = await client.messages
      .create({
        model: messages.model,
        max_tokens: 100,
        messages: [{ role: 'user', content: 'Hello!' }],
        stream,
      })
      .then(
        () => assert.fail('it succeeded'),
        (caught: unknown) => caught,
      );
    assert.ok(error instanceof AnthropicBadRequest);
    assert.equal(error.errorCode, 'image_dimensions_too_large');
    assert.deepEqual(error.details, dimensions);
    assert.equal(error.type, 'invalid_request_error');
  }
});

for (const { path, body, upstreamPath, name } of [responses, chat]) {
  test(`${name}: OpenAI's SDK finds the field and the code of OpenAI's error`, async () => {
    gateway.upstream.on(upstreamPath, answerStatus(400, { body: openaiError() }));
    const error = await openai()
      .post(path.slice('/v1'.length), { body: body() })
      .then(
        () => assert.fail('it succeeded'),
        (caught: unknown) => caught,
      );
    assert.ok(error instanceof OpenAiBadRequest);
    assert.deepEqual([error.param, error.code], ['reasoning.effort', 'unsupported_value']);
    assert.equal(error.type, name === 'chat' ? 'invalid_request_error' : 'invalid_request');
  });
}

test('an error in place of a stream keeps the field and the code, too', async () => {
  gateway.upstream.on(
    chat.upstreamPath,
    answerSse([{ data: { ...openaiError({ status: 400 }) } }]),
  );
  const reply = await gateway.ask(chat, key, { stream: true });
  assert.equal(reply.status, 400, reply.text);
  assert.deepEqual(
    [reply.error.param, reply.error.code],
    ['reasoning.effort', 'unsupported_value'],
  );
  gateway.upstream.on(
    messages.upstreamPath,
    answerSse([{ event: 'error', data: anthropicError(dimensions) }]),
  );
  const streamed = await gateway.ask(messages, key, { stream: true });
  assert.deepEqual(streamed.error['details'], dimensions);
});

test('a client of another format gets our own code, and no details', async () => {
  gateway.upstream.on(
    messages.upstreamPath,
    answerStatus(400, { body: anthropicError(dimensions) }),
  );
  const reply = await gateway.ask(chat, key, { model: messages.model });
  assert.equal(reply.error.code, 'invalid_request');
  assert.ok(!reply.text.includes('image_dimensions_too_large'));
  gateway.upstream.on(responses.upstreamPath, answerStatus(400, { body: openaiError() }));
  const foreign = await gateway.ask(messages, key, { model: responses.model });
  assert.equal(foreign.error.code, 'invalid_request');
});

test('keys, addresses and ids are removed from what the SDK reads', async () => {
  const { host } = new URL(gateway.upstream.url);
  const secrets = [
    upstreamKey,
    'https://api.anthropic.com/x',
    'org-a1b2c3d4e5f6g7h8',
    `http://${host}/v1`,
  ];
  const details = {
    ...dimensions,
    paths: secrets,
    nested: { note: `see ${secrets.join(' ')}` },
    [upstreamKey.replaceAll('-', '_')]: 1,
  };
  gateway.upstream.on(messages.upstreamPath, answerStatus(400, { body: anthropicError(details) }));
  const reply = await gateway.ask(messages, key);
  assert.match(reply.text, /image_dimensions_too_large/);
  for (const secret of [...secrets, host, upstreamKey.replaceAll('-', '_')])
    assert.ok(!reply.text.includes(secret), `${secret} in ${reply.text}`);
  const param = `the key ${upstreamKey} at ${secrets[1]}`;
  gateway.upstream.on(
    chat.upstreamPath,
    answerStatus(400, { body: openaiError({ param, code: upstreamKey }) }),
  );
  const other = await gateway.ask(chat, key);
  for (const secret of secrets) assert.ok(!other.text.includes(secret), other.text);
});

test('huge, deep and odd details are cut or left out', async () => {
  let deep: unknown = 'bottom';
  for (let level = 0; level < 50; level++) deep = { deep };
  const odd: unknown[] = [
    { error_code: 'x', deep },
    { error_code: 'x', many: Array.from({ length: 5_000 }, () => 'word') },
    Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`n${index}`, index])),
    { error_code: 'x'.repeat(30_000) },
    { __proto__x: 1, 'a b': 2, '': 3 },
    ['a list'],
    'text',
    null,
    7,
  ];
  for (const details of odd) {
    gateway.upstream.on(
      messages.upstreamPath,
      answerStatus(400, { body: anthropicError(details) }),
    );
    const reply = await gateway.ask(messages, key);
    assert.equal(reply.status, 400);
    assert.equal(reply.error.message, 'The image is too large.');
    assert.ok(reply.text.length < 6_000, `${reply.text.length}`);
    assert.ok(!reply.text.includes('bottom') && !reply.text.includes('a b'));
  }
  for (const code of [7, null, { a: 1 }, 'with spaces', 'x'.repeat(100), '']) {
    gateway.upstream.on(chat.upstreamPath, answerStatus(400, { body: openaiError({ code }) }));
    const reply = await gateway.ask(chat, key);
    assert.deepEqual([reply.status, reply.error.code], [400, 'invalid_request']);
  }
});

test('an upstream’s refusal of the operator’s key shows nothing of it', async () => {
  gateway.upstream.on(
    chat.upstreamPath,
    answerStatus(401, { body: openaiError({ code: 'invalid_api_key', param: 'secret' }) }),
  );
  const reply = await gateway.ask(chat, key);
  assert.deepEqual(
    [reply.status, reply.error.code, reply.error.param],
    [502, 'upstream_error', null],
  );
});

const failedResponse = (code: string) => ({
  id: 'resp_1',
  object: 'response',
  status: 'failed',
  error: { code, message: 'Too much.' },
  output: [],
});
const ofType = (type: string) => ({ type: 'error', error: { type, message: 'Too much.' } });
const underSuccess = [
  [responses, failedResponse('invalid_prompt'), 400],
  [responses, failedResponse('rate_limit_exceeded'), 503],
  [messages, ofType('invalid_request_error'), 400],
  [messages, ofType('overloaded_error'), 503],
  [chat, { error: { message: 'Too much.', type: 'invalid_request_error' } }, 400],
  [chat, { error: { message: 'Too much.', code: 'rate_limit_exceeded' } }, 503],
] as const;

test('an error under a status of success is the same whole and streamed, in every format', async () => {
  for (const [host, error, status] of underSuccess) {
    const event = host === responses ? { type: 'response.failed', response: error } : error;
    for (const client of [responses, chat, messages])
      for (const stream of [false, true]) {
        gateway.upstream.on(
          host.upstreamPath,
          stream ? answerSse([{ data: event }]) : answerJson(error),
        );
        const model = `to-${host.name}`;
        const reply = await gateway.post(client.path, {
          key,
          body: client.body({ model, stream }),
        });
        assert.equal(
          reply.status,
          status,
          `${client.name} to ${host.name}, ${stream}: ${reply.text}`,
        );
      }
  }
});
