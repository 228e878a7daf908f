// Hosts that refuse the reasoning of earlier answers, and fields that OpenAI writes into every answer,
// as Mistral and Groq do: a conversation goes on all the same, in each client format.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { startGateway } from '../support/gateway.ts';
import { modelOf } from '../support/model-of.ts';
import { answerJson, answerStatus, type Script } from '../support/upstream.ts';

const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 };
const thoughtful = { role: 'assistant', content: 'Hi', reasoning_content: 'hm' };

const thinks = { supports: { thinking: true } };
const gateway = await startGateway(({ url }) => ({
  providers: Object.fromEntries(
    ['mistral', 'groq'].map((name) => [name, { base_url: `${url}/${name}/v1`, api_key: 'k' }]),
  ),
  models: {
    magistral: modelOf([{ provider: 'mistral', model: 'magistral-medium-latest' }], thinks),
    'gpt-oss': modelOf([{ provider: 'groq', model: 'openai/gpt-oss-120b' }], thinks),
  },
}));
const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
gateway.upstream.on('/mistral/v1/chat/completions', strict(thoughtful));
gateway.upstream.on(
  '/groq/v1/chat/completions',
  strict({ role: 'assistant', content: 'Hi', reasoning: 'hm' }),
);
after(() => gateway.stop());

function strict(message: JsonObject): Script {
  return (response, request) => {
    const { messages } = request.body as { readonly messages: readonly JsonObject[] };
    const refused = ['reasoning_content', 'refusal', 'annotations'].find((name) =>
      messages.some((one) => name in one),
    );
    if (refused !== undefined)
      return answerStatus(400, { body: { error: { message: `${refused} is unsupported` } } })(
        response,
        request,
      );
    const choices = [{ index: 0, message, finish_reason: 'stop' }];
    return answerJson({
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'x',
      choices,
      usage,
    })(response, request);
  };
}

const hello = { role: 'user', content: 'Hello' };

/** `as`: how the second turn gets the reasoning of the first; null: it does without, and says so. */
for (const [model, as] of [
  ['magistral', null],
  ['gpt-oss', 'reasoning'],
] as const) {
  const how = as === null ? 'without the reasoning of the first' : `with the first’s ${as}`;
  const ask = async (path: string, body: object) => {
    const { reply, asked } = await gateway.recordUpstream(() =>
      gateway.post(path, { key, body: { model, ...body } }),
    );
    assert.equal(reply.status, 200, reply.text);
    assert.equal(reply.headers['x-service-ignored'], as === null ? 'reasoning_content' : undefined);
    const { messages } = asked[0]!.body as { readonly messages: readonly JsonObject[] };
    assert.equal(messages[1]!['reasoning'], as === null ? undefined : 'hm');
  };

  test(`Responses: ${model} gets a second turn ${how}`, async () => {
    const first = await gateway.post('/v1/responses', { key, body: { model, input: [hello] } });
    assert.equal(first.status, 200);
    const { output } = JSON.parse(first.text) as { readonly output: readonly { type: string }[] };
    assert.ok(output.some(({ type }) => type === 'reasoning'));
    await ask('/v1/responses', { input: [hello, ...output, hello] });
  });

  test(`Chat: ${model} gets a second turn ${how}`, async () => {
    const answer = { ...thoughtful, refusal: null, annotations: [] };
    await ask('/v1/chat/completions', { messages: [hello, answer, hello] });
  });
}
