// What a model refuses is left out and listed, emulated, or refused by name: where client and host
// speak one format as in translation, and with a test key as with a live one. The local upstream
// refuses what the hosts refuse.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { answerContent } from '../support/answers.ts';
import { startGateway } from '../support/gateway.ts';
import { answerStatus, type Script } from '../support/upstream.ts';

const content = { text: 'One. STOP Two.', tokens: { input: 20, output: 5 } };

/** Answers 400 as soon as the host's rule names a field. */
function host(
  wire: 'chat' | 'responses' | 'messages',
  refused: (body: JsonObject) => string[],
): Script {
  const answer = answerContent(wire, content);
  return (response, request) => {
    const names = refused(request.body as JsonObject);
    if (names.length === 0) return answer(response, request);
    const error = { type: 'invalid_request_error', message: `Unsupported: ${names.join()}` };
    return answerStatus(400, { body: { type: 'error', error } })(response, request);
  };
}

const sampling = ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty'];
const thinkingRefuses = [...sampling, 'logprobs', 'top_logprobs', 'logit_bias', 'stop'];

function refusedByOpenAi(body: JsonObject): string[] {
  const { model, reasoning, reasoning_effort: level } = body;
  const effort = level ?? (reasoning as { effort?: string } | undefined)?.effort;
  const names = Object.keys(body);
  if (String(model).startsWith('gpt-4'))
    return names.filter((name) => name.startsWith('reasoning'));
  const thinks = effort !== 'none' && !(model === 'gpt-5.4' && effort === undefined);
  const few = Number(body['max_output_tokens'] ?? 16) < 16 ? ['max_output_tokens'] : [];
  const inChat = body['messages'] !== undefined && !/^(?:o3|gpt-5\.3)/.test(String(model));
  const refuses = [
    ...(thinks ? thinkingRefuses : ['stop']),
    ...(thinks && inChat ? ['tools'] : []),
  ];
  return [...few, ...names.filter((name) => refuses.includes(name))];
}

function refusedByAnthropic(body: JsonObject): string[] {
  const has = (name: string) => body[name] !== undefined;
  const extra = Object.keys(body['metadata'] ?? {}).filter((name) => name !== 'user_id');
  if (String(body['model']).includes('opus-4-8'))
    return [...extra, ...['temperature', 'top_p', 'top_k'].filter(has)];
  const isThinking = has('thinking');
  return [
    ...extra,
    ...(has('temperature') && has('top_p') ? ['top_p'] : []),
    ...(isThinking && has('temperature') && body['temperature'] !== 1 ? ['temperature'] : []),
    ...(isThinking && has('top_k') ? ['top_k'] : []),
  ];
}

const gateway = await startGateway({
  models: {
    'to-chat': {
      routes: [{ provider: 'openai', model: 'o3', api: 'chat' }],
      prices: { input: 1, output: 2 },
      supports: { thinking: true },
    },
    'a-grok': {
      routes: [{ provider: 'local', model: 'grok-4.7' }],
      prices: { input: 1, output: 2 },
      supports: { thinking: true },
    },
  },
});
const { upstream } = gateway;
upstream.on('/v1/chat/completions', host('chat', refusedByOpenAi));
upstream.on('/v1/responses', host('responses', refusedByOpenAi));
upstream.on('/v1/messages', host('messages', refusedByAnthropic));
upstream.on(
  '/local/v1/chat/completions',
  host('chat', (body) =>
    Object.keys(body).filter((name) => ['stop', ...sampling.slice(2)].includes(name)),
  ),
);
const { key: live } = await gateway.makeKey({ mode: 'live', creditUsd: 50 });
const { key: sandbox } = await gateway.makeKey({ mode: 'test' });
after(() => gateway.stop());

const messages = [{ role: 'user', content: 'Hi' }];
const paths = {
  chat: { path: '/v1/chat/completions', plain: { messages } },
  responses: { path: '/v1/responses', plain: { input: 'Hi' } },
  messages: { path: '/v1/messages', plain: { messages, max_tokens: 3_000 } },
} as const;

