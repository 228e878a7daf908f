// Batches in OpenAI's and Anthropic's forms, by their official SDKs and over plain HTTP, with a local
// provider.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI, { toFile } from 'openai';
import { BatchFiles } from '../../src/domain/batches/batch-files.ts';
import { answerContent } from '../support/answers.ts';
import { signIn } from '../support/dashboard.ts';
import { endpoint } from '../support/endpoints.ts';
import { startGateway, type KeyOptions } from '../support/gateway.ts';
import { jsonOf } from '../support/http.ts';
import { answerStatus, behind, holdBack, type Script } from '../support/upstream.ts';
import { until } from '../support/until.ts';
import { rowsOf, setRows } from '../support/rows.ts';
import { columnOf } from '../support/column-of.ts';

/** A microdollar for each token of the input, and two for each of the output. */
const prices = { input: 1, output: 2 };
const linesPerDay = 60;
const gateway = await startGateway(
  {
    // Slow lines may still run.
    server: { shutdown_timeout_ms: 1_000 },
    limits: { batch_lines_per_day: linesPerDay, batch_bytes_per_day: 6_000_000 },
    models: {
      cheap: { prices, routes: [{ provider: 'local', model: 'cheap' }] },
      'in-messages': { prices, routes: [{ provider: 'anthropic', model: 'in-messages' }] },
    },
  },
  { tuning: { failuresMax: 1_000, ejectionMsMax: 1 } },
);
after(() => gateway.stop());
const { upstream, database } = gateway;
const chatPath = '/local/v1/chat/completions';
const messagesPath = '/v1/messages';
const creditUsd = 1;

type Made = Awaited<ReturnType<typeof newKey>>;
const newKey = (options: KeyOptions = {}) => gateway.makeKey({ creditUsd, ...options });
const openAi = ({ key }: Pick<Made, 'key'>) =>
  new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
const anthropic = ({ key }: Pick<Made, 'key'>) =>
  new Anthropic({ apiKey: key, baseURL: gateway.url, maxRetries: 0 });

const answers = answerContent('chat', { text: 'Yes.', tokens: { input: 10, output: 5 } });
const costMicros = 10 + 2 * 5;
/** Answers by the prompt: `fail` with an error, others as usual. */
const answersByPrompt =
  (wire: 'chat' | 'messages'): Script =>
  (response, request) =>
    /fail/.test(request.text)
      ? answerStatus(400)(response, request)
      : answerContent(wire, { text: 'Yes.', tokens: { input: 10, output: 5 } })(response, request);

const lineOf = (customId: string, fields: object = {}, url = '/v1/chat/completions') =>
  JSON.stringify({
    custom_id: customId,
    method: 'POST',
    url,
    body: {
      model: 'cheap',
      max_completion_tokens: 100,
      messages: [{ role: 'user', content: customId }],
      ...fields,
    },
  });
const names = (count: number, prefix = 'line') =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

async function upload(made: Pick<Made, 'key'>, lines: readonly string[]): Promise<string> {
  const file = await toFile(Buffer.from(`${lines.join('\n')}\n`), 'lines.jsonl');
  return (await openAi(made).files.create({ purpose: 'batch', file })).id;
}

const batchOf = (fileId: string) =>
  ({
    input_file_id: fileId,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
  }) as const;

async function begin(made: Pick<Made, 'key'>, lines: readonly string[]) {
  return openAi(made).batches.create(batchOf(await upload(made, lines)));
}
/** One with so many usual lines. */
const beginOf = (made: Pick<Made, 'key'>, count: number) => begin(made, few(count));
const few = (count: number) => names(count).map((name) => lineOf(name));

const ended = ['completed', 'cancelled', 'expired'];
const end = (made: Pick<Made, 'key'>, id: string) =>
  until(async () => {
    const batch = await openAi(made).batches.retrieve(id);
    return ended.includes(batch.status) && batch;
  });

