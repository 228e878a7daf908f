// Scopes of API keys: every endpoint with every set of scopes, and ways around them.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { keyScopes, type KeyScope } from '../../src/terms/key-scope.ts';
import { publicOperations } from '../../src/reference/public-operations.ts';
import { signIn } from '../support/dashboard.ts';
import { startGateway } from '../support/gateway.ts';
import { ok, type Reply } from '../support/http.ts';
import { TestClock } from '../support/test-clock.ts';
import { untilNoticed } from '../support/until.ts';

const messages = [{ role: 'user', content: 'Hello!' }];
const counted = { model: 'claude-haiku-4-5', messages };
const chat = { model: 'gpt-6-luna', messages };
const ranking = { model: 'rerank-v3.5', query: 'tides', documents: ['a tide', 'a boat'] };
const gemini = { contents: [{ parts: [{ text: 'Hello!' }] }] };
const embedded = { content: { parts: [{ text: 'Hi' }] } };
const image = { model: 'gpt-image-flare', prompt: 'a boat' };

type Case = {
  readonly scope: KeyScope | null;
  readonly body?: object;
  /** With the scope. Default: 200. */
  readonly status?: number;
};

/** Every endpoint that takes a key. */
const cases: Readonly<Record<string, Case>> = {
  'POST /v1/responses': { scope: 'run', body: { model: 'gpt-6-luna', input: 'Hello!' } },
  // A WebSocket, for which `get` does not ask.
  'GET /v1/responses': { scope: 'run', status: 426 },
  'POST /v1/responses/compact': { scope: 'run', body: { model: 'gpt-6-luna', input: 'Hello!' } },
  'POST /v1/chat/completions': { scope: 'run', body: chat },
  'POST /v1/completions': { scope: 'run', body: { model: 'gpt-6-luna', prompt: 'Hello!' } },
  'POST /v1/messages': { scope: 'run', body: { ...chat, max_tokens: 20 } },
  'POST /v1beta/generateContent/gpt-6-luna': { scope: 'run', body: gemini },
  'POST /v1beta/streamGenerateContent/gpt-6-luna': { scope: 'run', body: gemini },
  'POST /v1beta/countTokens/gpt-6-luna': { scope: 'run', body: gemini },
  // No model for embeddings.
  'POST /v1beta/embedContent/gpt-6-luna': { scope: 'run', body: embedded, status: 404 },
  'POST /v1beta/batchEmbedContents/gpt-6-luna': {
    scope: 'run',
    body: { requests: [embedded] },
    status: 404,
  },
  'GET /v1beta/models': { scope: null },
  'GET /v1beta/models/gpt-6-luna': { scope: null },
  'POST /v1/embeddings': { scope: 'run', body: { model: 'mistral-embed', input: 'Hi' } },
  'POST /v1/audio/speech': {
    scope: 'run',
    body: { model: 'tts-1', input: 'Hi', voice: 'alloy' },
  },
  // Audio comes as a form.
  'POST /v1/audio/transcriptions': { scope: 'run', body: {}, status: 415 },
  'POST /v1/audio/translations': { scope: 'run', body: {}, status: 415 },
  'POST /v1/rerank': { scope: 'run', body: ranking },
  'POST /v2/rerank': { scope: 'run', body: ranking },
  'POST /v1/moderations': { scope: 'run', body: { input: 'Hi' } },
  'POST /v1/web-search': { scope: 'run', body: { query: 'tides' } },
  'POST /v1/messages/count_tokens': { scope: 'run', body: counted },
  'POST /v1/responses/input_tokens': { scope: 'run', body: { model: 'gpt-6-luna', input: 'Hi' } },
  'POST /v1/messages/cache_touch': { scope: 'run', body: {}, status: 501 },
  'POST /v1/metrics': { scope: 'run', body: {} },
  'POST /v1/logs': { scope: 'run', body: {} },
  'POST /v1/traces': { scope: 'run', body: {} },
  'POST /v1/images/generations': { scope: 'images', body: image },
  // Without an image.
  'POST /v1/images/edits': { scope: 'images', body: image, status: 400 },
  'POST /v1/files': { scope: 'run', body: {}, status: 415 },
  'GET /v1/files': { scope: 'run' },
  'GET /v1/files/:id': { scope: 'run', status: 404 },
  'GET /v1/files/:id/content': { scope: 'run', status: 404 },
  'DELETE /v1/files/:id': { scope: 'run', status: 404 },
  'POST /v1/batches': { scope: 'run', body: {}, status: 400 },
  'GET /v1/batches': { scope: 'run' },
  'GET /v1/batches/:id': { scope: 'run', status: 404 },
  'POST /v1/batches/:id/cancel': { scope: 'run', body: {}, status: 404 },
  'POST /v1/messages/batches': { scope: 'run', body: {}, status: 400 },
  'GET /v1/messages/batches': { scope: 'run' },
  'GET /v1/messages/batches/:id': { scope: 'run', status: 404 },
  'GET /v1/messages/batches/:id/results': { scope: 'run', status: 404 },
  'POST /v1/messages/batches/:id/cancel': { scope: 'run', body: {}, status: 404 },
  'DELETE /v1/messages/batches/:id': { scope: 'run', status: 404 },
  'GET /v1/balance': { scope: 'usage' },
  'GET /v1/usage': { scope: 'usage' },
  'GET /v1/usage/prompt-cache': { scope: 'usage' },
  'GET /v1/models': { scope: null },
  'GET /v1/models/info': { scope: null },
  'GET /v1/models/gpt-6-luna': { scope: null },
};

