// What known hosts answer when they fail (recorded, or from their sources and documentation), to clients of
// each format: the right status and words, free of charge, with another route where that may help, and
// nothing about the operator's account.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { rowsOf } from '../support/rows.ts';
import { wholeAnswer } from '../support/answers.ts';
import { endpoints } from '../support/endpoints.ts';
import { searchPath, searchTurn } from '../support/hosted-gateway.ts';
import { chatTurns } from '../support/turns-chat.ts';
import { startGateway } from '../support/gateway.ts';
import { answerBytes, answerJson, answerStatus, framesText } from '../support/upstream.ts';

/**
 * `client`: 400 with the host's words, nowhere else. `too-long`: as `client`, with the code that clients
 * act on. `missing`: as `client`, after another route. `account`: the operator's key or money: another
 * route, and no words. `passes`: a retry or another route may help.
 */
type Verdict = 'client' | 'too-long' | 'missing' | 'account' | 'passes';
type Fault = {
  readonly host: string;
  readonly verdict: Verdict;
  readonly status: number;
  readonly body: unknown;
  readonly words?: string;
};
const file = join(import.meta.dirname, '..', 'answers', 'host-errors.jsonl');
const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
const faults = lines.map((line) => JSON.parse(line) as Fault);

const secrets = ['user_example', 'sk-or-v1-0123456789', 'org-Ab12Cd34Ef56Gh', 'team-secret'];
const names = [...new Set(faults.map(({ host }) => host))];
const content = { text: 'one two three', tokens: { input: 5, output: 20 } };
const sold = (...routes: [provider: string, model: string][]) => ({
  routes: routes.map(([provider, model]) => ({ provider, model })),
  prices: { input: 1, output: 1 },
});
// The kind `cohere` adds its version itself.
const baseOf = (name: string) => (name === 'cohere' ? `/${name}` : `/${name}/v1`);
const gateway = await startGateway(({ url }) => ({
  providers: {
    ...Object.fromEntries(
      names.map((name) => [name, { base_url: `${url}${baseOf(name)}`, api_key: secrets[1] }]),
    ),
    spare: { kind: 'openai-compatible', base_url: `${url}/spare/v1`, api_key: 'none' },
    brave: { kind: 'brave', base_url: `${url}/brave`, api_key: 'brave-key-0123456' },
  },
  search: { providers: ['brave'], price_usd: 0.005 },
  models: {
    ...Object.fromEntries(names.map((name) => [`${name}-alone`, sold([name, 'm'])])),
    // A refused key takes a route out of use: each fault has its own.
    ...Object.fromEntries(
      faults.map(({ host }, index) => [
        `both-${index}`,
        sold([host, `m-${index}`], ['spare', 's']),
      ]),
    ),
  },
}));
const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 50 });
after(() => gateway.stop());
gateway.upstream.on('/spare/v1/chat/completions', answerJson(wholeAnswer('chat', content)));

const chatPathOf = (name: string) =>
  `${baseOf(name)}/${name === 'cohere' ? 'v2/chat' : 'chat/completions'}`;
const balanceNow = async () => (await gateway.get('/v1/balance', { key })).text;

for (const [index, { host, verdict, status, body, words }] of faults.entries()) {
  test(`${host} answers ${status} ${JSON.stringify(body).slice(0, 70)}: ${verdict}`, async () => {
    gateway.upstream.on(chatPathOf(host), answerStatus(status, { body }));
    const earlier = await balanceNow();
    for (const client of endpoints)
      for (const stream of [false, true]) {
        const fields = { model: `${host}-alone`, stream };
        const reply = await gateway.post(client.path, { key, body: client.body(fields) });
        const isClients = ['client', 'too-long', 'missing'].includes(verdict);
        assert.equal(reply.status < 500, isClients, reply.text);
        if (verdict === 'too-long') assert.match(reply.text, /context_length_exceeded/);
        else assert.doesNotMatch(reply.text, /context_length_exceeded/);
        assert.ok(words === undefined || reply.error.message.includes(words), reply.text);
        for (const secret of secrets) assert.ok(!reply.text.includes(secret), reply.text);
        assert.equal(await balanceNow(), earlier);
      }
    const asking = { model: `both-${index}`, messages: [{ role: 'user', content: 'Hi' }] };
    const { reply: both, asked } = await gateway.postRecorded('/v1/chat/completions', {
      key,
      body: asking,
    });
    const isFinal = verdict === 'client' || verdict === 'too-long';
    assert.equal(both.status, isFinal ? 400 : 200, both.text);
    assert.equal(asked.length, isFinal ? 1 : 2);
  });
}

