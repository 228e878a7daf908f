// A batch survives kills -9 of the gateways that create and run it: every line is answered and charged
// once, nothing stays held, and what killed calls cost is bounded and booked as a loss. On SQLite one
// gateway is killed and started again; on PostgreSQL another goes on meanwhile. A batch that is passed to
// providers is killed at every step: each line runs there once, and their bill is what is charged.
//
// TOLLGATE_KILLS: how often, with 10,000 lines. The provider reports other input tokens for each
// line, and each answer names its charge.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { answerContent, wholeAnswer } from '../support/answers.ts';
import {
  type Answer,
  BatchProvider,
  type HostForm,
  modelAt,
  settingsOf,
  stepOf,
} from '../support/batch-provider.ts';
import { columnOf } from '../support/column-of.ts';
import { TestGateway } from '../support/gateway.ts';
import { jsonOf } from '../support/http.ts';
import { createDatabase } from '../support/postgres.ts';
import { type Program, startProgram } from '../support/program.ts';
import { rowsOf } from '../support/rows.ts';
import { hang, startUpstream } from '../support/upstream.ts';
import { until } from '../support/until.ts';
import { scaled } from '../support/volume.ts';

const kills = Number(process.env['TOLLGATE_KILLS'] ?? scaled(1, 3));
const lines = kills > 3 ? 10_000 : scaled(150, 300);
const threads = 2;
/** What a thread runs at once. */
const linesAtOnce = 16;
/** A limit for hangs only: longer than a killed process's lease plus a sweep. */
const hangMs = 240_000;
const endpoint = '/v1/chat/completions';
const numbers = Array.from({ length: lines }, (_, index) => index + 1);

const onSqlite = { name: 'SQLite', gateways: 1, databaseUrl: async () => undefined };
const onPostgres = { name: 'PostgreSQL', gateways: 2, databaseUrl: createDatabase };
// A killed gateway's lease takes 40 s to end on PostgreSQL.
const stores = scaled([onSqlite], [onSqlite, onPostgres]);

for (const { name, gateways, databaseUrl } of stores)
  test(`a batch of ${lines} lines on ${name} is exact under ${kills} kills`, async (t) => {
    const { upstream, programs, program, setup, made } = await start(t, gateways, databaseUrl);
    upstream.on('/local/v1/chat/completions', answerNumbered);
    const heldMicros = async () => (await setup.balance(made.account)).heldMicros;

    const fileId = await upload(program, made.key, () => 'numbered');
    const create = () =>
      setup.post('/v1/batches', {
        key: made.key,
        headers: { 'idempotency-key': 'nightly' },
        body: { input_file_id: fileId, endpoint, completion_window: '24h' },
      });
    const broken = create().catch(() => null);
    await until(async () => (await heldMicros()) > 0, hangMs);
    await program.kill();
    await broken;
    await program.start();
    const batch = await until(async () => {
      const reply = await create();
      return reply.status === 200 && reply.json<{ id: string }>();
    }, hangMs);

    for (let kill = 1; kill <= kills; kill += 1) {
      await until(() => upstream.requests.length >= (kill * lines) / (kills + 1), hangMs);
      const victim = programs[kill % programs.length]!;
      await victim.kill();
      await victim.start();
    }
    const answered = await outputOf(setup, made.key, batch.id);
    const charges = await rowsOf(setup.database, 'charges', { key_id: made.id });
    assert.equal(charges.length, lines);
    const costs = new Map(charges.map((charge) => [charge.id, Number(charge.cost_micros)]));
    const expected = answered.map(
      ({ response }, index) => [response.request_id, tokensOf(index + 1)] as const,
    );
    assert.deepEqual(costs, new Map(expected));
    const { postedMicros } = await setup.balance(made.account);
    const sum = numbers.reduce((total, number) => total + tokensOf(number), 0);
    assert.equal(postedMicros, 1_000_000_000 - sum);
    await until(async () => (await heldMicros()) === 0, hangMs);
    const killed = upstream.requests.length - lines;
    const entries = await rowsOf(setup.database, 'entries', { key_id: made.id });
    const losses = entries.filter((entry) => Number(entry.loss_micros) > 0);
    t.diagnostic(`${killed} calls were killed, ${losses.length} booked as losses`);
    assert.ok(killed <= (kills + 1) * threads * linesAtOnce, `${killed} calls were killed`);
    assert.ok(losses.length >= killed, `${losses.length} losses of ${killed} killed calls`);
  });