const sets: readonly (readonly KeyScope[])[] = [
  ...keyScopes.map((scope) => [scope]),
  ['run', 'images'],
  ['run', 'usage'],
  ['images', 'usage'],
  [...keyScopes],
];

const clock = new TestClock();
const gateway = await startGateway({}, { clock });
after(() => gateway.stop());

function send(name: string, key: string, body = cases[name]!.body): Promise<Reply> {
  const [method, path] = name.split(' ') as [string, string];
  return gateway.get(path, { method, key, ...(body && { body }) });
}

test('the table has every endpoint that takes a key', () => {
  const withKey = Object.entries(publicOperations)
    .filter(([, { access }]) => access !== 'open')
    .map(([name]) => name.replace('*', 'gpt-6-luna'));
  const inTable = new Set(Object.keys(cases));
  assert.deepEqual(
    withKey.filter((name) => !inTable.has(name) && name.includes(' /v1')),
    [],
  );
});

for (const scopes of sets) {
  test(`a key with the scopes ${scopes.join(', ')} may call their endpoints only`, async () => {
    const { key, account } = await gateway.makeKey({ scopes });
    const untouched = await gateway.balance(account, 'test');
    for (const [name, { scope }] of Object.entries(cases)) {
      if (scope === null || scopes.includes(scope)) continue;
      const reply = await send(name, key);
      assert.equal(reply.status, 403, `${name}: ${reply.text}`);
      assert.match(reply.text, /key_scope_missing/i);
    }
    assert.deepEqual(await gateway.balance(account, 'test'), untouched, 'refusals are free');
    for (const [name, { scope }] of Object.entries(cases)) {
      if (scope !== null && !scopes.includes(scope)) continue;
      const reply = await send(name, key);
      assert.equal(reply.status, cases[name]!.status ?? 200, `${name}: ${reply.text}`);
    }
  });
}

test('a key without a list has every scope', async () => {
  const { key } = await gateway.makeKey();
  for (const name of ['POST /v1/chat/completions', 'POST /v1/images/generations', 'GET /v1/usage'])
    assert.equal((await send(name, key)).status, 200, name);
});

test('the refusal names the scope, and comes before the body is parsed', async () => {
  const { key } = await gateway.makeKey({ scopes: ['usage'] });
  const reply = await gateway.post('/v1/chat/completions', { key, body: '{ no JSON' });
  assert.equal(reply.error.code, 'key_scope_missing');
  assert.deepEqual(reply.error['details'], { needed_scope: 'run' });
});

