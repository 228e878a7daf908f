// Batches that are passed to a provider's own batch API: their price, their settlement, and what changes
// while they are there.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toFile } from 'openai';
import { adminOf } from '../support/admin.ts';
import { answerContent, wholeAnswer } from '../support/answers.ts';
import { BatchProvider, stepOf } from '../support/batch-provider.ts';
import {
  answerByPrompt,
  type Asked,
  costMicros,
  creditUsd,
  type Form,
  full,
  good,
  isCreate,
  isRead,
  type Made,
  once,
  prompts,
  startPassing,
  tokens,
} from '../support/passed-batches.ts';
import { rowsOf } from '../support/rows.ts';
import { answerJson, answerStatus, behind } from '../support/upstream.ts';
import { until } from '../support/until.ts';

const others = { openai: 'other-openai', anthropic: 'other-anthropic' };
const passing = await startPassing(
  {
    [others.openai]: 'openai',
    [others.anthropic]: 'anthropic',
    azure: 'openai',
    gemini: 'gemini',
    mistral: 'mistral',
    bedrock: 'bedrock',
  },
  {
    azure: {
      prices: { ...full, batch: 0.5 },
      routes: [{ provider: 'azure', model: 'live', batch_model: 'night' }],
    },
    'plain-azure': {
      prices: { ...full, batch: 0.5 },
      routes: [{ provider: 'azure', model: 'live' }],
    },
    'plain-anthropic': {
      prices: full,
      routes: [{ provider: others.anthropic, model: 'plain-anthropic' }],
    },
    vectors: {
      type: 'embedding',
      prices: { input: 2, output: 0, batch: 0.5 },
      routes: [{ provider: others.openai, model: 'vectors' }],
    },
    'gemini-vectors': {
      type: 'embedding',
      prices: { input: 2, output: 0, batch: 0.5 },
      routes: [{ provider: 'gemini', model: 'gemini-embedding-001' }],
    },
    dear: {
      prices: { input: 20, output: 40, batch: 0.5 },
      routes: [{ provider: others.anthropic, model: 'dear' }],
    },
  },
  {
    'second-bedrock': {
      credential_of: 'bedrock',
      api_key: `AKIA${'B'.repeat(16)}:${'t'.repeat(40)}`,
    },
  },
);
const { gateway, upstream, database, providers } = passing;
const { newKey, openAi, anthropic, hurry, clients, resultsOf, lossesOf, assertSpent } = passing;

/** Waits until the batch's lines are at the provider, and returns its batch there. */
const sentTo = (provider: BatchProvider, count = 1) =>
  until(async () => {
    const rows = await database.read.selectFrom('sent_batches').selectAll().execute();
    return (
      provider.batches.length === count &&
      rows.some(({ state, owner }) => state === 'sent' && owner === null) &&
      provider.batches[0]!
    );
  });
const hurried = async (made: Made, id: string) => {
  const timer = setInterval(() => void hurry().catch(() => {}), 200);
  try {
    return await resultsOf(made, id);
  } finally {
    clearInterval(timer);
  }
};
const sentOf = (id: string) =>
  database.read
    .selectFrom('sent_batches')
    .selectAll()
    .where('batch_id', '=', id)
    .executeTakeFirst();
const lineOf = (id: string, line: number) =>
  database.read
    .selectFrom('batch_lines')
    .select('body')
    .where('batch_id', '=', id)
    .where('line', '=', line)
    .executeTakeFirstOrThrow();
const writeLine = (id: string, line: number, body: Uint8Array | null) =>
  database.write
    .updateTable('batch_lines')
    .set({ body })
    .where('batch_id', '=', id)
    .where('line', '=', line)
    .execute();
/** Makes a line unreadable, and returns what it was. */
async function spoilLine(id: string, line: number) {
  const { body } = await lineOf(id, line);
  await writeLine(id, line, Buffer.from('spoiled'));
  return body;
}
async function saveSettings(changes: readonly object[]): Promise<void> {
  const admin = await adminOf(gateway);
  const { version } = await admin.ok<{ version: number }>('GET', '/settings/saved');
  await admin.ok('PATCH', '/settings/saved', { body: { version, changes } });
}
/** Both forms are the same to these; one of them is enough. */
function fresh(form: Form = 'anthropic') {
  const provider = new BatchProvider(answerByPrompt);
  providers.set(others[form], provider);
  return { provider, model: others[form] };
}