const forms = ['openai', 'anthropic', 'mistral', 'gemini', 'xai', 'vertex', 'bedrock'] as const;
/** Bedrock takes no fewer lines; the other providers share the rest. */
const bedrockLines = 100;
const passed = Array.from({ length: lines + bedrockLines }, (_, index) => index + 1);
const others = forms.length - 1;
const formOf = (number: number) => (number > lines ? 'bedrock' : forms[number % others]!);
/** Steps at which all gateways die: before or after the provider has done what it is asked. */
const steps: Readonly<Record<string, readonly [when: 'before' | 'after', step: RegExp]>> = {
  uploading: ['before', /^upload$/],
  uploaded: ['after', /^upload$/],
  beginning: ['before', /^create$/],
  begun: ['after', /^create$/],
  looking: ['before', /^look$/],
  reading: ['before', /^(file|read)$/],
  deleting: ['before', /^delete$/],
};
/** Those after which most is at stake: each restart takes seconds. */
const fewSteps = ['uploaded', 'begun', 'reading'];
/** One of each kind: with files, without, and with a bucket. */
const fewForms: readonly HostForm[] = ['openai', 'anthropic', 'bedrock'];
/** Of providers that take no files, whose results come with the batch, or that delete nothing. */
const lacking: Readonly<Partial<Record<HostForm, readonly string[]>>> = {
  anthropic: ['uploading', 'uploaded'],
  gemini: ['uploading', 'uploaded', 'reading'],
  xai: ['deleting'],
};
/** The batches at providers that a gateway asks about at once. */
const jobsMax = 3;
/** A limit for hangs only. */
const stepMs = 100_000;

for (const { name, gateways, databaseUrl } of stores)
  test(`a passed batch of ${passed.length} lines on ${name} is exact when killed at every step`, async (t) => {
    const { upstream, programs, program, setup, made } = await start(t, gateways, databaseUrl);
    const providers = new Map(forms.map((form) => [form, new BatchProvider(answerPassed)]));
    upstream.on('*', (response, request) => {
      const [, form, path] = /^\/(\w+)(\/.*)$/.exec(request.path)!;
      return providers.get(form as HostForm)!.script(response, { ...request, path: path! });
    });
    // In any order, at most one of each provider before a kill: they are asked at the same time.
    // On PostgreSQL a killed gateway's lease takes 40 s to end.
    const isSlow = gateways > 1;
    const all = isSlow ? fewSteps : scaled(fewSteps, Object.keys(steps));
    const left = new Map(
      forms.map((form) => {
        const due = isSlow && !fewForms.includes(form) ? [] : all;
        return [form, new Set(due.filter((step) => !lacking[form]?.includes(step)))];
      }),
    );
    const hung = new Set<HostForm>();
    for (const [form, provider] of providers) {
      const killAt = (when: 'before' | 'after') => (asked: Parameters<typeof stepOf>[0]) => {
        const { step = '' } = stepOf(asked) ?? {};
        const due = [...left.get(form)!].find(
          (one) => steps[one]![0] === when && steps[one]![1].test(step),
        );
        if (due === undefined || hung.has(form)) return null;
        left.get(form)!.delete(due);
        hung.add(form);
        return hang;
      };
      provider.before = killAt('before');
      provider.after = killAt('after');
    }
    const timer = setInterval(() => {
      const due = setup.database.write.updateTable('sent_batches').set({ due_at_ms: 1 });
      due.execute().catch(() => {});
    }, 300);
    t.after(() => clearInterval(timer));
    const restart = async () => {
      await Promise.all(programs.map((one) => one.kill()));
      for (const one of programs) await one.start();
    };

    const fileId = await upload(program, made.key, (number) => `at-${formOf(number)}`, passed);
    const body = { input_file_id: fileId, endpoint, completion_window: '24h' };
    const sent = setup.post('/v1/batches', { key: made.key, body });
    const { id } = await jsonOf<{ id: string }>(sent);
    const charged = () => rowsOf(setup.database, 'charges', { key_id: made.id });
    const formsLeft = () => forms.filter((form) => left.get(form)!.size > 0);
    for (let due = formsLeft(); due.length > 0; due = formsLeft()) {
      const most = Math.min(due.length, jobsMax);
      await until(() => hung.size >= most, stepMs).catch(() =>
        assert.fail(
          `never came: ${due.map((form) => [form, ...left.get(form)!].join(' ')).join(', ')}`,
        ),
      );
      await restart();
      hung.clear();
    }
    // In the middle of the results, too.
    await until(async () => (await charged()).length > lines / 4, stepMs);
    await restart();
    await outputOf(setup, made.key, id, passed);
    const billed = [...providers.values()].flatMap((provider) => provider.billed);
    assert.equal(new Set(billed.map(([line]) => line)).size, passed.length);
    assert.equal(billed.length, passed.length, 'no line runs twice at a provider');
    const billMicros = billed.reduce((sum, [, micros]) => sum + micros, 0);
    const costs = await charged();
    assert.equal(costs.length, passed.length);
    const chargedMicros = costs.reduce((sum, { cost_micros: cost }) => sum + Number(cost), 0);
    assert.equal(chargedMicros, billMicros);
    const balance = await setup.balance(made.account);
    assert.equal(balance.postedMicros, 1_000_000_000 - billMicros);
    assert.equal(balance.heldMicros, 0);
    // The answer to one upload was lost. The files of the last lines are deleted when these have ended.
    await until(() => [...providers.values()].every(({ files }) => files.size <= 1), hangMs).catch(
      () => assert.fail('texts stay at a provider'),
    );
  });

