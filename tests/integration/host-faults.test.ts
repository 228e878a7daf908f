// What known hosts answer when they fail (recorded, or from their sources and documentation), to clients of
// each format: the right status and words, free of charge, with another route where that may help, and
// nothing about the operator's account.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { wholeAnswer } from '../support/answers.ts';
import { endpoints } from '../support/endpoints.ts';
import { startGateway } from '../support/gateway.ts';
import { answerBytes, answerJson, answerStatus, framesText } from '../support/upstream.ts';

/**
 * `client`: 400 with the host's words, nowhere else. `too-long`: as `client`, with the code that clients
 * act on. `missing`: as `client`, after another route. `account`: the operator's key or money: another
 * route, and no words. `passes`: a retry or another route may help.
 */
type Verdict = 'client' | 'too-long' | 'missing' | 'account' | 'passes';
type Fault = readonly [verdict: Verdict, status: number, body: unknown, words?: RegExp];

const secrets = ['user_example', 'sk-or-v1-0123456789', 'org-Ab12Cd34Ef56Gh', 'team-secret'];
const openAis = (message: string, more: object = {}) => ({ error: { message, ...more } });
const balance = {
  error: {
    type: 'insufficient_balance_error',
    message: 'insufficient balance (1008)',
    http_code: '429',
  },
  request_id: 'r',
};