type Case = readonly [
  at: keyof typeof paths,
  fields: JsonObject & { readonly model: string },
  /** The fields in the header, or the refused field. */
  ignored: string,
  refused?: string,
];

const thinking = { type: 'enabled', budget_tokens: 1_024 };
const tools = [{ type: 'function', function: { name: 'f' } }];
const cases: readonly Case[] = [
  ['chat', { model: 'gpt-6-luna', temperature: 0 }, 'temperature'],
  [
    'chat',
    { model: 'o3', top_p: 0.5, presence_penalty: 1, frequency_penalty: 1 },
    'top_p, frequency_penalty, presence_penalty',
  ],
  ['chat', { model: 'gpt-6-luna', stop: ['STOP'] }, ''],
  ['chat', { model: 'gpt-6-luna', logprobs: true }, '', 'logprobs'],
  ['chat', { model: 'gpt-6-luna', logprobs: true, top_logprobs: 2 }, '', 'logprobs'],
  ['chat', { model: 'gpt-6-luna', logit_bias: { 50256: -100 } }, '', 'logit_bias'],
  ['chat', { model: 'gpt-6-luna', logprobs: false, top_logprobs: 0, logit_bias: null }, ''],
  ['chat', { model: 'gpt-4o', reasoning_effort: 'low' }, 'reasoning_effort'],
  ['chat', { model: 'gpt-4o', reasoning_effort: 'none' }, ''],
  ['chat', { model: 'gpt-4o', temperature: 0.5, top_p: 0.5, stop: 'STOP' }, ''],
  ['chat', { model: 'gpt-6-luna', tools }, ''],
  ['chat', { model: 'gpt-6-luna', tools, reasoning_effort: 'none' }, ''],
  ['chat', { model: 'gpt-5.4', tools, reasoning_effort: 'low' }, ''],
  ['chat', { model: 'gpt-5.4', tools }, ''],
  ['chat', { model: 'to-chat', tools, reasoning_effort: 'low' }, ''],
  // They think only when asked to.
  ['chat', { model: 'gpt-5.4', temperature: 0.5, top_p: 0.5 }, ''],
  ['chat', { model: 'gpt-5.4', temperature: 0.5, reasoning_effort: 'none' }, ''],
  ['chat', { model: 'gpt-5.4', temperature: 0.5, reasoning_effort: 'low' }, 'temperature'],
  [
    'chat',
    { model: 'a-grok', temperature: 0.5, presence_penalty: 1, stop: ['STOP'] },
    'presence_penalty',
  ],
  ['responses', { model: 'gpt-6-luna', temperature: 0, top_p: 0.5 }, 'temperature, top_p'],
  ['responses', { model: 'gpt-6-luna', top_logprobs: 2 }, '', 'top_logprobs'],
  ['responses', { model: 'gpt-6-luna', include: ['message.output_text.logprobs'] }, '', 'include'],
  ['responses', { model: 'gpt-6-luna', max_output_tokens: 5 }, ''],
  ['responses', { model: 'gpt-5.4', temperature: 0.5 }, ''],
  ['responses', { model: 'gpt-4o', reasoning: { effort: 'low' }, temperature: 0.5 }, 'reasoning'],
  ['responses', { model: 'to-chat', temperature: 0 }, 'temperature'],
  [
    'messages',
    { model: 'claude-opus-4-8', temperature: 0.5, top_p: 0.5, top_k: 5 },
    'temperature, top_p, top_k',
  ],
  ['messages', { model: 'claude-haiku-4-5', temperature: 0.5, top_p: 0.5 }, 'top_p'],
  [
    'messages',
    { model: 'claude-haiku-4-5', thinking, temperature: 0.5, top_k: 5 },
    'temperature, top_k',
  ],
  ['messages', { model: 'claude-haiku-4-5', thinking, temperature: 1 }, ''],
  ['messages', { model: 'claude-haiku-4-5', temperature: 0.5, top_k: 5 }, ''],
  ['messages', { model: 'claude-haiku-4-5', metadata: { team: 'blue', user_id: 'u' } }, 'metadata'],
  ['messages', { model: 'claude-haiku-4-5', metadata: { user_id: 'u' } }, ''],
  ['messages', { model: 'gpt-4o', metadata: { team: 'blue' } }, 'metadata'],
  ['messages', { model: 'to-chat', metadata: { team: 'blue', user_id: 'u' } }, 'metadata'],
];

