// Providers, models and prices that operators save in the database: they apply without a restart, lie
// beneath the file, are checked before they are saved, and never give a credential away.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { loadConfig, openConfig } from '../../src/config/load.ts';
import { adminOf } from '../support/admin.ts';
import { wholeAnswer } from '../support/answers.ts';
import { metricsToken, startGateway } from '../support/gateway.ts';
import { ok } from '../support/http.ts';
import { imagePaths, playImageProviders } from '../support/image-upstreams.ts';
import { wav } from '../support/task-samples.ts';
import { answerBytes, answerJson, answerStatus, holdBack } from '../support/upstream.ts';

const credential = 'sk-saved-credential-0123456789';
const content = { text: 'one two', tokens: { input: 5, output: 200 } };
const path = '/saved/v1/chat/completions';
const free = { input: 0, output: 0 };
const gateway = await startGateway({
  metrics: { token: metricsToken },
  models: { filed: { routes: [{ provider: 'openai', model: 'f' }], prices: free } },
});
const admin = await adminOf(gateway);
after(() => gateway.stop());

type Change = { path: readonly string[]; value?: unknown };
type Saved = {
  version: number;
  in_force: number;
  problem: string | null;
  settings: { providers?: Record<string, object> };
  credentials: { path: string[]; hint: string }[];
  locked: { path: string[]; by: string }[];
};

async function version(): Promise<number> {
  return (await admin.ok<Saved>('GET', '/settings/saved')).version;
}

async function save(...changes: Change[]): Promise<Saved> {
  const body = { version: await version(), changes };
  return admin.ok<Saved>('PATCH', '/settings/saved', { body });
}

async function refuse(...changes: Change[]): Promise<string> {
  const body = { version: await version(), changes };
  const reply = await admin.send('PATCH', '/settings/saved', { body });
  assert.equal(reply.status, 400, reply.text);
  return reply.error.message;
}

const provider = (name = 'saved') => ({
  path: ['providers', name],
  value: {
    kind: 'openai-compatible',
    base_url: `${gateway.upstream.url}/saved/v1`,
    api_key: credential,
  },
});
const model = (output: number, id = 'sold') => ({
  path: ['models', id],
  value: { routes: [{ provider: 'saved', model: 'up' }], prices: { input: 0, output } },
});

async function ask(key: string, name = 'sold') {
  gateway.upstream.on(path, answerJson(wholeAnswer('chat', content)));
  const body = { model: name, messages: [{ role: 'user', content: 'Hello!' }], max_tokens: 200 };
  const { reply, asked } = await gateway.recordUpstream(() =>
    gateway.post('/v1/chat/completions', { key, body }),
  );
  return { reply, asked };
}

test('a saved provider and model are sold at once, and charged at their price', async () => {
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  assert.equal((await ask(key)).reply.status, 404);
  const saved = await save(provider(), model(10));
  assert.deepEqual([saved.version, saved.in_force, saved.problem], [1, 1, null]);
  const { reply, asked } = await ask(key);
  assert.equal(reply.status, 200, reply.text);
  assert.equal(asked[0]!.headers.authorization, `Bearer ${credential}`);
  assert.equal(reply.costMicros, 2_000);
});

test('a running request keeps the price and the provider that it began with', async () => {
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  await save(provider(), model(10));
  const held = holdBack(answerJson(wholeAnswer('chat', content)));
  gateway.upstream.on(path, held.script);
  const count = gateway.upstream.requests.length;
  const body = { model: 'sold', messages: [{ role: 'user', content: 'Hello!' }], max_tokens: 200 };
  const running = gateway.post('/v1/chat/completions', { key, body });
  await gateway.upstream.request(count);
  await save(model(20));
  await save({ path: ['providers', 'saved', 'enabled'], value: false });
  assert.equal((await ask(key)).reply.status, 404);
  held.release();
  assert.equal((await running).costMicros, 2_000);
  await save({ path: ['providers', 'saved', 'enabled'] });
  assert.equal((await ask(key)).reply.costMicros, 4_000);
});