const faults: Readonly<Record<string, readonly Fault[]>> = {
  groq: [
    [
      'client',
      400,
      openAis('Tool call validation failed: missing properties', {
        code: 'tool_use_failed',
        failed_generation: '{}',
      }),
      /Tool call validation failed/,
    ],
    ['missing', 404, openAis('The model `x` does not exist', { code: 'model_not_found' })],
    [
      'passes',
      429,
      openAis('Rate limit reached in organization `org-Ab12Cd34Ef56Gh`', {
        code: 'rate_limit_exceeded',
      }),
    ],
    ['account', 401, openAis('Invalid API Key', { code: 'invalid_api_key' })],
  ],
  openrouter: [
    [
      'passes',
      429,
      {
        error: {
          code: 429,
          message: 'Provider returned error',
          metadata: { provider_name: 'Google', raw: 'x is temporarily rate-limited upstream.' },
        },
        user_id: 'user_example',
      },
    ],
    ['account', 401, openAis('Missing Authentication header', { code: 401 })],
    ['account', 402, openAis('This request requires more credits', { code: 402 })],
    [
      'too-long',
      400,
      openAis("This endpoint's maximum context length is 200000 tokens.", {
        code: 400,
        metadata: { provider_name: null, previous_errors: [] },
      }),
    ],
    [
      'client',
      400,
      {
        error: {
          code: 400,
          message: 'Provider returned error',
          metadata: { raw: '{"error":{"message":"tools.0 is wrong"}}', provider_name: 'X' },
        },
        user_id: 'user_example',
      },
      /tools\.0 is wrong/,
    ],
    [
      'client',
      403,
      openAis('Your input was flagged', {
        code: 403,
        metadata: { reasons: ['violence'], flagged_input: 'x', provider_name: 'X' },
      }),
      /flagged/,
    ],
    ['passes', 502, openAis('Provider returned error', { code: 502 })],
  ],
  deepseek: [
    ['account', 401, openAis('Authentication Fails, Your api key: ****-key is invalid')],
    ['account', 402, openAis('Insufficient Balance', { code: 'invalid_request_error' })],
    ['client', 400, openAis('No tool output found for tool call call-a.'), /No tool output/],
    ['too-long', 400, openAis("This model's maximum context length is 131072 tokens.")],
    ['passes', 503, openAis('Service is too busy.')],
  ],
  mistral: [
    ['account', 401, { detail: 'Invalid API Key' }],
    [
      'client',
      400,
      { object: 'error', message: 'Expected last role User', type: 'invalid', code: '3230' },
      /Expected last role/,
    ],
    [
      'client',
      422,
      { detail: [{ type: 'extra_forbidden', loc: ['body', 'x'], msg: 'Extra inputs' }] },
      /Extra inputs/,
    ],
    [
      'too-long',
      400,
      {
        object: 'error',
        message: 'Prompt contains 9 tokens, too large for model with 8 maximum context length',
      },
    ],
  ],
  cohere: [
    [
      'too-long',
      400,
      {
        error_type: 'TOO_MANY_TOKENS',
        id: 'i',
        message: 'too many tokens: size limit exceeded by 25836 tokens.',
      },
    ],
    ['account', 401, { id: 'i', message: 'Incorrect API key provided: *****.' }],
    ['missing', 404, { id: 'i', message: "model 'command-r-plus' was removed" }],
  ],
  xai: [
    [
      'account',
      400,
      { code: 'invalid-argument', error: 'Incorrect API key provided. You can obtain an API key.' },
    ],
    ['client', 400, { code: 'invalid-argument', error: 'stop is not supported' }, /stop is not/],
    [
      'account',
      403,
      { code: 'permission-denied', error: 'Your team team-secret has used all of its credits.' },
    ],
    [
      'too-long',
      400,
      { code: 'c', error: "This model's maximum prompt length is 8 but the request contains 9." },
    ],
  ],
  perplexity: [
    [
      'too-long',
      400,
      openAis('The total length of all messages is too long.', {
        type: 'too_many_prompt_tokens',
        code: 400,
      }),
    ],
    ['account', 401, openAis('Invalid API key provided.', { type: 'invalid_api_key', code: 401 })],
  ],
  cerebras: [
    [
      'passes',
      429,
      {
        message: 'Requests per day limit exceeded',
        type: 'too_many_requests_error',
        param: 'quota',
        code: 'request_quota_exceeded',
      },
    ],
    [
      'client',
      400,
      { message: 'reasoning_content is unsupported', type: 'invalid_request_error', code: 'w' },
      /reasoning_content is unsupported/,
    ],
  ],
  minimax: [
    ['account', 402, balance],
    ['account', 429, balance],
    ['account', 500, balance],
    ['passes', 500, openAis('unknown error (1000)')],
    ['too-long', 400, openAis('invalid params, context window exceeds limit (2013)')],
  ],
  nvidia: [
    [
      'client',
      400,
      { error: "[{'type': 'extra_forbidden', 'loc': ('body', 'n'), 'msg': 'Extra inputs'}]" },
      /Extra inputs/,
    ],
    [
      'client',
      422,
      { type: 'urn:x', title: 'Unprocessable', status: 422, detail: 'n is wrong', instance: '/v1' },
      /n is wrong/,
    ],
    ['missing', 410, { status: 410, title: 'Gone', detail: 'The model has been retired' }],
  ],
  fireworks: [
    ['client', 400, { error: 'Extra inputs are not permitted, field: x' }, /Extra inputs/],
    ['client', 400, openAis('Extra inputs are not permitted', { code: 'c' }), /Extra inputs/],
    ['too-long', 400, openAis('The prompt is too long: 9, model maximum context length: 8')],
  ],
  together: [
    ['too-long', 400, openAis('`inputs` tokens + `max_new_tokens` must be <= 32769. Given: 9')],
    ['passes', 503, openAis('The server is overloaded')],
  ],
  ollama: [
    ['account', 401, openAis('Unauthorized', { type: 'api_error', param: null, code: null })],
    [
      'too-long',
      400,
      openAis('prompt too long; exceeded max context length by 9 tokens (ref: 96164522)'),
    ],
    ['missing', 404, openAis('model "x" not found, try pulling it first')],
  ],
  vllm: [
    ['client', 400, openAis('top_p must be in (0, 1]', { param: null, code: 400 }), /top_p must/],
    [
      'too-long',
      400,
      { object: 'error', message: "This model's maximum context length is 8 tokens.", code: 400 },
    ],
    ['missing', 404, openAis('The model `x` does not exist.', { code: 404 })],
  ],
  sglang: [
    [
      'too-long',
      400,
      {
        object: 'error',
        message: "The input (9 tokens) is longer than the model's context length",
      },
    ],
  ],
  llamacpp: [
    ['passes', 503, openAis('Loading model', { code: 503, type: 'unavailable_error' })],
    [
      'too-long',
      400,
      openAis('the request exceeds the available context size, try increasing it', {
        code: 400,
        type: 'exceed_context_size_error',
        n_prompt_tokens: 9,
        n_ctx: 8,
      }),
    ],
  ],
  lmstudio: [
    [
      'too-long',
      400,
      {
        error: 'when context the overflows. However, the model is loaded with context length of 8',
      },
    ],
  ],
};