type Line = {
  readonly custom_id: string;
  readonly response: {
    readonly status_code: number;
    readonly request_id: string;
    readonly body: {
      readonly usage: { readonly cost: number };
      readonly error: { readonly code: string; readonly message: string };
    };
  } | null;
  readonly error: { readonly code: string } | null;
};
async function linesOf(made: Pick<Made, 'key'>, fileId: string | null | undefined) {
  if (!fileId) return [];
  const text = await (await openAi(made).files.content(fileId)).text();
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

const balanceOf = async ({ account }: Pick<Made, 'account'>) => {
  const { availableMicros, heldMicros, postedMicros } = await gateway.balance(account);
  return { availableMicros, heldMicros, postedMicros };
};

/** Nothing is held, and that is what was spent. */
async function assertSpent(made: Pick<Made, 'account'>, micros: number): Promise<void> {
  const postedMicros = creditUsd * 1_000_000 - micros;
  assert.deepEqual(await balanceOf(made), {
    availableMicros: postedMicros,
    heldMicros: 0,
    postedMicros,
  });
}

test("OpenAI's SDK runs a batch, whose failed lines are free", async () => {
  upstream.on(chatPath, answersByPrompt('chat'));
  const made = await newKey();
  const client = openAi(made);
  const lines = [
    // Editors on Windows begin a file so.
    `\uFEFF${lineOf('one')}`,
    lineOf('fail'),
    lineOf('unknown', { model: 'no-such-model' }),
    lineOf('streams', { stream: true }),
    lineOf('five'),
  ];
  const batch = await client.batches.create({
    ...batchOf(await upload(made, lines)),
    metadata: { run: 'nightly' },
  });
  assert.match(batch.id, /^batch_\w{26}$/);
  assert.equal(batch.status, 'in_progress');
  const done = await end(made, batch.id);
  assert.equal(done.status, 'completed');
  assert.deepEqual(done.request_counts, { total: 5, completed: 2, failed: 3 });
  assert.deepEqual(done.metadata, { run: 'nightly' });

  const output = await linesOf(made, done.output_file_id);
  assert.deepEqual(columnOf(output, 'custom_id'), ['one', 'five']);
  for (const { response, error } of output) {
    assert.equal(error, null);
    assert.equal(response!.status_code, 200);
    assert.equal(response!.body.usage.cost, costMicros / 1_000_000);
    const [record] = await gateway.usage(made.key, response!.request_id);
    assert.deepEqual([record!['model'], record!['cost_cents']], ['cheap', costMicros / 10_000]);
  }
  const errors = await linesOf(made, done.error_file_id);
  assert.deepEqual(
    errors.map((line) => [
      line.custom_id,
      line.response!.status_code,
      line.response!.body.error.code,
    ]),
    [
      ['fail', 400, 'invalid_request'],
      ['unknown', 404, 'model_not_found'],
      ['streams', 400, 'invalid_request'],
    ],
  );
  await assertSpent(made, 2 * costMicros);
  // The dashboard's requests have those that failed, too.
  const failed = errors[0]!.response!.request_id;
  const row = await until(() =>
    database.read
      .selectFrom('request_log')
      .selectAll()
      .where('request_id', '=', failed)
      .executeTakeFirst(),
  );
  assert.equal(row.code, 'invalid_request');

  const file = await client.files.retrieve(done.output_file_id!);
  const text = await (await client.files.content(file.id)).text();
  assert.equal(file.bytes, Buffer.byteLength(text));
  assert.deepEqual(columnOf((await client.batches.list()).data, 'id'), [batch.id]);
  assert.equal((await client.files.delete(file.id)).deleted, true);
  await assert.rejects(client.files.content(file.id), { status: 404 });
  assert.equal((await client.batches.retrieve(batch.id)).output_file_id, null);
});

test("Anthropic's SDK runs a batch, reads its results, pages and deletes", async () => {
  upstream.on(messagesPath, answersByPrompt('messages'));
  const made = await newKey();
  const { batches } = anthropic(made).messages;
  const message = { role: 'user', content: 'x' };
  const request = (customId: string, fields: object = {}) => ({
    custom_id: customId,
    params: {
      model: 'in-messages',
      max_tokens: 100,
      messages: [{ role: 'user' as const, content: customId }],
      ...fields,
    },
  });
  const { id } = await batches.create({
    requests: [
      request('one'),
      request('fail'),
      request('odd', { max_tokens: 'many' }),
      request('many', { messages: Array.from({ length: 20_000 }, () => message) }),
    ],
  });
  assert.match(id, /^msgbatch_/);
  const done = await until(async () => {
    const batch = await batches.retrieve(id);
    return batch.processing_status === 'ended' && batch;
  });
  assert.deepEqual(done.request_counts, {
    processing: 0,
    succeeded: 1,
    errored: 3,
    canceled: 0,
    expired: 0,
  });
  const results = [];
  for await (const result of await batches.results(id)) results.push(result);
  assert.deepEqual(
    results.map(({ custom_id, result }) => [custom_id, result.type]),
    [
      ['one', 'succeeded'],
      ['fail', 'errored'],
      ['odd', 'errored'],
      ['many', 'errored'],
    ],
  );
  const [first, , odd, many] = results.map(({ result }) => result);
  assert.ok(first?.type === 'succeeded' && odd?.type === 'errored');
  assert.deepEqual(
    first.message.content.map((block) => block.type === 'text' && block.text),
    ['Yes.'],
  );
  assert.equal(odd.error.error.type, 'invalid_request_error');
  assert.match(JSON.stringify(many), /more than 50000 values/);
  await assertSpent(made, costMicros);

  const second = await batches.create({ requests: [request('one')] });
  const page = await batches.list({ limit: 1 });
  assert.deepEqual([page.data[0]!.id, page.has_more], [second.id, true]);
  const all = [];
  for await (const batch of batches.list({ limit: 1 })) all.push(batch.id);
  assert.deepEqual(all, [second.id, id]);
  const before = await batches.list({ before_id: id });
  assert.deepEqual(columnOf(before.data, 'id'), [second.id]);
  assert.equal((await batches.delete(id)).type, 'message_batch_deleted');
  await assert.rejects(batches.retrieve(id), { status: 404 });
});

test('a test key runs a batch in the sandbox', async () => {
  const key = gateway.program.firstTestKey;
  const batch = await begin({ key }, [
    lineOf('one'),
    lineOf('two', { messages: [{ role: 'user', content: 'Hi\nsandbox: status=529' }] }),
  ]);
  const done = await end({ key }, batch.id);
  assert.deepEqual(done.request_counts, { total: 2, completed: 1, failed: 1 });
  const [line] = await linesOf({ key }, done.output_file_id);
  assert.match(JSON.stringify(line), /This is the sandbox/);
});

test('slow lines hold up neither live batches nor those of other accounts', async () => {
  const slow = [{ role: 'user', content: 'Hi\nsandbox: delay_ms=600000' }];
  const testKey = await gateway.makeKey({ mode: 'test' });
  const forFree = await begin(
    testKey,
    names(30).map((name) => lineOf(name, { messages: slow })),
  );
  const gate = Promise.withResolvers<void>();
  upstream.on(chatPath, (response, request) =>
    (/slow/.test(request.text) ? behind(gate.promise, answers) : answers)(response, request),
  );
  const first = await newKey();
  const paid = [];
  for (let number = 0; number < 4; number += 1)
    paid.push(
      await begin(
        first,
        names(8, 'slow').map((name) => lineOf(name)),
      ),
    );
  const second = await newKey();
  const other = await beginOf(second, 20);
  assert.equal((await end(second, other.id)).request_counts?.completed, 20);
  await openAi(testKey).batches.cancel(forFree.id);
  gate.resolve();
  for (const { id } of paid) await end(first, id);
});

test('slow requests with test keys do not make the lines of a batch run one by one', async () => {
  const { key: testKey } = await gateway.makeKey();
  const messages = [{ role: 'user', content: 'Hi\nsandbox: delay_ms=600000' }];
  const body = { model: 'cheap', messages };
  // Half of them run, and the others wait for one of them.
  const slow = Array.from({ length: 60 }, (_, index) => {
    const headers = { 'idempotency-key': String(Math.min(index, 30)) };
    return gateway.open('/v1/chat/completions', { key: testKey, headers, body });
  });
  for (const { response } of slow) response.catch(() => {});
  await until(() => gateway.program.app.gateway.runs.count >= slow.length);
  const both = Promise.withResolvers<void>();
  let arrived = 0;
  upstream.on(chatPath, (response, request) => {
    arrived += 1;
    if (arrived === 2) both.resolve();
    return behind(both.promise, answers)(response, request);
  });
  const made = await newKey();
  const batch = await beginOf(made, 2);
  assert.equal((await end(made, batch.id)).request_counts?.completed, 2);
  for (const { request } of slow) request.destroy();
});

/** Lines wait for the provider until the gate opens. */
function holdUpstream(): () => void {
  const gate = Promise.withResolvers<void>();
  upstream.on(chatPath, behind(gate.promise, answers));
  return gate.resolve;
}

/** The most that a line can cost, from the hold of a batch of one. */
async function heldForOne(): Promise<number> {
  const open = holdUpstream();
  const made = await newKey();
  const batch = await begin(made, [lineOf('line-0')]);
  const { heldMicros } = await balanceOf(made);
  open();
  await end(made, batch.id);
  return heldMicros;
}

test('a batch is held for as a whole, and each line is settled by itself', async () => {
  const one = await heldForOne();
  assert.ok(one >= 200);
  const made = await newKey();
  const open = holdUpstream();
  const batch = await beginOf(made, 4);
  assert.equal((await balanceOf(made)).heldMicros, 4 * one);
  const shown = await jsonOf<{ balance_cents: number }>(gateway.get('/v1/balance', made));
  assert.equal(shown.balance_cents, Math.floor((creditUsd * 1_000_000 - 4 * one) / 10_000));
  open();
  await end(made, batch.id);
  await assertSpent(made, 4 * costMicros);
});

test('a batch that does not fit is refused as a whole, and nothing of it stays', async () => {
  const one = await heldForOne();
  const lines = few(3);
  const refusals = [
    { options: { creditUsd: (3 * one - 1) / 1_000_000 }, status: 402 },
    { options: { dailyCapMicros: 3 * one - 1 }, status: 429 },
  ];
  for (const { options, status } of refusals) {
    const made = await newKey(options as KeyOptions);
    await assert.rejects(begin(made, lines), { status });
    assert.equal((await balanceOf(made)).heldMicros, 0);
    assert.deepEqual((await openAi(made).batches.list()).data, []);
    const rows = await rowsOf(database, 'batches', { account_id: made.account });
    assert.deepEqual(rows, []);
  }
  upstream.on(chatPath, answers);
  const fits = await newKey({ dailyCapMicros: (3 * one) as never });
  const batch = await begin(fits, lines);
  await end(fits, batch.id);
  await assertSpent(fits, 3 * costMicros);
});

test('a cancelled or expired batch keeps what runs, and the rest is free', async () => {
  const cases = [
    { status: 'cancelled', code: 'batch_cancelled' },
    { status: 'expired', code: 'batch_expired' },
  ];
  for (const { status, code } of cases) {
    const made = await newKey();
    const open = holdUpstream();
    const before = upstream.requests.length;
    const batch = await beginOf(made, 40);
    await until(() => upstream.requests.length === before + 16);
    const held = () => balanceOf(made).then(({ heldMicros }) => heldMicros);
    const whole = await held();
    if (status === 'cancelled')
      assert.equal((await openAi(made).batches.cancel(batch.id)).status, 'cancelling');
    else
      await setRows(
        database,
        'batches',
        { id: batch.id },
        { expires_at_ms: Date.now() - 1, due_at_ms: 1 },
      );
    // The waiting lines end at once.
    await until(async () => (await held()) < whole / 2);
    open();
    const done = await end(made, batch.id);
    assert.equal(done.status, status);
    assert.deepEqual(done.request_counts, { total: 40, completed: 16, failed: 0 });
    assert.equal((await linesOf(made, done.output_file_id)).length, 16);
    const rest = await linesOf(made, done.error_file_id);
    assert.deepEqual(
      rest.map(({ response, error }) => [response, error!.code]),
      names(24).map(() => [null, code]),
    );
    await assertSpent(made, 16 * costMicros);
  }
});

test('the dashboard shows what a batch costs and holds, and an admin cancels it', async () => {
  const made = await newKey();
  const { account } = made;
  const [admin, viewer, stranger, operator] = await Promise.all([
    signIn(gateway, { account, role: 'admin' }),
    signIn(gateway, { account, role: 'viewer' }),
    signIn(gateway),
    signIn(gateway, { operator: true }),
  ]);
  const path = `/accounts/${account}/batches`;
  type Shown = { data: [Record<string, object | string | number>]; next_cursor: string | null };
  const shown = async (by = viewer, query = '') => {
    const { data, next_cursor: next } = await jsonOf<Shown>(by.get(`${path}${query}`));
    return { data, next };
  };
  upstream.on(chatPath, answersByPrompt('chat'));
  const first = await begin(made, [lineOf('one'), lineOf('fail'), lineOf('three')]);
  await end(made, first.id);
  const open = holdUpstream();
  const before = upstream.requests.length;
  const second = await beginOf(made, 20);
  await until(() => upstream.requests.length === before + 16);
  const { heldMicros } = await balanceOf(made);
  const page = await shown(viewer, '?limit=1');
  assert.deepEqual(
    page.data.map(({ id, status, held_micros: held }) => [id, status, held]),
    [[second.id, 'in_progress', heldMicros]],
  );
  const rest = await shown(viewer, `?limit=1&cursor=${encodeURIComponent(page.next!)}`);
  const counted = { waiting: 0, cancelled: 0, expired: 0 };
  const [{ id, status, lines, cost_micros: cost, held_micros: held }] = rest.data;
  assert.deepEqual(
    { id, status, lines, cost, held },
    {
      id: first.id,
      status: 'completed',
      lines: { total: 3, succeeded: 2, failed: 1, ...counted },
      cost: 2 * costMicros,
      held: 0,
    },
  );
  assert.deepEqual((await shown(viewer, '?mode=test')).data.length, 0);
  const seen = await jsonOf<Shown>(operator.get(`/operator${path}`));
  assert.equal(seen.data.length, 2);

  const cancel = `${path}/${second.id}/cancel`;
  assert.equal((await viewer.post(cancel)).status, 403);
  assert.equal((await stranger.post(cancel)).status, 404);
  const elsewhere = `/accounts/${stranger.account}/batches/${second.id}/cancel`;
  assert.equal((await stranger.post(elsewhere)).status, 404);
  const stopped = await jsonOf<{ status: string }>(admin.post(cancel));
  assert.equal(stopped.status, 'cancelling');
  open();
  await end(made, second.id);
  const again = await jsonOf<{ status: string; cost_micros: number }>(admin.post(cancel));
  assert.deepEqual([again.status, again.cost_micros], ['cancelled', 16 * costMicros]);
  await assertSpent(made, 18 * costMicros);
  await setRows(database, 'batches', { id: second.id }, { kept_until_ms: 0 });
  assert.equal((await admin.post(cancel)).status, 404, 'its owner has removed it');
});

test('a provider that is down is tried again, and its hold is kept', async () => {
  const made = await newKey();
  upstream.on(chatPath, answerStatus(503), answers);
  const batch = await begin(made, [lineOf('one')]);
  const waiting = () =>
    database.read
      .selectFrom('batch_lines')
      .selectAll()
      .where('batch_id', '=', batch.id)
      .where('owner', 'is', null)
      .where('tries', '=', 1)
      .executeTakeFirst();
  const first = await until(waiting);
  assert.equal((await balanceOf(made)).heldMicros, first.held_micros);
  await setRows(database, 'batch_lines', { batch_id: batch.id }, { due_at_ms: 1 });
  await setRows(database, 'batches', { id: batch.id }, { due_at_ms: 1 });
  const done = await end(made, batch.id);
  assert.deepEqual(done.request_counts, { total: 1, completed: 1, failed: 0 });
  await assertSpent(made, costMicros);
});

test('a line that was charged when its process died has its answer, also in a cancelled batch', async () => {
  for (const state of ['running', 'cancelling'] as const) {
    const made = await newKey();
    const open = holdUpstream();
    const before = upstream.requests.length;
    const batch = await begin(made, [lineOf('one')]);
    await until(() => upstream.requests.length === before + 1);
    const lines = () =>
      database.read.selectFrom('batch_lines').selectAll().where('batch_id', '=', batch.id);
    const running = await lines().executeTakeFirstOrThrow();
    open();
    const { output_file_id: output } = await end(made, batch.id);
    const [first] = await linesOf(made, output);
    // As if the process had died between the charge and this.
    await setRows(database, 'batch_lines', { batch_id: batch.id }, { ...running, owner: 'gone' });
    await setRows(
      database,
      'batches',
      { id: batch.id },
      { state, counts: null, ended_at_ms: null, due_at_ms: 1 },
    );
    const done = await end(made, batch.id);
    assert.deepEqual(done.request_counts, { total: 1, completed: 1, failed: 0 });
    const [again] = await linesOf(made, done.output_file_id);
    assert.equal(again!.response!.request_id, first!.response!.request_id);
    assert.equal(upstream.requests.length, before + 1);
    await assertSpent(made, costMicros);
  }
});

test('a revoked key ends its batches', async () => {
  const made = await newKey();
  const other = await newKey({ account: made.account, creditUsd: 0 });
  const open = holdUpstream();
  const batch = await beginOf(made, 20);
  await setRows(database, 'api_keys', { id: made.id }, { revoked_at_ms: 1 });
  open();
  const done = await end(other, batch.id);
  assert.equal(done.status, 'cancelled');
  assert.equal((await balanceOf(made)).heldMicros, 0);
});

test('a repeat under the same Idempotency-Key gets the same batch', async () => {
  upstream.on(chatPath, answers);
  const made = await newKey();
  const fileId = await upload(made, [lineOf('one')]);
  const create = (metadata: object, idempotencyKey: string) =>
    gateway.post('/v1/batches', {
      key: made.key,
      headers: { 'idempotency-key': idempotencyKey },
      body: { ...batchOf(fileId), metadata },
    });
  const both = await Promise.all([create({}, 'a'), create({}, 'a')]);
  const ids = new Set(both.map((reply) => reply.json<{ id: string }>().id));
  assert.equal(ids.size, 1);
  const replayed = both.filter((reply) => reply.headers['x-service-cache'] === 'idempotent-replay');
  assert.equal(replayed.length, 1);
  assert.equal((await create({ other: 'body' }, 'a')).error.code, 'idempotency_conflict');
  await end(made, [...ids][0]!);
  await assertSpent(made, costMicros);
});

test('other accounts and the other mode see none of it', async () => {
  upstream.on(chatPath, answers);
  const made = await newKey();
  const batch = await begin(made, [lineOf('one')]);
  const { output_file_id: output, input_file_id: input } = await end(made, batch.id);
  const others = [await newKey(), await gateway.makeKey({ account: made.account })];
  for (const { key } of others) {
    for (const path of [
      `batches/${batch.id}`,
      `files/${input}`,
      `files/${input}/content`,
      `files/${output}`,
      `files/${output}/content`,
      `batches?after=${batch.id}`,
      `messages/batches/${batch.id}`,
      `messages/batches/${batch.id}/results`,
    ])
      assert.equal((await gateway.get(`/v1/${path}`, { key })).status, 404, path);
    for (const path of [`batches/${batch.id}/cancel`, `messages/batches/${batch.id}/cancel`])
      assert.equal((await gateway.post(`/v1/${path}`, { key })).status, 404, path);
    const body = batchOf(input);
    assert.equal((await gateway.post('/v1/batches', { key, body })).status, 404);
    assert.deepEqual((await openAi({ key }).files.list()).data, []);
  }
});

test('purging an account erases the results of its batches', async () => {
  upstream.on(chatPath, answers);
  const made = await newKey();
  const batch = await begin(made, [lineOf('one')]);
  const { output_file_id: output } = await end(made, batch.id);
  await gateway.program.cli('accounts', 'purge', made.account);
  await assert.rejects(openAi(made).files.content(output!), { status: 404 });
  assert.equal((await openAi(made).batches.retrieve(batch.id)).output_file_id, null);
  const lines = database.read.selectFrom('batch_lines').where('batch_id', '=', batch.id);
  assert.equal((await lines.select('body').executeTakeFirstOrThrow()).body, null);
});

test("a key's scopes and list of models apply to every line", async () => {
  const listed = await newKey({ models: ['in-messages'] });
  const batch = await begin(listed, [lineOf('one')]);
  const done = await end(listed, batch.id);
  const [line] = await linesOf(listed, done.error_file_id);
  assert.equal(line!.response!.body.error.code, 'model_not_allowed_for_key');
  const reader = await newKey({ scopes: ['usage'] });
  await assert.rejects(upload(reader, [lineOf('one')]), { status: 403 });
});

test('lines of another form refuse the batch, and name the line', async () => {
  const made = await newKey();
  const refused = [
    { lines: ['{'], says: /Line 1 .* cannot be read/ },
    { lines: [lineOf('a'), lineOf('a')], says: /custom_id/ },
    { lines: [lineOf('a'), '{"custom_id":"b","method":"POST"}'], says: /Line 2.*url/ },
    { lines: [lineOf('a', {}, '/v1/responses')], says: /Line 1.*endpoint/ },
    { lines: [''], says: /one line/ },
    { lines: ['\n'.repeat(2_000)], says: /1000 empty lines/ },
    { lines: [lineOf('a'.repeat(600))], says: /Line 1.*custom_id/ },
    { lines: [lineOf('a'), lineOf('\ud800')], says: /Line 2.*custom_id.*half of a character/ },
    { lines: [lineOf('a', { user: 'x'.repeat(5_000_000) })], says: /longer/ },
  ];
  for (const { lines, says } of refused)
    await assert.rejects(begin(made, lines), { status: 400, message: says });
  const forms = [
    {
      body: { input_file_id: 'f', endpoint: '/v1/images/edits', completion_window: '24h' },
      field: /endpoint/,
    },
    { body: { endpoint: '/v1/responses', completion_window: '24h' }, field: /input_file_id/ },
  ];
  for (const { body, field } of forms)
    assert.match((await gateway.post('/v1/batches', { key: made.key, body })).error.message, field);
  const wrong = { requests: [{ custom_id: 'no spaces', params: {} }] };
  const reply = await gateway.post('/v1/messages/batches', { key: made.key, body: wrong });
  assert.deepEqual([reply.status, reply.json()['type']], [400, 'error']);
  for (const path of ['batches?after=a&after=b', 'files?limit=1&after=a&after=b'])
    assert.equal((await gateway.get(`/v1/${path}`, { key: made.key })).error.param, 'after');
  assert.equal((await balanceOf(made)).heldMicros, 0);
});

test('an account puts a limited number of lines and bytes into batches in a day', async () => {
  upstream.on(chatPath, answers);
  const made = await newKey();
  const other = await newKey({ account: made.account, creditUsd: 0 });
  const batch = await beginOf(made, linesPerDay - 1);
  await assert.rejects(begin(other, few(2)), { status: 429, message: /batch_lines_per_day/ });
  await end(made, batch.id);
  // What is created at once counts together, and what was deleted counts all the same.
  const both = await newKey();
  const fileId = await upload(both, few(linesPerDay - 1));
  const body = batchOf(fileId);
  const create = () => gateway.post('/v1/batches', { key: both.key, body });
  const replies = await Promise.all([create(), create()]);
  assert.ok(replies.some(({ status }) => status === 429));
  const sender = await newKey();
  const { batches } = anthropic(sender).messages;
  const requests = names(linesPerDay).map((name) => ({
    custom_id: name,
    params: { model: 'no-such-model', max_tokens: 1, messages: [] },
  }));
  const { id } = await batches.create({ requests });
  await until(async () => (await batches.retrieve(id)).processing_status === 'ended');
  await batches.delete(id);
  await assert.rejects(batches.create({ requests }), { status: 429 });
  const half = [lineOf('half', { user: 'x'.repeat(3_500_000) })];
  await openAi(sender).files.delete(await upload(sender, half));
  await assert.rejects(upload(sender, half), { status: 429, message: /batch_bytes_per_day/ });
  const long = [lineOf('long', { user: 'x'.repeat(6_000_000) })];
  await assert.rejects(upload(made, long), { status: 429, message: /batch_bytes_per_day/ });
  await assertSpent(made, (linesPerDay - 1) * costMicros);
});

test('refused batches of an account have only so many lines read, and others are not affected', async () => {
  const made = await newKey();
  const body = batchOf(await upload(made, few(linesPerDay + 1)));
  const limits: unknown[] = [];
  do {
    const { status, error } = await gateway.post('/v1/batches', { key: made.key, body });
    assert.equal(status, 429);
    limits.push(error.details!['limit']);
    assert.ok(limits.length < 30, 'a thousand lines are read');
  } while (limits.at(-1) !== 'refused_lines_per_minute');
  assert.ok(
    limits.slice(0, 16).every((limit) => limit === 'batch_lines_per_day'),
    limits.join(),
  );
  const good = await begin(await newKey(), [lineOf('one')]);
  assert.equal(good.request_counts!.total, 1);
});

test('an account has eight batches created at once', async () => {
  const made = await newKey();
  const lines = [lineOf('one')];
  const { rateLimits } = gateway.program.app.gateway;
  const begun = Array.from({ length: 8 }, () => rateLimits.beginBatch({ accountId: made.account }));
  const [endOne, ...others] = await Promise.all(begun);
  const body = batchOf(await upload(made, lines));
  const { status, error } = await gateway.post('/v1/batches', { key: made.key, body });
  assert.deepEqual([status, error.details!['limit']], [429, 'concurrent_batches']);
  endOne!(0);
  await begin(made, lines);
  for (const endOther of others) endOther(0);
});

test('an account has a thousand batches that have not ended', async () => {
  const made = await newKey();
  const body = batchOf(await upload(made, [lineOf('one')]));
  const { id } = await openAi(made).batches.create(body);
  await end(made, id);
  const [row] = await rowsOf(database, 'batches', { id });
  const never = Number.MAX_SAFE_INTEGER;
  const times = { created_at_ms: 1, due_at_ms: never, expires_at_ms: never };
  const open = { ...row!, ...times, state: 'running' } as const;
  const copies = Array.from({ length: 1_000 }, (_, copy) => ({ ...open, id: `batch_${copy}` }));
  await database.write.insertInto('batches').values(copies).execute();
  const { status, error } = await gateway.post('/v1/batches', { key: made.key, body });
  assert.deepEqual([status, error.details!['limit']], [429, 'open_batches']);
  await setRows(database, 'batches', { id: 'batch_0' }, { state: 'ended' });
  await openAi(made).batches.create(body);
});

test('HEAD of a file does not read it', async (t) => {
  const made = await newKey();
  const id = await upload(made, [lineOf('long', { metadata: { text: 'x'.repeat(3_000_000) } })]);
  // oxlint-disable-next-line typescript/unbound-method -- it is called with its own `this`
  const { read } = BatchFiles.prototype;
  t.after(() => (BatchFiles.prototype.read = read));
  let pieces = 0;
  BatchFiles.prototype.read = async function* counted(file) {
    for await (const piece of read.call(this, file)) {
      pieces += 1;
      yield piece;
    }
  };
  const ask = (method: string) => gateway.get(`/v1/files/${id}/content`, { key: made.key, method });
  await ask('GET');
  const all = pieces;
  const { status, text } = await ask('HEAD');
  assert.deepEqual([status, text], [200, '']);
  await ask('GET');
  assert.ok(all > 2 && pieces <= 2 * all + 1, `${pieces} pieces in place of twice ${all}`);
});

test('lines are encrypted at rest', async () => {
  upstream.on(chatPath, answers);
  const made = await newKey();
  const batch = await begin(made, [lineOf('one', { user: 'a-secret-word' })]);
  await end(made, batch.id);
  const rows = [
    ...(await database.read.selectFrom('batch_file_parts').select('sealed').execute()),
    ...(await database.read.selectFrom('batch_lines').select('body as sealed').execute()),
  ];
  const found = rows.filter(
    ({ sealed }) => sealed && /secret-word|Yes\./.test(String(Buffer.from(sealed))),
  );
  assert.deepEqual(found, []);
});

test('a try that fails after another process has taken its line over leaves nothing held', async (t) => {
  const route = { provider: 'local', model: 'cheap' };
  const own = await startGateway({ models: { cheap: { prices, routes: [route] } } });
  t.after(() => own.stop());
  const late = holdBack(answerStatus(503));
  own.upstream.on(chatPath, late.script);
  const { key, account } = await own.makeKey({ creditUsd });
  const requests = [{ custom_id: 'a', params: endpoint('messages').body({ model: 'cheap' }) }];
  await own.post('/v1/messages/batches', { key, body: { requests } });
  await own.upstream.request(0);
  const other = { owner: 'other', host: 'elsewhere', pid: 1, process_started_at_ms: 1 };
  const lease = { ...other, expires_at_ms: Number.MAX_SAFE_INTEGER };
  await own.database.write.insertInto('hold_owners').values(lease).execute();
  await setRows(own.database, 'batch_lines', {}, { owner: other.owner });
  late.release();
  await own.program.terminate();
  await own.assertLeft(account, 1_000_000 * creditUsd);
});