test('a running request draws at the provider that it began with', async () => {
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  await save(provider(), model(10));
  const call = { name: 'generate_image', arguments: '{"prompt":"A fox"}' };
  const message = {
    role: 'assistant',
    tool_calls: [{ id: 'c', type: 'function', function: call }],
  };
  const few = { ...content, tokens: { input: 5, output: 5 } };
  const held = holdBack(
    answerJson({
      ...wholeAnswer('chat', few),
      choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
    }),
  );
  const turns = [held.script, answerJson(wholeAnswer('chat', few))];
  gateway.upstream.on(path, (response, request) => turns.shift()!(response, request));
  playImageProviders(gateway.upstream);
  const count = gateway.upstream.requests.length;
  const running = gateway.post('/v1/responses', {
    key,
    body: { model: 'sold', input: 'Hello!', tools: [{ type: 'image_generation' }] },
  });
  await gateway.upstream.request(count);
  await save({ path: ['providers', 'openai', 'enabled'], value: false });
  held.release();
  const reply = await running;
  assert.equal(reply.status, 200, reply.text);
  const asked = gateway.upstream.requests.slice(count).map((one) => one.path);
  assert.deepEqual(asked, [path, imagePaths.generations, path]);
  await save({ path: ['providers', 'openai', 'enabled'] });
});

test('a running search keeps its price too', async () => {
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const engine = {
    path: ['providers', 'searxng'],
    value: { base_url: `${gateway.upstream.url}/searxng` },
  };
  const price = (value: number) => ({ path: ['search', 'price_usd'], value });
  await save(engine, price(0.01));
  const held = holdBack(answerJson({ results: [{ url: 'https://a.example', title: 'A' }] }));
  gateway.upstream.on('/searxng/search', held.script);
  const count = gateway.upstream.requests.length;
  const running = gateway.post('/v1/web-search', { key, body: { query: 'a' } });
  await gateway.upstream.request(count);
  await save(price(0.05));
  held.release();
  const reply = await running;
  assert.equal(reply.costMicros, 10_000, reply.text);
  await save({ path: ['search', 'price_usd'] }, { path: ['providers', 'searxng'] });
});

test('a field that the file sets stays as it is there, and its line is named', async () => {
  const message = await refuse({
    path: ['providers', 'openai', 'base_url'],
    value: 'https://elsewhere.example.com',
  });
  assert.match(message, /`providers\.openai\.base_url` is set by tollgate\.yaml:1/);
  await save({ path: ['models', 'filed', 'display_name'], value: 'Filed' });
  const { locked } = await admin.ok<Saved>('GET', '/settings/saved');
  assert.ok(locked.some(({ path: field }) => field.join('.') === 'models.filed.prices'));
  const models = await admin.ok<{ data: { id: string; name: string }[] }>('GET', '/models', {
    query: { limit: '100' },
  });
  assert.equal(models.data.find(({ id }) => id === 'filed')?.name, 'Filed');
});

test('wrong settings are refused with field and remedy, and nothing is saved', async () => {
  await save(provider(), model(10));
  const unchanged = await version();
  const wrong: [Change, RegExp][] = [
    [
      { path: ['models', 'sold', 'prices'], value: { input: -1, output: 1 } },
      /models\.sold\.prices/,
    ],
    [{ path: ['models', 'sold', 'pricse'], value: 1 }, /pricse/],
    [{ path: ['models', 'x', 'routes'], value: [{ provider: 'nobody', model: 'm' }] }, /nobody/],
    [{ path: ['providers', 'saved', 'kind'], value: 'telepathy' }, /kind/],
    [{ path: ['providers', 'saved'] }, /provider/],
    [{ path: ['providers', 'saved', 'api_key'], value: '${HOME}' }, /no environment variables/],
    [
      { path: ['providers', 'second'], value: { credential_of: 'savde', api_key: credential } },
      /providers\.second\.credential_of.*"savde"/,
    ],
    [{ path: ['aliases', 'a'], value: 'nothing' }, /aliases\.a/],
    [{ path: ['pricing', 'markup'], value: 1.23456789 }, /six decimals/],
    [{ path: ['server', 'port'], value: 1 }, /`path` must begin with one of/],
    [{ path: ['models'], value: {} }, /`path` must begin with one of/],
  ];
  for (const [change, expected] of wrong) assert.match(await refuse(change), expected);
  assert.equal(await version(), unchanged);
});

