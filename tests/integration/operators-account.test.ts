// Providers that answer 400 or 429 when the operator's account is at fault: it owes money, or its key is
// wrong. The request goes elsewhere, the operator is told, and the client is not blamed.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { answerContent } from '../support/answers.ts';
import { startGateway } from '../support/gateway.ts';
import { ok } from '../support/http.ts';
import { modelOf } from '../support/model-of.ts';
import { until } from '../support/until.ts';
import { answerStatus } from '../support/upstream.ts';

type Problem = { readonly path: string; readonly status?: number; readonly body: object };
const problems: Readonly<Record<string, Problem>> = {
  openai: {
    path: '/v1/responses',
    status: 429,
    body: {
      error: {
        message: 'You exceeded your current quota, please check your plan and billing details.',
        type: 'insufficient_quota',
        param: null,
        code: 'insufficient_quota',
      },
    },
  },
  anthropic: {
    path: '/v1/messages',
    body: {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message:
          'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
      },
    },
  },
  alibaba: {
    path: '/alibaba/v1/chat/completions',
    body: {
      error: {
        code: 'Arrearage',
        type: 'Arrearage',
        message: 'Access denied, please make sure your account is in good standing.',
      },
    },
  },
  xai: {
    path: '/xai/v1/chat/completions',
    body: {
      code: 'invalid-argument',
      error: 'Incorrect API key provided. You can obtain an API key from https://console.x.ai.',
    },
  },
};

const model = (...providers: string[]) =>
  modelOf(providers.map((provider) => ({ provider, model: 'upstream' })));
const names = Object.keys(problems);
const gateway = await startGateway(({ url }) => ({
  retries: { max_attempts: 2 },
  providers: {
    alibaba: { base_url: `${url}/alibaba/v1`, api_key: 'k' },
    xai: { base_url: `${url}/xai/v1`, api_key: 'k' },
  },
  models: Object.fromEntries(
    names.flatMap((name) => [
      [`only-${name}`, model(name)],
      [`first-${name}`, model(name, 'local')],
    ]),
  ),
}));
const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
for (const { path, status = 400, body } of Object.values(problems))
  gateway.upstream.on(path, answerStatus(status, { body }));
gateway.upstream.on(
  '/v1/messages/count_tokens',
  answerStatus(400, { body: problems.anthropic!.body }),
);
const hi = { text: 'Hi', tokens: { input: 5, output: 1 } };
gateway.upstream.on('/local/v1/chat/completions', answerContent('chat', hi));
after(() => gateway.stop());

const messages = [{ role: 'user', content: 'Hello' }];

for (const name of Object.keys(problems)) {
  test(`${name}: another route serves the request`, async () => {
    const body = { model: `first-${name}`, messages, max_tokens: 50 };
    await ok(gateway.post('/v1/messages', { key, body }));
  });

  test(`${name}: the client gets a 502, and the operator is told`, async () => {
    const body = { model: `only-${name}`, messages, max_tokens: 50 };
    const reply = await gateway.post('/v1/messages', { key, body });
    assert.equal(reply.status, 502, reply.text);
    assert.doesNotMatch(reply.text, /credit|standing|API key|quota/);
    const line = new RegExp(`"provider":"${name}".*refuses its credential`);
    await until(() => line.test(gateway.program.output));
  });
}

test('a count of tokens is estimated when the account owes money', async () => {
  const body = { model: 'only-anthropic', messages };
  const reply = await ok(gateway.post('/v1/messages/count_tokens', { key, body }));
  assert.equal(reply.headers['x-service-token-count'], 'estimate');
});