for (const [at, fields, ignored, refused] of cases) {
  test(`${at} ${JSON.stringify(fields)}: ${refused ? `${refused} is refused` : `ignored: ${ignored || 'nothing'}`}, live and in test mode`, async () => {
    const { path, plain } = paths[at];
    for (const key of [live, sandbox]) {
      const sent = gateway.upstream.requests.length;
      const reply = await gateway.post(path, { key, body: { ...plain, ...fields } });
      if (refused) {
        assert.deepEqual([reply.status, reply.error.param], [400, refused], reply.text);
        assert.match(reply.error.message, new RegExp(`^${refused}`));
        assert.equal(gateway.upstream.requests.length, sent);
      } else {
        assert.equal(reply.status, 200, reply.text);
        assert.equal(reply.headers['x-service-ignored'] ?? '', ignored);
      }
    }
  });
}

test('stop sequences that a model refuses cut its answer, whole and streamed', async () => {
  for (const model of ['gpt-6-luna', 'a-grok']) {
    for (const stream of [false, true]) {
      const body = { model, messages, stream, stop: ['STOP'] };
      const reply = await gateway.post('/v1/chat/completions', { key: live, body });
      assert.equal(reply.status, 200, reply.text);
      assert.equal(reply.headers['x-service-emulated'], 'stop');
      assert.match(reply.text, /One/);
      assert.doesNotMatch(reply.text, /STOP|Two/);
      assert.match(reply.text, /"finish_reason":"stop"/);
    }
  }
});

test('more stop sequences than a host takes are emulated', async () => {
  const stop = ['a1', 'b1', 'c1', 'd1', 'STOP'];
  const body = { model: 'gpt-4o', messages, stop };
  const reply = await gateway.post('/v1/chat/completions', { key: live, body });
  assert.equal(reply.headers['x-service-emulated'], 'stop', reply.text);
  assert.doesNotMatch(reply.text, /STOP|Two/);
});

test('the cache is asked by the temperature that the client sent, although the model gets none', async () => {
  for (const [path, body] of [
    ['/v1/chat/completions', { model: 'gpt-6-luna', messages, temperature: 0, seed: 1 }],
    ['/v1/responses', { model: 'gpt-6-luna', input: 'Hi', temperature: 0 }],
  ] as const) {
    const send = () => gateway.post(path, { key: live, body: { ...body, user: 'cache' } });
    assert.equal((await send()).headers['x-service-cache'], undefined);
    assert.ok(!('temperature' in (gateway.upstream.requests.at(-1)!.body as JsonObject)));
    assert.equal((await send()).headers['x-service-cache'], 'hit');
  }
});

test('only the digest of the user goes to Anthropic, and the other entries of `metadata` are tags', async () => {
  const metadata = { team: 'blue', user_id: 'ann@example.com' };
  const body = { model: 'claude-haiku-4-5', messages, max_tokens: 100, metadata };
  const reply = await gateway.post('/v1/messages', { key: live, body });
  assert.equal(reply.headers['x-service-ignored'], 'metadata', reply.text);
  const sent = (gateway.upstream.requests.at(-1)!.body as JsonObject)['metadata'] as JsonObject;
  assert.deepEqual(Object.keys(sent), ['user_id']);
  assert.match(String(sent['user_id']), /^[\w-]{43}$/);
  const id = String(reply.headers['x-request-id']);
  const usage = await gateway.get(`/v1/usage?request_id=${id}`, { key: live });
  assert.match(usage.text, /"team=blue"/);
});