test('of two changes on top of one version, the second is refused', async () => {
  const body = {
    version: await version(),
    changes: [{ path: ['aliases', 'first'], value: 'filed' }],
  };
  const both = await Promise.all(
    [1, 2].map(() => admin.send('PATCH', '/settings/saved', { body })),
  );
  // The same change twice: one of them finds a newer version.
  assert.deepEqual(new Set(both.map(({ status }) => status)), new Set([200, 409]));
});

test('a stored credential is sent only where it was sent before, and shown to nobody', async () => {
  await save(provider(), model(10));
  const moved = { path: ['providers', 'saved', 'base_url'], value: 'https://thief.example.com/v1' };
  assert.match(await refuse(moved), /needs the key anew/);
  const tested = await admin.send('POST', '/settings/test-provider', {
    body: { provider: 'saved', changes: [moved] },
  });
  assert.equal(tested.status, 400, tested.text);
  const shown = await admin.ok<Saved>('GET', '/settings/saved');
  assert.deepEqual(shown.credentials.find(({ path: [, name] }) => name === 'saved')?.hint, '…6789');
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  await ask(key);
  const audit = await admin.send('GET', '/audit-log', { query: { limit: '100' } });
  const rows = await gateway.database.read.selectFrom('settings_versions').selectAll().execute();
  const texts = [JSON.stringify(shown), audit.text, JSON.stringify(rows), gateway.program.output];
  for (const text of texts) assert.ok(!text.includes(credential), text.slice(0, 300));
  assert.match(audit.text, /…6789/);
});

test('a further credential goes along to no other address', async () => {
  const further = {
    path: ['providers', 'second'],
    value: { credential_of: 'saved', api_key: credential },
  };
  await save(provider(), model(10), further);
  const address = 'https://thief.example.com/v1';
  const moved = {
    path: ['providers', 'saved'],
    value: { ...provider().value, base_url: address, api_key: 'sk-another-key' },
  };
  assert.match(await refuse(moved), /providers\.second\.api_key/);
  const other = {
    path: ['providers', 'thief'],
    value: { kind: 'openai-compatible', base_url: address, api_key: 'sk-another-key' },
  };
  const changed = { path: ['providers', 'second', 'credential_of'], value: 'thief' };
  assert.match(await refuse(other, changed), /needs the key anew/);
  await save({ path: ['providers', 'second'] });
});

