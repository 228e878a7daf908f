// The request fields that reach a provider, as the local upstream receives them: known and allowed
// fields, input that a hold covers, and digests in place of the client's own names.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { answerContent, type UpstreamWireName } from '../support/answers.ts';
import { endpoint, endpoints } from '../support/endpoints.ts';
import { startGateway } from '../support/gateway.ts';
import { ok } from '../support/http.ts';
import { answerJson } from '../support/upstream.ts';

const limits = {
  max_input_tokens: 200_000,
  max_output_tokens: 8_000,
  prices: { input: 1, output: 2 },
};
const model = (provider: string, fields: object = {}) => ({
  ...limits,
  routes: [{ provider, model: 'up' }],
  ...fields,
});
const addressedTypes = [
  'document_url',
  'audio_url',
  'video_url',
  'file_url',
  'input_video',
  'video',
  'file',
];
const user = (content: unknown) => ({ messages: [{ role: 'user', content }] });
const hi = user('Hi');

const gateway = await startGateway((upstream) => ({
  providers: {
    lab: {
      kind: 'openai-compatible',
      base_url: `${upstream.url}/lab/v1`,
      api_key: 'none',
      pass_fields: ['sampler', 'messages.content.hologram'],
      cache_salt: true,
    },
    google: { kind: 'google', base_url: upstream.url, api_key: 'none' },
  },
  models: {
    // Its server is inside the network, where addresses of other media do not reach it.
    plain: model('local', {
      pass_fields: addressedTypes.map((type) => `messages.content.${type}`),
    }),
    opened: model('lab'),
    'opened-model': model('local', { pass_fields: ['only_here', 'messages.Kind'] }),
    translated: model('google', { pass_fields: ['sampler'] }),
  },
}));
const content = { text: 'one', tokens: { input: 20, output: 5 } };
const paths: Readonly<Record<string, UpstreamWireName>> = {
  '/local/v1/chat/completions': 'chat',
  '/lab/v1/chat/completions': 'chat',
  '/v1/chat/completions': 'chat',
  '/v1/messages': 'messages',
  '/v1/responses': 'responses',
  '/v1beta/models/up:generateContent': 'gemini',
};
for (const [path, wire] of Object.entries(paths))
  gateway.upstream.on(path, answerContent(wire, content));
const strict = await startGateway({ limits: { unknown_fields: 'refuse' } });
after(() => gateway.stop());
after(() => strict.stop());

type Sent = {
  readonly name: 'chat' | 'responses' | 'messages';
  readonly key: string;
  readonly fields: object;
};

function post({ name, key, fields }: Sent, headers: Record<string, string> = {}) {
  const { path, body } = endpoint(name);
  return gateway.post(path, { key, body: body(fields), headers });
}

async function liveKey(creditUsd = 5, account?: string) {
  return gateway.makeKey({ mode: 'live', creditUsd, ...(account && { account }) });
}

function ignoredBy({ headers }: { headers: Readonly<Record<string, unknown>> }): string[] {
  const list = headers['x-service-ignored'];
  return typeof list === 'string' ? list.split(', ') : [];
}

function lastSent(): Record<string, unknown> {
  return gateway.upstream.requests.at(-1)!.body as Record<string, unknown>;
}

/** In the order of their bytes. */
const unknownNames = [
  'MAX_TOKENS',
  '__proto__',
  'custom_logit_processor',
  'extra_body',
  'n_predict',
  'options',
];

test('an unknown field at any endpoint and depth is left out and listed, and never sent', async () => {
  const { key, account } = await liveKey();
  for (const mode of ['live', 'test'] as const) {
    const caller = mode === 'live' ? key : (await gateway.makeKey({ mode })).key;
    for (const { name } of endpoints) {
      const fields = Object.fromEntries(unknownNames.map((field) => [field, { n: 2 }]));
      const reply = await post({ name, key: caller, fields });
      const ignored = ignoredBy(reply).toSorted();
      assert.deepEqual([reply.status, ignored], [200, unknownNames], reply.text);
      const { warnings } = reply.json<{ warnings?: { param: string }[] }>();
      const warned = warnings?.map(({ param }) => param).toSorted();
      assert.deepEqual(warned, name === 'responses' ? unknownNames : undefined);
      if (mode === 'live')
        for (const field of unknownNames) assert.ok(!Object.hasOwn(lastSent(), field), field);
    }
  }
  const deep = user([{ type: 'text', text: 'x', Max_Tokens: 9 }]);
  for (const [name, id] of [
    ['chat', undefined],
    ['messages', undefined],
    ['chat', 'plain'],
    ['chat', 'translated'],
  ] as const) {
    const reply = await post({
      name,
      key,
      fields: { ...deep, ...(id && { model: id }), n_predict: 9 },
    });
    assert.deepEqual(
      [reply.status, ignoredBy(reply).toSorted()],
      [200, ['messages.content.Max_Tokens', 'n_predict']],
      reply.text,
    );
    assert.doesNotMatch(JSON.stringify(lastSent()), /Max_Tokens|n_predict/);
  }
  assert.equal((await gateway.balance(account)).heldMicros, 0);
});