test('lines are held and charged at half the price only when they are passed on', async () => {
  const { provider, model } = fresh();
  const live = answerContent('messages', { text: 'Yes.', tokens });
  const run = async (asked: string, fields: object = {}) => {
    const open = Promise.withResolvers<void>();
    upstream.on(`/${model}/v1/messages`, behind(open.promise, live));
    const made = await newKey();
    const id = await clients.anthropic(made, asked, fields);
    const { heldMicros } = await gateway.balance(made.account);
    open.resolve();
    await hurried(made, id);
    const { postedMicros } = await gateway.balance(made.account);
    return { heldMicros, paidMicros: creditUsd * 1_000_000 - postedMicros };
  };
  const passed = await run(model);
  assert.equal(passed.paidMicros, 3 * costMicros);
  assert.equal(provider.billMicros, 3 * costMicros);
  // No batch price is known; hosted tools; a service tier.
  const tools = [{ type: 'web_search_20250305', name: 'web_search' }];
  const fast = { speed: 'fast' };
  for (const [asked, fields] of [
    ['plain-anthropic', {}],
    [model, { tools }],
    [model, fast],
  ] as const) {
    const ran = await run(asked, fields);
    assert.equal(ran.paidMicros, 4 * 2 * costMicros, JSON.stringify(fields));
    assert.ok(ran.heldMicros >= 2 * passed.heldMicros);
    if (asked === 'plain-anthropic') assert.equal(ran.heldMicros, 2 * passed.heldMicros);
  }
  assert.equal(provider.billed.length, 4);

  const { data } = (await gateway.get('/v1/models/info', {})).json<{ data: Info[] }>();
  const { price_variants: variants } = data.find(({ id }) => id === model)!;
  const batch = variants.find((one) => one.service_tier === 'batch');
  assert.deepEqual(
    [batch!.service_tier, batch!.input_price_per_1m, batch!.output_price_per_1m],
    ['batch', 1, 2],
  );
  const admin = await adminOf(gateway);
  const unchanged = { body: { changes: [] } };
  const preview = await admin.ok<{ data: object[] }>('POST', '/settings/preview', unchanged);
  assert.deepEqual(preview.data, []);
});
type Info = {
  readonly id: string;
  readonly price_variants: readonly {
    readonly service_tier: string;
    readonly input_price_per_1m: number;
    readonly output_price_per_1m: number;
  }[];
};

test('a result that is too long fails its line at once, as a loss that counts against the budget', async () => {
  const { provider, model } = fresh('openai');
  const long = ' '.repeat(17 * 1024 * 1024);
  // Not the file of errors, which has one line.
  provider.spoil = ([first, ...rest]) => [rest.length > 0 ? `${first}${long}` : first!, ...rest];
  const made = await newKey();
  const results = await hurried(made, await clients.openai(made, model));
  assert.deepEqual(results.toSorted(), ['400', '502', 'succeeded', 'succeeded']);
  await assertSpent(made, 2 * costMicros);
  const losses = await rowsOf(database, 'entries', { key_id: made.id });
  assert.deepEqual(
    losses.flatMap(({ provoked, loss_micros: loss }) => (Number(loss) > 0 ? [provoked] : [])),
    [1],
  );
});

test('a line whose log probabilities may be too long to be read runs in the own queue', async () => {
  const { provider, model } = fresh('openai');
  const live = answerContent('chat', { text: 'Yes.', tokens });
  upstream.on(`/${model}/v1/chat/completions`, live);
  const made = await newKey();
  const wide = { logprobs: true, top_logprobs: 20, max_completion_tokens: 10_000 };
  const passed = await clients.openai(made, model, { ...wide, max_completion_tokens: 50 });
  const own = await clients.openai(made, model, wide);
  await Promise.all([hurried(made, passed), hurried(made, own)]);
  assert.equal(provider.billed.length, prompts.length);
});