test('other ways to send the key, and other spellings of a path, need the same scope', async () => {
  const { key } = await gateway.makeKey({ scopes: ['usage'] });
  const body = { model: 'gpt-6-luna', input: 'Hello!' };
  const replies = [
    await gateway.post(`/v1/responses?api_key=${key}`, { body }),
    await gateway.post('/v1/responses', { headers: { 'x-api-key': key }, body }),
    await gateway.post('/v1/responses/', { key, body }),
    await gateway.post('//v1/responses', { key, body }),
    await gateway.post('/v1/%72esponses', { key, body }),
    await gateway.post('/V1/RESPONSES', { key, body }),
  ];
  for (const reply of replies) assert.ok([403, 404].includes(reply.status), reply.text);
  assert.deepEqual(
    replies.slice(0, 3).map((reply) => reply.error.code),
    ['key_scope_missing', 'key_scope_missing', 'key_scope_missing'],
  );
});

test('a stored answer is not replayed to a key that lost its scope', async () => {
  const owner = await signIn(gateway, { role: 'owner' });
  const made = await gateway.makeKey({ account: owner.account });
  const headers = { 'idempotency-key': 'once' };
  const ask = () => gateway.post('/v1/chat/completions', { key: made.key, headers, body: chat });
  await ok(ask());
  const path = `/accounts/${owner.account}/keys/${made.id}`;
  const changed = await owner.send('PATCH', path, { body: { scopes: ['usage'] } });
  assert.deepEqual(changed.json()['scopes'], ['usage'], changed.text);
  const refused = await untilNoticed(clock, async () => {
    const reply = await ask();
    return reply.status === 403 && reply;
  });
  assert.equal(refused.error.code, 'key_scope_missing');
});

test('a rotated key has the same scopes under both texts', async () => {
  const owner = await signIn(gateway, { role: 'owner' });
  const made = await gateway.makeKey({ account: owner.account, scopes: ['usage'] });
  const rotated = await owner.post(`/accounts/${owner.account}/keys/${made.id}/rotate`, {
    overlap_hours: 1,
  });
  for (const key of [made.key, rotated.json<{ secret: string }>().secret]) {
    await ok(send('GET /v1/balance', key));
    assert.equal((await send('POST /v1/chat/completions', key)).error.code, 'key_scope_missing');
  }
});

test('the playground obeys the scopes of the key', async () => {
  const owner = await signIn(gateway, { role: 'owner' });
  const run = await gateway.makeKey({ account: owner.account, scopes: ['run'] });
  const images = await gateway.makeKey({ account: owner.account, scopes: ['images'] });
  const ask = async ({ id }: { readonly id: string }, path: string, body: object) =>
    (await owner.post(`/accounts/${owner.account}/keys/${id}${path}`, body)).status;
  assert.equal(await ask(run, '/v1/chat/completions', chat), 200);
  assert.equal(await ask(run, '/v1/images/generations', image), 403);
  assert.equal(await ask(images, '/v1/images/generations', image), 200);
  for (const [path, body] of [
    ['/v1/chat/completions', chat],
    ['/v1/messages', { ...chat, max_tokens: 20 }],
    ['/v1/responses', { model: 'gpt-6-luna', input: 'Hello!' }],
  ] as const)
    assert.equal(await ask(images, path, body), 403, path);
});

test('wrong scopes are a 400 that names the field', async () => {
  const owner = await signIn(gateway, { role: 'owner' });
  for (const scopes of [[], ['admin'], 'run', ['run', 'run', 'run', 'run']]) {
    const body = { mode: 'test', name: 'Wrong', scopes };
    const reply = await owner.post(`/accounts/${owner.account}/keys`, body);
    assert.equal(reply.status, 400, JSON.stringify(scopes));
    assert.match(String(reply.error['param']), /^scopes/);
  }
});