test('thousands of unknown fields with long names are left out, and listed only in part', async () => {
  const { key } = await liveKey();
  const names = Array.from({ length: 5_000 }, (_, index) => `${index}\u2028${'x'.repeat(500)}`);
  const fields = Object.fromEntries(names.map((name) => [name, 1]));
  const reply = await post({ name: 'chat', key, fields });
  assert.equal(reply.status, 200, reply.text);
  const list = String(reply.headers['x-service-ignored']);
  assert.ok(list.length < 1_100 && /and \d+ more$/.test(list), list);
  assert.ok(JSON.stringify(lastSent()).length < 1_000);
});

test('an unknown field without a value is left out and not listed', async () => {
  const { key } = await liveKey();
  const reply = await post({ name: 'chat', key, fields: { brand_new: null } });
  assert.deepEqual([reply.status, ignoredBy(reply)], [200, []], reply.text);
  assert.ok(!('brand_new' in lastSent()));
});

test('with `limits.unknown_fields: refuse` an unknown field is a 400 that names it, and nothing is sent', async () => {
  const { key, account } = await strict.makeKey({ mode: 'live', creditUsd: 5 });
  for (const [index, { name, path, body }] of endpoints.entries()) {
    for (const field of unknownNames.filter((_, at) => at % endpoints.length === index)) {
      const fields = Object.fromEntries([[field, { n: 2 }]]);
      const reply = await strict.post(path, { key, body: body(fields) });
      assert.deepEqual([reply.status, reply.error.code], [400, 'invalid_request'], reply.text);
      assert.match(reply.error.message, new RegExp(`^${field} is an unknown field.*pass_fields`));
    }
    if (name === 'responses') continue;
    const deep = user([{ type: 'text', text: 'x', Max_Tokens: 9 }]);
    assert.match(
      (await strict.post(path, { key, body: body(deep) })).error.message,
      /^messages\[0\]\.content\[0\]\.Max_Tokens is an unknown field/,
    );
  }
  assert.equal(strict.upstream.requests.length, 0);
  assert.equal((await strict.balance(account)).heldMicros, 0);
});

test('with `limits.unknown_fields: refuse` a misspelt field is answered with the field that was probably meant', async () => {
  const { key } = await strict.makeKey({ mode: 'live', creditUsd: 5 });
  const cases = [
    ['chat', 'max_token', 'max_tokens'],
    ['messages', 'stop_sequence', 'stop_sequences'],
    ['responses', 'max_output_token', 'max_output_tokens'],
  ] as const;
  for (const [name, field, meant] of cases) {
    const { path, body } = endpoint(name);
    const reply = await strict.post(path, { key, body: body({ [field]: 9 }) });
    assert.equal(
      reply.error.message,
      `${field} is an unknown field; did you mean \`${meant}\`? Otherwise leave it out, or ask the operator to open it with \`pass_fields\``,
    );
  }
});