test('embeddings are passed at half the price, but for a line that takes several calls or has too many vectors', async () => {
  const { provider, model } = fresh('openai');
  const url = '/v1/embeddings';
  const vectorsOf = (input: string | readonly string[]) => ({
    object: 'list',
    data: [input].flat().map((_, index) => ({ index, embedding: [0.5, 0.25] })),
    usage: { prompt_tokens: tokens.input, total_tokens: tokens.input },
  });
  type ToEmbed = { readonly input: string | readonly string[] };
  const embedding = new BatchProvider((body) => {
    const { input } = body as ToEmbed;
    const isGood = input[0] !== 'fail';
    const answer = isGood ? vectorsOf(input) : { error: { message: 'too odd' } };
    const billedMicros = isGood ? tokens.input : 0;
    return { status: isGood ? 200 : 400, body: answer, billedMicros };
  });
  providers.set(model, embedding);
  embedding.before = ({ path }) =>
    path.endsWith('/embeddings')
      ? (response, { body }) =>
          answerJson(vectorsOf((body as ToEmbed).input))(response, {} as never)
      : null;
  const inputs = [
    'one',
    ['two', 'too'],
    'fail',
    Array.from({ length: 300 }, () => 'one '.repeat(1_000)),
    Array.from({ length: 200 }, () => 'one'),
  ];
  const lines = inputs.map((input, index) =>
    JSON.stringify({
      custom_id: prompts[index] ?? 'five',
      method: 'POST',
      url,
      body: { model: 'vectors', input },
    }),
  );
  for (const mode of ['live', 'test'] as const) {
    const made = await newKey({ mode });
    const client = openAi(made);
    const file = await toFile(Buffer.from(lines.join('\n')), 'lines.jsonl');
    const { id: fileId } = await client.files.create({ purpose: 'batch', file });
    const { id } = await client.batches.create({
      input_file_id: fileId,
      endpoint: url,
      completion_window: '24h',
    });
    const results = await hurried(made, id);
    if (mode === 'test') {
      const records = await gateway.usage<{ cost_cents: number } & Tokens>(made.key);
      for (const { cost_cents: cents, input_tokens: count } of records)
        assert.equal(cents * 10_000, count > 100 ? 2 * count : count);
      assert.equal(records.length, 5);
      continue;
    }
    assert.deepEqual(results, good);
    // Three calls, at the full price.
    await assertSpent(made, 2 * tokens.input + 3 * 2 * tokens.input);
    assert.equal(embedding.billMicros, 2 * tokens.input);
    assert.equal(embedding.batches[0]!.endpoint, url);
  }
  assert.equal(provider.billed.length, 0);
});

test("Gemini's batches embed lines of one text; lines of several are live calls", async () => {
  const embedding = { values: [0.5, 0.25] };
  const provider = new BatchProvider(() => {
    const body = { embedding, tokenCount: String(tokens.input) };
    return { status: 200, body, billedMicros: tokens.input };
  });
  providers.set('gemini', provider);
  provider.before = ({ path }) =>
    path.endsWith(':batchEmbedContents')
      ? answerJson({
          embeddings: [embedding, embedding],
          usageMetadata: { promptTokenCount: tokens.input },
        })
      : null;
  const made = await newKey();
  const client = openAi(made);
  const lines = ['one', ['two', 'too']].map((input, index) =>
    JSON.stringify({
      custom_id: prompts[index],
      method: 'POST',
      url: '/v1/embeddings',
      body: { model: 'gemini-vectors', input },
    }),
  );
  const file = await toFile(Buffer.from(lines.join('\n')), 'lines.jsonl');
  const { id } = await client.batches.create({
    input_file_id: (await client.files.create({ purpose: 'batch', file })).id,
    endpoint: '/v1/embeddings',
    completion_window: '24h',
  });
  assert.deepEqual((await hurried(made, id)).slice(0, 2), good.slice(0, 2));
  await assertSpent(made, tokens.input + 2 * tokens.input);
  assert.equal(provider.billMicros, tokens.input);
});