const opening = {
  id: 'c',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta: { role: 'assistant', content: 'one ' }, finish_reason: null }],
};
const streamed: readonly (readonly [what: string, frames: Parameters<typeof framesText>[0]])[] = [
  [
    'Groq’s event of an error',
    [
      { data: opening },
      { event: 'error', data: { error: { message: 'Over capacity', status_code: 503 } } },
    ],
  ],
  [
    'OpenRouter’s error in a chunk',
    [{ data: opening }, { data: { ...opening, error: { message: 'Down', code: 502 } } }, '[DONE]'],
  ],
  [
    'an abort of SGLang',
    [
      { data: opening },
      { data: { ...opening, choices: [{ index: 0, delta: {}, finish_reason: 'abort' }] } },
    ],
  ],
  ['a flat error', [{ data: opening }, { event: 'error', data: { message: 'x', code: 500 } }]],
  [
    'an error of Cerebras that no event names',
    [{ data: opening }, { data: { message: 'Try again', type: 'server_error', code: '' } }],
  ],
  [
    'MiniMax’s code of an error',
    [{ data: opening }, { data: { choices: null, base_resp: { status_code: 1002 } } }],
  ],
];

test('a stream that fails with its first chunk is read as a whole answer is', async () => {
  const failsWith = (data: object) => {
    const events = framesText([{ data }]);
    const headers = { 'content-type': 'text/event-stream' };
    gateway.upstream.on(chatPathOf('openrouter'), answerBytes(Buffer.from(events), { headers }));
  };
  const fails = (code: number, message: string) => failsWith({ error: { message, code } });
  fails(403, 'Content violates usage guidelines. Team: team-secret');
  for (const client of endpoints) {
    const body = client.body({ model: 'openrouter-alone', stream: true });
    const reply = await gateway.post(client.path, { key, body });
    assert.equal(reply.status, 400, reply.text);
    assert.match(reply.error.message, /violates usage guidelines/);
  }
  const alibabas = {
    code: 'data_inspection_failed',
    type: 'data_inspection_failed',
    message: 'no',
  };
  for (const data of [
    { error: alibabas },
    { error: { message: 'no', type: 'invalid_request_error', code: null } },
    { choices: null, base_resp: { status_code: 1026, status_msg: 'no' } },
  ]) {
    failsWith(data);
    for (const client of endpoints) {
      const body = client.body({ model: 'openrouter-alone', stream: true });
      const reply = await gateway.post(client.path, { key, body });
      assert.equal(reply.status, 400, reply.text);
      assert.equal(reply.error.message, 'no');
    }
  }
  fails(500, 'insufficient balance (1008)');
  const body = {
    model: 'openrouter-alone',
    messages: [{ role: 'user', content: 'Hi' }],
    stream: true,
  };
  const { reply, asked } = await gateway.postRecorded('/v1/chat/completions', { key, body });
  assert.deepEqual([reply.status, asked.length], [502, 1]);
});

test('xAI’s fee for a request that its rules forbid is a loss that the account caused, at xAI alone', async () => {
  const forbidden = { error: 'Content violates usage guidelines. Team: team-secret' };
  for (const [host, losses] of [
    ['xai', [50_000]],
    ['openrouter', []],
  ] as const) {
    gateway.upstream.on(chatPathOf(host), answerStatus(403, { body: forbidden }));
    const made = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
    const body = { model: `${host}-alone`, messages: [{ role: 'user', content: 'Hi' }] };
    const reply = await gateway.post('/v1/chat/completions', { key: made.key, body });
    assert.equal(reply.status, 400, reply.text);
    assert.deepEqual(await gateway.lossesOf(reply.requestId), losses);
    const rows = await rowsOf(gateway.database, 'loss_days', { ledger_id: `${made.account}:live` });
    assert.equal(
      rows.reduce((sum, row) => sum + Number(row.provoked_micros), 0),
      losses[0] ?? 0,
    );
  }
});

test('xAI’s fee is booked beside what earlier calls of the answer cost', async () => {
  const body = { error: 'Content violates usage guidelines. Team: team-secret' };
  const found = { title: 'T', url: 'https://www.example.com', description: 'Text.' };
  gateway.upstream.on(searchPath, answerJson({ web: { results: [found] } }));
  const turn = answerJson(chatTurns.whole(searchTurn('a')));
  gateway.upstream.on(chatPathOf('xai'), turn, answerStatus(403, { body }));
  const tools = [{ type: 'web_search' }];
  const asked = { model: 'xai-alone', input: 'x', tools };
  const { reply, asked: calls } = await gateway.postRecorded('/v1/responses', { key, body: asked });
  assert.deepEqual([reply.status, calls.length], [400, 3], reply.text);
  // Beside it, 30 tokens at $1 a million and a search.
  assert.deepEqual(await gateway.lossesOf(reply.requestId), [50_000, 5_030]);
});

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
