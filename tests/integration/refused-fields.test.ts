// Hosts that refuse every field that they do not know, as Mistral does: fields that the answer does
// not need are left out, and listed.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { answerContent } from '../support/answers.ts';
import { startGateway } from '../support/gateway.ts';
import { modelOf } from '../support/model-of.ts';
import { answerStatus, type Script } from '../support/upstream.ts';

/** The fields of npm `@mistralai/mistralai` 2.7. */
const accepted: Readonly<Record<string, string>> = {
  mistral:
    'model temperature top_p max_tokens stream stop random_seed metadata messages response_format tools tool_choice ' +
    'presence_penalty frequency_penalty n prediction parallel_tool_calls reasoning_effort prompt_mode guardrails ' +
    'prompt_cache_key service_tier safe_prompt',
  /** Moonshot takes only its own values of the others. */
  moonshotai: 'model max_tokens stream stream_options messages tools tool_choice reasoning_effort',
};

const names = Object.keys(accepted);
const gateway = await startGateway(({ url }) => ({
  providers: Object.fromEntries(
    names.map((name) => [name, { base_url: `${url}/${name}/v1`, api_key: 'k' }]),
  ),
  models: Object.fromEntries(
    names.map((name) => [`a-${name}-model`, modelOf([{ provider: name, model: 'upstream' }])]),
  ),
}));
const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
for (const name of names)
  gateway.upstream.on(`/${name}/v1/chat/completions`, strict(accepted[name]!.split(' ')));
after(() => gateway.stop());

function strict(known: readonly string[]): Script {
  const answer = answerContent('chat', { text: 'Hi', tokens: { input: 5, output: 1 } });
  return (response, request) => {
    const unknown = Object.keys(request.body as JsonObject).filter((name) => !known.includes(name));
    if (unknown.length === 0) return answer(response, request);
    const detail = unknown.map((name) => ({
      loc: ['body', name],
      msg: `${name} is not permitted`,
    }));
    return answerStatus(422, { body: { detail } })(response, request);
  };
}

const hello = { role: 'user', content: 'Hello' };

test('a Mistral model streams, in each client format', async () => {
  const model = 'a-mistral-model';
  for (const [path, body] of [
    ['/v1/chat/completions', { messages: [hello], stream_options: { include_usage: true } }],
    ['/v1/responses', { input: 'Hello' }],
    ['/v1/messages', { messages: [hello], max_tokens: 50 }],
  ] as const) {
    const reply = await gateway.post(path, { key, body: { model, stream: true, ...body } });
    assert.equal(reply.status, 200, reply.text);
    assert.match(reply.text, /Hi/);
    assert.equal(reply.headers['x-service-ignored'], undefined);
  }
});

test('what Mistral refuses and the answer does not need is left out, and listed', async () => {
  const model = 'a-mistral-model';
  const fields = { user: 'u', safety_identifier: 's', seed: 1, store: false };
  const { reply: chat, asked } = await gateway.recordUpstream(() =>
    gateway.post('/v1/chat/completions', { key, body: { model, messages: [hello], ...fields } }),
  );
  assert.equal(chat.status, 200, chat.text);
  assert.equal(chat.headers['x-service-ignored'], 'user, safety_identifier');
  assert.equal((asked[0]!.body as JsonObject)['random_seed'], 1);
  const metadata = { user_id: 'user_1' };
  const messages = await gateway.post('/v1/messages', {
    key,
    body: { model, max_tokens: 50, messages: [hello], metadata },
  });
  assert.equal(messages.status, 200, messages.text);
  assert.equal(messages.headers['x-service-ignored'], 'metadata.user_id');
});

test('the sampling that Moonshot fixes is left out, and listed', async () => {
  const model = 'a-moonshotai-model';
  const fields = { temperature: 0.2, top_p: 0.9 };
  for (const [path, body] of [
    ['/v1/chat/completions', { messages: [hello] }],
    ['/v1/messages', { messages: [hello], max_tokens: 50 }],
  ] as const) {
    const reply = await gateway.post(path, { key, body: { model, ...body, ...fields } });
    assert.equal(reply.status, 200, reply.text);
    assert.equal(reply.headers['x-service-ignored'], 'temperature, top_p');
  }
});