test('Azure runs the deployment that its batches have, and no lines of a model without one', async () => {
  const provider = new BatchProvider(answerByPrompt);
  provider.isAzure = true;
  providers.set('azure', provider);
  provider.add('openai', 0, Date.now() - 86_400_000);
  // This answer is lost, so the batch is looked for.
  provider.after = once(isCreate, (response) => void response.destroy());
  const made = await newKey();
  assert.deepEqual(await hurried(made, await clients.openai(made, 'azure')), good);
  await assertSpent(made, 3 * costMicros);
  const [{ endpoint, lines }] = provider.batches as [(typeof provider.batches)[0]];
  assert.equal(endpoint, '/chat/completions');
  for (const { body, url } of lines)
    assert.deepEqual([body['model'], url], ['night', '/v1/chat/completions']);
  await until(() => provider.files.size === 0);

  provider.before = ({ path, body }) => {
    if (!path.endsWith('/chat/completions')) return null;
    const { status, body: answer } = answerByPrompt(body as Record<string, unknown>, 'openai');
    return answerJson(answer, { status });
  };
  const plain = await newKey();
  assert.deepEqual(await hurried(plain, await clients.openai(plain, 'plain-azure')), good);
  await assertSpent(plain, 3 * 2 * costMicros);
  assert.equal(provider.batches.length, 2);

  // A batch that waits to be sent when its route loses the deployment.
  const save = (route: object) => {
    const value = {
      prices: { ...full, batch: 0.5 },
      routes: [{ provider: 'azure', model: 'live', ...route }],
    };
    return saveSettings([{ path: ['models', 'saved-azure'], value }]);
  };
  await save({ batch_model: 'night' });
  const live = provider.before;
  provider.before = (request) =>
    stepOf(request)?.step === 'upload' ? answerStatus(503) : live(request);
  const late = await newKey();
  const id = await clients.openai(late, 'saved-azure');
  await until(async () => (await sentOf(id))?.tries === 1);
  provider.before = live;
  await save({});
  assert.deepEqual(await hurried(late, id), good);
  await assertSpent(late, 3 * 2 * costMicros);
  assert.equal(provider.batches.length, 2);
});

test('Bedrock runs neither few lines nor tools of Converse in a batch, but at the live price', async () => {
  const provider = new BatchProvider(answerByPrompt);
  providers.set('bedrock', provider);
  const live = answerJson(wholeAnswer('converse', { text: 'Yes.', tokens }));
  upstream.on('/bedrock/model/bedrock/converse', live);
  const tools = [{ name: 'look', input_schema: { type: 'object' as const } }];
  const withTools = await newKey();
  const asked = await clients.anthropic(withTools, 'bedrock', { tools });
  assert.deepEqual(await hurried(withTools, asked), Array(4).fill('succeeded'));
  await assertSpent(withTools, 4 * 2 * costMicros);
  const few = await newKey();
  const messages = [{ role: 'user' as const, content: 'one' }];
  const { id } = await anthropic(few).messages.batches.create({
    requests: [{ custom_id: 'one', params: { model: 'bedrock', max_tokens: 100, messages } }],
  });
  assert.deepEqual(await hurried(few, id), ['succeeded', undefined, undefined, undefined]);
  await assertSpent(few, 2 * costMicros);
  assert.equal(provider.batches.length, 0);
  // Two credentials do not share its lines, or each would have too few.
  const enough = await newKey();
  assert.deepEqual(await hurried(enough, await clients.anthropic(enough, 'bedrock')), good);
  await assertSpent(enough, 3 * costMicros);
  assert.equal(provider.billMicros, 3 * costMicros);
});

test("a test key's lines cost what they would cost in a batch at the provider", async () => {
  const { provider, model } = fresh();
  const made = await gateway.makeKey({ mode: 'test' });
  await resultsOf(made, await clients.anthropic(made, model));
  const records = await gateway.usage<{ cost_cents: number } & Tokens>(made.key);
  for (const record of records)
    assert.equal(record.cost_cents * 10_000, record.input_tokens + 2 * record.output_tokens);
  assert.equal(records.length, 4);
  assert.equal(provider.billed.length, 0);
});
type Tokens = { readonly input_tokens: number; readonly output_tokens: number };