test('fields that the operator allows pass only there, and are dropped and listed in translation', async () => {
  const { key } = await liveKey();
  const sampler = { sampler: { any: ['thing'] } };
  await ok(post({ name: 'chat', key, fields: { ...hi, model: 'opened', ...sampler } }));
  assert.deepEqual(lastSent()['sampler'], sampler.sampler);
  for (const fields of [
    { ...hi, model: 'plain', ...sampler },
    { ...hi, model: 'opened', Sampler: 1 },
  ]) {
    await ok(post({ name: 'chat', key, fields }));
    assert.ok(!Object.keys(lastSent()).some((name) => /sampler/i.test(name)));
  }

  const nested = { only_here: 1, messages: [{ role: 'user', content: 'Hi', Kind: 'x' }] };
  await ok(post({ name: 'chat', key, fields: { ...nested, model: 'opened-model' } }));
  assert.deepEqual([lastSent()['only_here'], lastSent()['messages']], [1, nested.messages]);

  const inGemini = { ...hi, model: 'translated', ...sampler };
  const translated = await ok(post({ name: 'chat', key, fields: inGemini }));
  assert.deepEqual(ignoredBy(translated), ['sampler']);
  const { key: testKey } = await gateway.makeKey({ mode: 'test' });
  // A test request may hold what a live one may.
  await ok(post({ name: 'chat', key: testKey, fields: { ...hi, model: 'opened', ...sampler } }));
  // It does not allow fields that are refused for another reason.
  const tier = { ...hi, model: 'opened', service_tier: 'flex' };
  assert.equal((await post({ name: 'chat', key, fields: tier })).status, 400);
  const stored = [
    { sampler: { any: [{ file_id: 'file_1' }] } },
    user([{ type: 'hologram', hologram: { file_ids: ['file_1'] } }]),
  ];
  for (const fields of [...stored, user([{ type: 'hologram', file_id: 'file_1' }])]) {
    const reply = await post({ name: 'chat', key, fields: { ...hi, model: 'opened', ...fields } });
    assert.equal(reply.status, 400, JSON.stringify(fields));
    assert.match(reply.error.message, /file_ids? names /);
  }
});

/** The model's whole input limit costs $0.208. */
const addressed: readonly Record<string, unknown>[] = [
  ...['document_url', 'audio_url', 'video_url', 'file_url', 'input_video'].map((type) => ({
    type,
    [type]: { url: 'https://films.example/a' },
  })),
  { type: 'video', video: ['https://films.example/1', 'https://films.example/2'] },
  { type: 'file', file: { file_data: 'https://films.example/a.pdf' } },
  { type: 'video_url', video_url: { url: 'data:video/mp4;base64,AAAA' } },
];

test('a document, sound or video reserves the model’s whole input limit, in messages and tool results', async () => {
  const poor = await liveKey(0.1);
  const rich = await liveKey(1);
  for (const part of addressed) {
    for (const message of [
      { role: 'user', content: [part] },
      { role: 'tool', tool_call_id: 'c', content: [part] },
    ]) {
      const fields = { model: 'plain', max_completion_tokens: 10, messages: [message] };
      const sent = gateway.upstream.requests.length;
      const refused = await post({ name: 'chat', key: poor.key, fields });
      assert.deepEqual(
        [refused.status, refused.error.code],
        [402, 'insufficient_balance'],
        JSON.stringify(part),
      );
      assert.equal(gateway.upstream.requests.length, sent);
      await ok(post({ name: 'chat', key: rich.key, fields }));
    }
  }
  assert.equal((await gateway.balance(rich.account)).heldMicros, 0);
});

test('forty simultaneous requests with videos reach the provider only as far as the balance allows', async () => {
  const { key, account } = await liveKey(1);
  const sent = gateway.upstream.requests.length;
  const fields = { model: 'plain', max_completion_tokens: 10, ...user([addressed[2]]) };
  const replies = await Promise.all(
    Array.from({ length: 40 }, () => post({ name: 'chat', key, fields })),
  );
  const served = replies.filter(({ status }) => status === 200).length;
  assert.equal(gateway.upstream.requests.length - sent, served);
  assert.ok(replies.every(({ status }) => status === 200 || status === 402));
  assert.equal((await gateway.balance(account)).heldMicros, 0);
});

test('an unknown kind of content is refused; when allowed, it reserves the model’s whole input limit', async () => {
  const part = { type: 'hologram', hologram: { url: 'https://films.example/h' } };
  const rich = await liveKey(1);
  const poor = await liveKey(0.1);
  for (const { name } of endpoints) {
    const fields =
      name === 'responses' ? { input: [{ role: 'user', content: [part] }] } : user([part]);
    const reply = await post({ name, key: rich.key, fields });
    assert.equal(reply.status, 400, reply.text);
    assert.match(
      reply.error.message,
      /content\[0\]\.type "hologram" is an unknown kind of content.*pass_fields/,
    );
  }
  const fields = { ...user([part]), model: 'opened', max_completion_tokens: 10 };
  assert.equal((await post({ name: 'chat', key: poor.key, fields })).status, 402);
  await ok(post({ name: 'chat', key: rich.key, fields }));
  assert.deepEqual(lastSent()['messages'], fields.messages);
});

const digest = /^[\w-]{43}$/;