function answerPassed(body: Record<string, unknown>, form: HostForm): Answer {
  const number = Number(/number (\d+)/.exec(JSON.stringify(body))![1]);
  const wire = {
    anthropic: 'messages',
    gemini: 'gemini',
    vertex: 'gemini',
    bedrock: 'converse',
  } as const;
  const tokens = { input: tokensOf(number), output: 1 };
  const answer = wholeAnswer(wire[form as 'gemini'] ?? 'chat', { text: 'Yes.', tokens });
  return { status: 200, body: answer, billedMicros: tokensOf(number) };
}

type Answered = { readonly custom_id: string; readonly response: { readonly request_id: string } };

/** In a batch, a microdollar for each token of the input. */
const inBatches = { input: 2, output: 0, batch: 0.5 };
/** At a microdollar each. */
const tokensOf = (number: number) => 1 + (number % 997);

async function answerNumbered(
  ...[response, request]: Parameters<ReturnType<typeof answerContent>>
) {
  await setTimeout(Math.random() * 30);
  const number = Number(/number (\d+)/.exec(request.text)![1]);
  await answerContent('chat', { text: 'Yes.', tokens: { input: tokensOf(number), output: 1 } })(
    response,
    request,
  );
}

async function start(
  t: TestContext,
  gateways: number,
  databaseUrlOf: () => Promise<string | undefined>,
) {
  const upstream = await startUpstream(t);
  const databaseUrl = await databaseUrlOf();
  const [local, ...hosts] = [
    ['local', { kind: 'openai-compatible', base_url: `${upstream.url}/local/v1`, api_key: 'none' }],
    ...forms.map((form) => [form, settingsOf(form, `${upstream.url}/${form}`)] as const),
  ] as const;
  const models = forms.map((form) => {
    const api = form === 'openai' && { api: 'chat' };
    const route = { provider: form, model: modelAt(form, 'm'), ...api };
    return [`at-${form}`, { prices: inBatches, routes: [route] }] as const;
  });
  const numbered = { prices: { input: 1, output: 0 }, routes: [{ provider: 'local', model: 'm' }] };
  const config = {
    providers: Object.fromEntries([local, ...hosts]) as object,
    models: { numbered, ...Object.fromEntries(models) },
    log: { level: 'error' },
    server: { threads },
  };
  const programs: Program[] = [];
  for (let index = 0; index < gateways; index += 1) {
    const program = await startProgram({ ...(databaseUrl && { databaseUrl }), config });
    t.after(() => program.stop());
    programs.push(program);
  }
  const [program] = programs as [Program, ...Program[]];
  const setup = new TestGateway(program, upstream);
  t.after(() => setup.database.close());
  const made = await setup.makeKey({ mode: 'live', creditUsd: 1_000 });
  return { upstream, programs, program, setup, made };
}

/** Waits for the batch's end, and returns the answers of all lines, in order. */
async function outputOf(
  setup: TestGateway,
  key: string,
  id: string,
  of: readonly number[] = numbers,
): Promise<Answered[]> {
  type Batch = { status: string; output_file_id: string };
  const done = await until(async () => {
    const batch = (await setup.get(`/v1/batches/${id}`, { key })).json<Batch>();
    return batch.status === 'completed' && batch;
  }, hangMs);
  const { text } = await setup.get(`/v1/files/${done.output_file_id}/content`, { key });
  const answered = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Answered);
  const expected = of.map((number) => `line-${number}`);
  assert.deepEqual(columnOf(answered, 'custom_id'), expected);
  return answered;
}

async function upload(
  program: Program,
  key: string,
  modelOf: (number: number) => string,
  of: readonly number[] = numbers,
): Promise<string> {
  const text = of.map((number) => {
    const content = `number ${number} ${'word '.repeat(200)}`;
    const body = { model: modelOf(number), messages: [{ role: 'user', content }] };
    return JSON.stringify({ custom_id: `line-${number}`, method: 'POST', url: endpoint, body });
  });
  const form = new FormData();
  form.set('purpose', 'batch');
  form.set('file', new Blob([text.join('\n')]), 'lines.jsonl');
  const headers = { authorization: `Bearer ${key}` };
  const sent = await fetch(`${program.url}/v1/files`, { method: 'POST', headers, body: form });
  return ((await sent.json()) as { id: string }).id;
}