test('a cancelled batch is cancelled at the provider, and what had run is paid', async () => {
  for (const form of ['openai', 'anthropic'] as const) {
    const { provider, model } = fresh(form);
    provider.isQuick = false;
    const made = await newKey();
    const id = await clients[form](made, model);
    const remote = await sentTo(provider);
    if (form === 'openai') await openAi(made).batches.cancel(id);
    else await anthropic(made).messages.batches.cancel(id);
    await until(() => remote.isCancelling);
    provider.finish(remote, 'cancelled', 2);
    assert.deepEqual(await hurried(made, id), ['succeeded', 'succeeded', 'canceled', 'canceled']);
    await assertSpent(made, 2 * costMicros);
  }
});

test('lines of a batch that is cancelled while it is uploaded are not begun', async () => {
  const { provider, model } = fresh('openai');
  const open = Promise.withResolvers<void>();
  const [isUpload, asked] = [({ path }: Asked) => path.endsWith('/files'), Promise.withResolvers()];
  provider.before = once(isUpload, (response, request) => {
    asked.resolve(null);
    return behind(open.promise, provider.script)(response, request);
  });
  const made = await newKey();
  const id = await clients.openai(made, model);
  await asked.promise;
  await openAi(made).batches.cancel(id);
  open.resolve();
  assert.deepEqual(
    await resultsOf(made, id),
    prompts.map(() => 'canceled'),
  );
  await assertSpent(made, 0);
  assert.deepEqual([provider.batches.length, provider.files.size], [0, 0]);
});

test("a provider that does not answer does not keep others' batches", async () => {
  const [silent, other] = [fresh('openai'), fresh('anthropic')];
  const open = Promise.withResolvers<void>();
  silent.provider.before = (asked) =>
    asked.path.endsWith('/files')
      ? behind(open.promise, (response) => void response.destroy())
      : null;
  const made = await newKey();
  const delayed = await Promise.all([1, 2, 3].map(() => clients.openai(made, silent.model)));
  await until(async () => {
    const rows = await database.read.selectFrom('sent_batches').select('owner').execute();
    return rows.filter(({ owner }) => owner !== null).length >= 2;
  });
  const id = await clients.anthropic(made, other.model);
  assert.deepEqual(await hurried(made, id), good);
  silent.provider.before = () => null;
  open.resolve();
  for (const late of delayed) assert.deepEqual(await hurried(made, late), good);
});

/** What the account has changed since does not make what was run for it free. */
const changes: Readonly<Record<string, (made: Made) => Promise<unknown>>> = {
  'its key is revoked': ({ id }) =>
    database.write.updateTable('api_keys').set({ revoked_at_ms: 1 }).where('id', '=', id).execute(),
  'the account is frozen': ({ account }) =>
    database.write.updateTable('accounts').set({ frozen: 1 }).where('id', '=', account).execute(),
  'its loss budget is used up': (made) => gateway.provokeLoss(made, 100),
};
for (const [name, change] of Object.entries(changes))
  test(`a line that a provider ran is paid, also when ${name}`, async () => {
    const { provider, model } = fresh();
    provider.isQuick = false;
    const made = await newKey();
    const other = { ...(await newKey({ account: made.account, creditUsd: 0 })) };
    const id = await clients.anthropic(made, model);
    const remote = await sentTo(provider);
    await change(made);
    provider.finish(remote);
    assert.deepEqual(await hurried(other, id), good);
    await assertSpent(made, 3 * costMicros);
  });

test('a line that fails by our own fault is settled later, also in a batch that has expired, of a frozen account', async () => {
  const { provider, model } = fresh('openai');
  provider.isQuick = false;
  const made = await newKey();
  const other = { ...(await newKey({ account: made.account, creditUsd: 0 })) };
  const id = await clients.openai(made, model);
  const remote = await sentTo(provider);
  const body = await spoilLine(id, 0);
  await changes['the account is frozen']!(made);
  let reads = 0;
  provider.before = (asked) => {
    if (isRead(asked)) reads += 1;
    return null;
  };
  provider.finish(remote, 'expired', 2);
  const results = hurried(other, id);
  // The second reading of both files has begun, so the first one has ended.
  await until(() => reads > 2);
  await writeLine(id, 0, body);
  assert.deepEqual(await results, ['succeeded', 'succeeded', 'expired', 'expired']);
  await assertSpent(made, 2 * costMicros);
  assert.equal(await lossesOf(made), 0);
});