test('clients’ user and cache names are sent upstream as digests per account and returned unchanged', async () => {
  const [one, other] = [await liveKey(), await liveKey()];
  const names = {
    user: 'ann@example.com',
    safety_identifier: 's-1',
    prompt_cache_key: 'k'.repeat(500),
  };
  gateway.upstream.on('/v1/responses', (response, request) => {
    const body = request.body as Record<string, unknown>;
    const { user: name, safety_identifier: id, prompt_cache_key: cacheKey } = body;
    const usage = { input_tokens: 5, output_tokens: 3, total_tokens: 8 };
    const echo = {
      user: name ?? null,
      safety_identifier: id ?? null,
      prompt_cache_key: cacheKey ?? null,
    };
    return answerJson({ id: 'r', status: 'completed', output: [], usage, ...echo })(
      response,
      request,
    );
  });
  const sent: Record<string, unknown>[] = [];
  for (const { key } of [one, one, other]) {
    const reply = await post({ name: 'responses', key, fields: names });
    const shown = JSON.parse(reply.text) as Record<string, unknown>;
    for (const [name, value] of Object.entries(names)) assert.equal(shown[name], value);
    sent.push(lastSent());
  }
  for (const name of Object.keys(names)) {
    const [first, again, foreign] = sent.map((body) => String(body[name]));
    assert.match(first!, digest);
    assert.equal(again, first);
    assert.notEqual(foreign, first);
  }
  const silent = await post({ name: 'responses', key: one.key, fields: {} });
  assert.match(String(lastSent()['safety_identifier']), digest);
  assert.ok(!('user' in lastSent()) && !('prompt_cache_key' in lastSent()));
  assert.equal((JSON.parse(silent.text) as { safety_identifier: unknown }).safety_identifier, null);
});

test('Anthropic and OpenAI always get a digest of the user or account, other hosts only of a user that the client names', async () => {
  const { key } = await liveKey();
  const send = async (name: Sent['name'], fields: object) => {
    const reply = await post({ name, key, fields });
    assert.equal(reply.status, 200, reply.text);
    return lastSent();
  };
  const ofUser = await send('messages', { metadata: { user_id: 'user_a1__session_b2' } });
  const ofAccount = await send('messages', {});
  const users = [ofUser, ofAccount].map(
    ({ metadata }) => (metadata as { user_id: string }).user_id,
  );
  for (const id of users) assert.match(id, digest);
  assert.notEqual(users[0], users[1]);
  assert.equal(users[1], ((await send('messages', {}))['metadata'] as { user_id: string }).user_id);

  const translated = await send('chat', { model: 'claude-haiku-4-5', user: 'user_a1__session_b2' });
  assert.deepEqual(
    translated['metadata'],
    ofUser['metadata'],
    'the same user, whichever format names it',
  );
  assert.match(String((await send('chat', {}))['safety_identifier']), digest);

  const host = await send('chat', { model: 'plain', ...hi });
  for (const name of ['user', 'safety_identifier', 'prompt_cache_key', 'cache_salt', 'metadata'])
    assert.ok(!(name in host), name);
  assert.match(String((await send('chat', { model: 'plain', ...hi, user: 'u' }))['user']), digest);
});

test('a host that accepts a cache salt gets one per account', async () => {
  const [one, other] = [await liveKey(), await liveKey()];
  const salts: unknown[] = [];
  for (const { key } of [one, one, other]) {
    await ok(post({ name: 'chat', key, fields: { model: 'opened', ...hi } }));
    salts.push(lastSent()['cache_salt']);
  }
  assert.match(String(salts[0]), digest);
  assert.equal(salts[1], salts[0]);
  assert.notEqual(salts[2], salts[0]);
  assert.equal(
    (
      await post({
        name: 'chat',
        key: one.key,
        fields: { model: 'opened', ...hi, cache_salt: salts[2] },
      })
    ).status,
    400,
  );
});

test('replays and cache hits are matched by the client’s own body', async () => {
  const { key } = await liveKey();
  const fields = { model: 'plain', ...hi, user: 'u', temperature: 0 };
  const headers = { 'idempotency-key': 'one' };
  assert.equal(
    (await post({ name: 'chat', key, fields }, headers)).headers['x-service-cache'],
    undefined,
  );
  assert.equal(
    (await post({ name: 'chat', key, fields }, headers)).headers['x-service-cache'],
    'idempotent-replay',
  );
  assert.equal((await post({ name: 'chat', key, fields })).headers['x-service-cache'], 'hit');
  assert.equal(
    (await post({ name: 'chat', key, fields: { ...fields, user: 'v' } })).headers[
      'x-service-cache'
    ],
    undefined,
  );
});