test('a key of the environment or the file goes to no saved address', async () => {
  const stolen = [
    { path: ['providers', 'xai', 'base_url'], value: 'https://thief.example.com/v1' },
  ];
  const resolved = () =>
    loadConfigWith({ providers: { xai: { base_url: 'https://thief.example.com/v1' } } });
  assert.throws(resolved, /providers\.xai\.base_url.*only together with the provider's key/s);
  // Without any key there, the provider is just off.
  await save(...stolen);
  await save({ path: ['providers', 'xai'] });
});

test('no key of the environment, the file or the machine goes along to the saved address of another', () => {
  const thief = {
    kind: 'azure',
    base_url: 'https://thief.example.com',
    api_key: 'sk-another-key',
  };
  const refused =
    /providers\.thief\.base_url.*only together with the provider's key.*`(?:xai|own)`/s;
  for (const further of [
    { xai: { credential_of: 'thief' } },
    { xai: { credential_of: 'thief', api_key: 'saved-too' } },
    { own: { credential_of: 'thief', api_key: 'ambient' } },
  ])
    assert.throws(() => loadConfigWith({ providers: { thief, ...further } }), refused);
  const both = { thief, second: { credential_of: 'thief', api_key: 'saved-too' } };
  assert.equal(loadConfigWith({ providers: both }).providers['second']!.base_url, thief.base_url);
});

function loadConfigWith(saved: object) {
  const env = { XAI_API_KEY: 'xai-key', TOLLGATE_CONFIG: '/dev/null' };
  return openConfig({ env, cwd: '/' }).withSaved(saved);
}

test('saved text is no reference to a variable', async () => {
  const text = { path: ['models', 'sold', 'display_name'], value: 'the ${HOME} model' };
  await save(provider(), model(10), text);
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const shown = await gateway.get('/v1/models/sold', { key });
  assert.ok(shown.text.includes('the ${HOME} model'), shown.text);
  const masked = { ...text, value: '\u{E000}\u{E001}HOME\u{E002}' };
  assert.match(await refuse(masked), /models\.sold\.display_name` must not hold the characters/);
});

test('an earlier version comes back as a new one', async () => {
  await save(provider(), model(10));
  const restored = await version();
  await save(model(99));
  const body = { version: await version(), restored };
  const saved = await admin.ok<Saved>('POST', '/settings/restore', { body });
  assert.equal(saved.in_force, restored + 2);
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  assert.equal((await ask(key)).reply.costMicros, 2_000);
  const list = await admin.ok<{ data: { version: number; note: string }[] }>(
    'GET',
    '/settings/versions',
  );
  assert.equal(list.data[0]!.note, `as in version ${restored}`);
  assert.equal(
    await admin.refused('POST', '/settings/restore', { body: { version: 0, restored } }),
    '409 conflict -',
  );
});

test('the file is read again when asked to; a bad one is refused, and the old one goes on', async () => {
  const file = join(gateway.program.dataDir, 'tollgate.yaml');
  const written = readFileSync(file, 'utf8');
  const fields = JSON.parse(written) as { models: Record<string, object> };
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const rewrite = (change: object) => writeFileSync(file, JSON.stringify({ ...fields, ...change }));
  try {
    rewrite({ models: { ...fields.models, fresh: fields.models['filed'] } });
    const saved = await admin.ok<Saved>('POST', '/settings/reload');
    assert.equal(saved.problem, null);
    const scrape = async () => (await gateway.get('/metrics', { key: metricsToken })).text;
    assert.match(await scrape(), /^tollgate_settings_refused 0$/m);
    assert.equal((await gateway.get('/v1/models/fresh', { key })).status, 200);
    rewrite({ models: { broken: { prices: { input: 'much' } } } });
    const refused = await admin.ok<Saved>('POST', '/settings/reload');
    assert.match(refused.problem!, /tollgate\.yaml:1:\d+: models\.broken/);
    assert.match(await scrape(), /^tollgate_settings_refused 1$/m);
    assert.equal((await gateway.get('/v1/models/fresh', { key })).status, 200);
    assert.equal(refused.in_force, refused.version - 1);
    rewrite({ aliases: { broken: 'nothing' } });
    const unfit = await admin.ok<Saved>('POST', '/settings/reload');
    assert.match(unfit.problem!, /aliases\.broken/);
    // A change in the browser goes on with the last good file.
    assert.equal((await save({ path: ['aliases', 'later'], value: 'fresh' })).problem, null);
    assert.equal((await gateway.get('/v1/models/later', { key })).status, 200);
    await save({ path: ['aliases', 'later'] });
  } finally {
    writeFileSync(file, written);
    await admin.ok('POST', '/settings/reload');
  }
});

type PreviewOf = {
  left_out: number;
  data: (Readonly<
    Record<
      'requests' | 'charged_micros' | 'would_charge_micros' | 'cost_micros' | 'would_cost_micros',
      number
    >
  > & { readonly model: string })[];
};

test('the preview prices the last week again, request by request', async () => {
  await save(provider(), model(10, 'previewed'));
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  for (let count = 0; count < 3; count++) await ask(key, 'previewed');
  const body = {
    changes: [{ path: ['models', 'previewed', 'prices'], value: { input: 0, output: 15 } }],
  };
  const { data } = await admin.ok<PreviewOf>('POST', '/settings/preview', { body });
  const [row] = data.filter(({ model: id }) => id === 'previewed');
  assert.deepEqual(
    [row!.requests, row!.charged_micros, row!.would_charge_micros],
    [3, 6_000, 9_000],
  );
  // As an operator enters it: today's price again, and one for later.
  const schedule = [
    { input: 0, output: 10 },
    { effective_from: '2099-01-01', input: 0, output: 20 },
  ];
  const planned = { changes: [{ path: ['models', 'previewed', 'prices'], value: schedule }] };
  const later = await admin.ok<PreviewOf>('POST', '/settings/preview', { body: planned });
  assert.equal(later.data.find(({ model: id }) => id === 'previewed')?.would_charge_micros, 12_000);
});

test('the preview leaves out requests with sound of a price of its own, which the books do not count', async () => {
  const { value, ...at } = model(10, 'hearing');
  const hearing = { ...value, prices: { ...value.prices, audio: 100 }, supports: { audio: true } };
  await save(provider(), { ...at, value: hearing });
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const tokens = { input: 12, audio: 10, output: 200 };
  gateway.upstream.on(path, answerJson(wholeAnswer('chat', { ...content, tokens })));
  const sound = { data: wav(0.9).toString('base64'), format: 'wav' };
  const messages = [{ role: 'user', content: [{ type: 'input_audio', input_audio: sound }] }];
  const markup = { path: ['models', 'hearing', 'prices', 'output'], value: 20 };
  const preview = () =>
    admin.ok<PreviewOf>('POST', '/settings/preview', { body: { changes: [markup] } });
  const before = await preview();
  const body = { model: 'hearing', messages, max_tokens: 200 };
  const reply = await ok(gateway.post('/v1/chat/completions', { key, body }));
  assert.equal(reply.costMicros, 10 * 100 + 200 * 10);
  const { data, left_out: leftOut } = await preview();
  assert.equal(leftOut, before.left_out + 1);
  assert.ok(data.every(({ model: id }) => id !== 'hearing'));
});

test('the preview of what is not changed shows no difference: a dearer route, its credentials, and sound', async () => {
  const prices = { input: 1, output: 10, audio: 30 };
  const dear = { provider: 'saved', model: 'up', cost_factor: 1.5 };
  const value = { routes: [dear], prices, supports: { audio: true } };
  await save(
    provider(),
    { path: ['models', 'regional'], value },
    {
      path: ['models', 'heard'],
      value: { ...value, routes: [{ provider: 'saved', model: 'up' }] },
    },
  );
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  assert.equal((await ask(key, 'regional')).reply.costMicros, 2_005);
  const usage = {
    prompt_tokens: 50,
    completion_tokens: 200,
    prompt_tokens_details: { audio_tokens: 40 },
  };
  gateway.upstream.on(path, answerJson({ ...wholeAnswer('chat', content), usage }));
  const sound = {
    type: 'input_audio',
    input_audio: { data: wav(1).toString('base64'), format: 'wav' },
  };
  const heard = await gateway.post('/v1/chat/completions', {
    key,
    body: { model: 'heard', messages: [{ role: 'user', content: [sound] }], max_tokens: 300 },
  });
  assert.equal(heard.costMicros, 10 + 40 * 30 + 2_000, heard.text);
  const preview = async (cost_factor: number) => {
    const routes = [{ ...dear, cost_factor }];
    const body = { changes: [{ path: ['models', 'regional', 'routes'], value: routes }] };
    const { data } = await admin.ok<PreviewOf>('POST', '/settings/preview', { body });
    return data
      .filter(({ model: id }) => id === 'regional' || id === 'heard')
      .map(({ cost_micros: cost, would_cost_micros: would }) => [cost, would]);
  };
  assert.deepEqual(await preview(1.5), []);
  assert.deepEqual(await preview(2), [[3_008, 4_010]]);
});

test('the preview of a markup is what images, searches, speech and searches in an answer cost with it', async () => {
  const { upstream } = gateway;
  playImageProviders(upstream);
  upstream.on(
    '/v1/audio/speech',
    answerBytes(Buffer.from('sound'), { headers: { 'content-type': 'audio/mpeg' } }),
  );
  upstream.on('/brave/web/search', answerJson({ web: { results: [] } }));
  const whole = wholeAnswer('messages', content);
  const usage = {
    input_tokens: 5,
    output_tokens: 200,
    server_tool_use: { web_search_requests: 2 },
  };
  upstream.on('/v1/messages', answerJson({ ...whole, usage }));
  await save(
    {
      path: ['providers', 'brave'],
      value: { base_url: `${upstream.url}/brave`, api_key: credential },
    },
    { path: ['search', 'providers'], value: ['brave'] },
  );
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const messages = [{ role: 'user', content: 'Hello!' }];
  const tools = [{ type: 'web_search_20250305', name: 'web_search' }];
  const sold = {
    'gpt-image-flare': ['/v1/images/generations', { prompt: 'A cat', n: 2 }],
    'tts-1': ['/v1/audio/speech', { input: 'Hello!', voice: 'alloy' }],
    'web-search': ['/v1/web-search', { query: 'cats' }],
    'claude-haiku-4-5': ['/v1/messages', { max_tokens: 500, messages, tools }],
  } as const;
  const askAll = async () => {
    const costs: Record<string, number> = {};
    for (const [id, [endpoint, body]] of Object.entries(sold)) {
      const asked = id === 'web-search' ? body : { model: id, ...body };
      costs[id] = (await ok(gateway.post(endpoint, { key, body: asked }))).costMicros!;
    }
    return costs;
  };
  const charged = await askAll();
  const markup = { path: ['pricing', 'markup'], value: 1.5 };
  const preview = async (...changes: Change[]) => {
    const { data, left_out: leftOut } = await admin.ok<PreviewOf>('POST', '/settings/preview', {
      body: { changes },
    });
    const rows = data.filter((row) => Object.hasOwn(sold, row.model));
    return { rows: new Map(rows.map((row) => [row.model, row])), leftOut };
  };
  const { rows, leftOut } = await preview(markup);
  assert.deepEqual(
    Object.keys(sold).map((id) => [id, rows.get(id)?.charged_micros]),
    Object.entries(charged),
  );
  const ownPrice = {
    path: ['image_models', 'gpt-image-flare', 'prices'],
    value: { output: { low: 0.5, medium: 0.5, high: 0.5 } },
  };
  const other = await preview(ownPrice);
  // Its size and quality are not in the books.
  assert.deepEqual([other.leftOut, other.rows.size], [leftOut + 1, 0]);
  await save(markup);
  const dearer = await askAll();
  assert.deepEqual(
    Object.keys(sold).map((id) => [id, rows.get(id)?.would_charge_micros]),
    Object.entries(dearer),
  );
  await save(
    { path: ['pricing', 'markup'] },
    { path: ['search', 'providers'] },
    { path: ['providers', 'brave'] },
  );
});

test('trying a provider says what works, in its own words, and what it cost', async () => {
  await save(provider(), model(10));
  const list = { data: [{ id: 'up', max_model_len: 8_192 }, { id: 'gpt-6-luna' }] };
  gateway.upstream.on('/saved/v1/models', answerJson(list));
  gateway.upstream.on(path, answerJson(wholeAnswer('chat', content)));
  type Tested = {
    steps: { step: string; works: boolean | null; what: string }[];
    models: object[];
    cost_micros: number | null;
  };
  const attempt = () =>
    admin.ok<Tested>('POST', '/settings/test-provider', { body: { provider: 'saved' } });
  const tested = await attempt();
  assert.deepEqual(
    tested.steps.map(({ step, works }) => [step, works]),
    // The stream got a whole answer.
    [
      ['models', true],
      ['answer', true],
      ['stream', false],
    ],
  );
  assert.deepEqual(tested.models, [
    {
      id: 'gpt-6-luna',
      model: 'gpt-6-luna',
      is_sold: false,
      context_tokens: null,
      prices: null,
    },
    { id: 'up', model: 'sold', is_sold: true, context_tokens: 8_192, prices: null },
  ]);
  assert.equal(tested.cost_micros, 2_000);
  const unsold = { provider: 'unsold', changes: [provider('unsold')] };
  const listed = await admin.ok<Tested>('POST', '/settings/test-provider', { body: unsold });
  assert.equal(listed.cost_micros, 0, 'no answer was asked for');
  gateway.upstream.on('/saved/v1/models', answerStatus(401));
  const refused = await attempt();
  assert.equal(refused.steps[0]!.works, false);
  assert.match(refused.steps[0]!.what, /^401/);
  const denied = { error: { message: 'Quota exceeded for requests a minute' } };
  gateway.upstream.on('/saved/v1/models', answerStatus(429, { body: denied }));
  const [first] = (await attempt()).steps;
  assert.equal(first!.what, `429: ${denied.error.message} (Ask the vendor for more quota.)`);
  const echoed = { error: { message: `Incorrect API key provided: ${credential}` } };
  gateway.upstream.on('/saved/v1/models', answerStatus(401, { body: echoed }));
  gateway.upstream.on(path, answerStatus(401, { body: echoed }));
  for (const { what } of (await attempt()).steps)
    assert.equal(what, '401: Incorrect API key provided: [key removed]');
});

test('the exported file sets the same, with variables for credentials', async () => {
  await save(provider(), model(10), { path: ['models', 'sold', 'display_name'], value: 'a ${b}' });
  const { yaml } = await admin.ok<{ yaml: string }>('POST', '/settings/export');
  assert.ok(!yaml.includes(credential));
  const file = join(gateway.program.dataDir, 'exported.yaml');
  writeFileSync(file, yaml);
  const env = { TOLLGATE_CONFIG: file, SAVED_API_KEY: credential };
  const config = loadConfig({ env, cwd: gateway.program.dataDir });
  assert.equal(config.providers['saved']!.api_key, credential);
  assert.equal(config.models['sold']!.display_name, 'a ${b}');
});

test('commands save settings too', async () => {
  const run = <Result>(...args: string[]) => gateway.program.cli<Result>(...args);
  await run('settings', 'set', 'models.filed.display_name', 'By command');
  await run('settings', 'set', 'pricing.markup', '1.5');
  const { fields } = await run<{ fields: Record<string, unknown> }>('settings', 'show');
  assert.deepEqual(
    [fields['models.filed.display_name'], fields['pricing.markup']],
    ['By command', 1.5],
  );
  const [newest] = await run<{ author: string; note: string }[]>('settings', 'versions');
  assert.deepEqual([newest!.author, newest!.note], ['tollgate settings set', 'pricing.markup']);
  await run('settings', 'unset', 'pricing.markup');
  await run('settings', 'unset', 'models.filed.display_name');
  await run('reload');
  const { yaml } = await run<{ yaml: string }>('config', 'export');
  assert.match(yaml, /openai:\n\s+kind: openai\n/);
  const [listed] = (await run<{ id: string; live: boolean }[]>('models', 'list')).filter(
    ({ id }) => id === 'sold',
  );
  assert.equal(listed?.live, true);
});

test('a command mends settings that no longer fit the file', async () => {
  const file = join(gateway.program.dataDir, 'tollgate.yaml');
  const written = readFileSync(file, 'utf8');
  await save({ path: ['aliases', 'first'] }, { path: ['aliases', 'astray'], value: 'filed' });
  try {
    const { models, ...others } = JSON.parse(written) as { models: object };
    assert.ok(models);
    writeFileSync(file, JSON.stringify(others));
    await gateway.program.terminate();
    await assert.rejects(gateway.program.start(), (error: Error) => {
      assert.match(
        error.message,
        /aliases\.astray .*saved in the database .*settings unset FIELD/s,
      );
      return true;
    });
    await gateway.program.cli('settings', 'unset', 'aliases.astray');
    const { fields } = await gateway.program.cli<{ fields: object }>('settings', 'show');
    assert.ok(!('aliases.astray' in fields));
  } finally {
    writeFileSync(file, written);
    await gateway.program.start();
  }
});