test('numbers in the arguments of a history reach the provider with all their digits', async () => {
  const { provider, model } = fresh();
  let sent = '';
  provider.before = (asked) => {
    if (isCreate(asked)) sent = asked.text;
    return null;
  };
  const made = await newKey();
  const id = '1234567890123456789';
  const call = { type: 'tool_use', id: 'toolu_1', name: 'f', input: { id: JSON.rawJSON(id) } };
  const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'x' };
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: [call] },
    { role: 'user', content: [result] },
  ];
  const tools = [{ name: 'f', input_schema: { type: 'object' } }];
  const batch = await clients.anthropic(made, model, { messages, tools });
  assert.deepEqual(new Set(await hurried(made, batch)), new Set(['succeeded']));
  assert.ok(sent.includes(`{"id":${id}}`), sent);
});

test('a line that cannot be read fails, and the others are sent', async () => {
  const { provider, model } = fresh();
  provider.before = (asked) => (isCreate(asked) ? answerStatus(429) : null);
  const made = await newKey();
  const id = await clients.anthropic(made, model);
  await until(async () => (await sentOf(id))?.tries === 1);
  await spoilLine(id, 0);
  provider.before = () => null;
  assert.deepEqual(await hurried(made, id), ['502', 'succeeded', '400', 'succeeded']);
  await assertSpent(made, 2 * costMicros);
});

test('after a failure of our own, and when the provider asks for a day, a batch waits, but not beyond its end', async () => {
  const { provider, model } = fresh();
  provider.before = (asked) =>
    isCreate(asked) ? answerStatus(429, { retryAfter: '86400' }) : null;
  const made = await newKey();
  const id = await clients.anthropic(made, model);
  const batch = () =>
    database.read.selectFrom('batches').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const { due_at_ms: dueMs } = await until(async () => {
    const sent = await sentOf(id);
    return sent?.tries === 1 && sent;
  });
  const { request, expires_at_ms: endMs } = await batch();
  assert.ok(dueMs > Date.now() + 3_600_000 && dueMs <= endMs);
  const change = (text: string) =>
    database.write.updateTable('batches').set({ request: text }).where('id', '=', id).execute();
  await change('{');
  await hurry();
  await until(async () => {
    const sent = await sentOf(id);
    return sent!.due_at_ms !== 1 && sent!.owner === null && sent!.due_at_ms > Date.now();
  });
  await change(request);
  provider.before = () => null;
  assert.deepEqual(await hurried(made, id), good);
});

test("a line does not get the answer of its account's own request, nor is it free for it", async () => {
  const { provider, model } = fresh();
  provider.isQuick = false;
  upstream.on(
    `/${model}/v1/messages`,
    answerContent('messages', { text: 'Yes.', tokens: { input: 1, output: 1 } }),
  );
  const made = await newKey();
  const id = await clients.anthropic(made, model);
  const remote = await sentTo(provider);
  const reply = await gateway.post('/v1/messages', {
    key: made.key,
    headers: { 'idempotency-key': `${id}/0` },
    body: { model, max_tokens: 1, messages: [{ role: 'user', content: 'another' }] },
  });
  assert.equal(reply.status, 200, reply.text);
  provider.finish(remote);
  assert.deepEqual(await hurried(made, id), good);
  await assertSpent(made, 3 * costMicros + full.input + full.output);
});

test("passed lines are paid at half the price, though the model's price, route and alias have changed since", async () => {
  const { provider } = fresh();
  provider.isQuick = false;
  const save = (fields: object, upstreamModel: string, newest: string) => {
    const routes = [{ provider: others.anthropic, model: upstreamModel }];
    const value = { prices: { ...full, ...fields }, routes };
    return saveSettings([
      { path: ['models', 'saved'], value },
      { path: ['aliases', 'newest'], value: newest },
    ]);
  };
  await save({ batch: 0.5 }, 'first', 'saved');
  const made = await newKey();
  const id = await clients.anthropic(made, 'newest');
  const remote = await sentTo(provider);
  await save({}, 'second', 'dear');
  provider.finish(remote);
  assert.deepEqual(await hurried(made, id), good);
  await assertSpent(made, 3 * costMicros);
});