const names = Object.keys(faults);
const content = { text: 'one two three', tokens: { input: 5, output: 20 } };
const gateway = await startGateway(({ url }) => ({
  providers: {
    ...Object.fromEntries(
      names.map((name) => [
        name,
        { base_url: `${url}/${name}/v1`, api_key: 'sk-or-v1-0123456789' },
      ]),
    ),
    spare: { kind: 'openai-compatible', base_url: `${url}/spare/v1`, api_key: 'none' },
  },
  models: Object.fromEntries(
    names.flatMap((provider) => {
      const prices = { input: 1, output: 1 };
      const alone = { routes: [{ provider, model: 'm' }], prices };
      // A refused key takes a route out of use: each fault has its own.
      const both = faults[provider]!.map((_, index) => [
        `${provider}-both-${index}`,
        {
          routes: [
            { provider, model: `m-${index}` },
            { provider: 'spare', model: 's' },
          ],
          prices,
        },
      ]);
      return [[`${provider}-alone`, alone], ...both];
    }),
  ),
}));
const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 50 });
after(() => gateway.stop());
gateway.upstream.on('/spare/v1/chat/completions', answerJson(wholeAnswer('chat', content)));

const chatPathOf = (name: string) =>
  `/${name}/v1/${name === 'cohere' ? 'v2/chat' : 'chat/completions'}`;
const balanceNow = async () => (await gateway.get('/v1/balance', { key })).text;

for (const name of names) {
  for (const [index, [verdict, status, body, words]] of faults[name]!.entries()) {
    test(`${name} answers ${status} ${JSON.stringify(body).slice(0, 70)}: ${verdict}`, async () => {
      gateway.upstream.on(chatPathOf(name), answerStatus(status, { body }));
      const earlier = await balanceNow();
      for (const client of endpoints)
        for (const stream of [false, true]) {
          const fields = { model: `${name}-alone`, stream };
          const reply = await gateway.post(client.path, { key, body: client.body(fields) });
          const isClients = ['client', 'too-long', 'missing'].includes(verdict);
          assert.equal(reply.status < 500, isClients, reply.text);
          if (verdict === 'too-long') assert.match(reply.text, /context_length_exceeded/);
          else assert.doesNotMatch(reply.text, /context_length_exceeded/);
          if (words) assert.match(reply.error.message, words);
          for (const secret of secrets) assert.ok(!reply.text.includes(secret), reply.text);
          assert.equal(await balanceNow(), earlier);
        }
      const { reply: both, asked } = await gateway.recordUpstream(() =>
        gateway.post('/v1/chat/completions', {
          key,
          body: { model: `${name}-both-${index}`, messages: [{ role: 'user', content: 'Hi' }] },
        }),
      );
      const isFinal = verdict === 'client' || verdict === 'too-long';
      assert.equal(both.status, isFinal ? 400 : 200, both.text);
      assert.equal(asked.length, isFinal ? 1 : 2);
    });
  }
}

const opening = {
  id: 'c',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta: { role: 'assistant', content: 'one ' }, finish_reason: null }],
};
const streamed: readonly (readonly [what: string, frames: Parameters<typeof framesText>[0]])[] = [
  [
    'Groq’s event of an error',
    [{ data: opening }, { event: 'error', data: openAis('Over capacity', { status_code: 503 }) }],
  ],
  [
    'OpenRouter’s error in a chunk',
    [
      { data: opening },
      { data: { ...opening, ...openAis('Provider down', { code: 502 }) } },
      '[DONE]',
    ],
  ],
  [
    'an abort of SGLang',
    [
      { data: opening },
      { data: { ...opening, choices: [{ index: 0, delta: {}, finish_reason: 'abort' }] } },
    ],
  ],
  ['a flat error', [{ data: opening }, { event: 'error', data: { message: 'x', code: 500 } }]],
];

for (const [what, frames] of streamed) {
  test(`${what} in mid-stream ends the answer with an error, free of charge`, async () => {
    gateway.upstream.on(
      '/groq/v1/chat/completions',
      answerBytes(Buffer.from(framesText(frames)), {
        headers: { 'content-type': 'text/event-stream' },
      }),
    );
    const earlier = await balanceNow();
    for (const client of endpoints) {
      const fields = { model: 'groq-alone', stream: true };
      const reply = await gateway.post(client.path, { key, body: client.body(fields) });
      assert.match(reply.text, /error/, reply.text);
      assert.doesNotMatch(reply.text, /\[DONE\]|message_stop|response\.completed/);
      assert.equal(await balanceNow(), earlier);
    }
  });
}