test('a line that was charged when its process died is not charged again', async () => {
  const { provider, model } = fresh();
  provider.isQuick = false;
  const made = await newKey();
  const id = await clients.anthropic(made, model);
  const remote = await sentTo(provider);
  const rows = () => database.read.selectFrom('sent_batches').selectAll().execute();
  const lines = () =>
    database.read.selectFrom('batch_lines').selectAll().where('batch_id', '=', id);
  const [sent, waiting] = [(await rows())[0]!, await lines().execute()];
  provider.finish(remote);
  await hurried(made, id);
  provider.batches.push(remote);
  // As if the process had died between the charges and these.
  for (const line of waiting.slice(1))
    await database.write
      .updateTable('batch_lines')
      .set({ outcome: null, owner: line.owner, body: line.body, bytes: null })
      .where('batch_id', '=', id)
      .where('line', '=', line.line)
      .execute();
  await database.write
    .insertInto('sent_batches')
    .values({ ...sent, owner: 'gone' })
    .execute();
  await database.write
    .updateTable('batches')
    .set({ state: 'running', counts: null, ended_at_ms: null })
    .where('id', '=', id)
    .execute();
  assert.deepEqual(await hurried(made, id), good);
  await assertSpent(made, 3 * costMicros);
  // As if it had died when it had deleted the batch there.
  const gone = { ...sent, owner: 'gone', due_at_ms: 1 };
  await database.write.insertInto('sent_batches').values(gone).execute();
  await until(async () => (await sentOf(id)) === undefined);
});

test('when the provider cannot be reached, or runs on, for a day and an hour, the lines expire as a loss', async () => {
  for (const form of ['anthropic', 'openai'] as const) {
    const { provider, model } = fresh(form);
    provider.isQuick = false;
    const made = await newKey();
    if (form === 'anthropic')
      provider.after = (asked) => (isCreate(asked) ? null : answerStatus(500));
    const id = await clients[form](made, model);
    await sentTo(provider);
    const lateMs = Date.now() - 2 * 3_600_000;
    const late = { expires_at_ms: lateMs, due_at_ms: 1 };
    await database.write.updateTable('batches').set(late).where('id', '=', id).execute();
    assert.deepEqual(
      await hurried(made, id),
      prompts.map(() => 'expired'),
    );
    await assertSpent(made, 0);
    assert.ok((await lossesOf(made)) > 0);
    await until(() => provider.files.size === 0);
  }
});

test('a line with an address that a host inside the network would fetch is a live call', async () => {
  const made = await newKey();
  const url = 'http://169.254.169.254/latest.png';
  const content = [{ type: 'image_url', image_url: { url } }];
  const id = await clients.openai(made, 'mistral', { messages: [{ role: 'user', content }] });
  assert.deepEqual(await resultsOf(made, id), ['400', '400', '400', '400']);
  const asked = upstream.requests.filter(({ path }) => path.startsWith('/mistral'));
  assert.deepEqual(asked, []);
  await assertSpent(made, 0);
});

test('a number in a call that a double cannot hold reaches the provider as it is', async () => {
  const { provider, model } = fresh();
  const { key } = await newKey();
  let sent = '';
  provider.before = (asked) => {
    if (isCreate(asked)) sent = asked.text;
    return null;
  };
  const turns = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: { id: '#' } }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'x' }] },
  ];
  const params = { model, max_tokens: 9, messages: turns };
  const body = JSON.stringify({ requests: [{ custom_id: 'a', params }] });
  const { status } = await gateway.post('/v1/messages/batches', {
    key,
    body: body.replace('"#"', '12345678901234567891'),
  });
  assert.equal(status, 200);
  await sentTo(provider);
  assert.match(sent, /"input":\{"id":12345678901234567891\}/);
});
