// Batches that are passed to a provider's own batch API: their price, their settlement, and the ways in
// which a provider fails. Each case has a provider of its own, and they run at the same time. What the
// provider bills is what the account pays and the operator loses.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI, { toFile } from 'openai';
import { adminOf } from '../support/admin.ts';
import { answerContent, wholeAnswer } from '../support/answers.ts';
import { BatchProvider, type Answer, type Fault } from '../support/batch-provider.ts';
import { startGateway, type KeyOptions } from '../support/gateway.ts';
import { answerStatus, behind, thenReset, type Script } from '../support/upstream.ts';
import { until } from '../support/until.ts';

type Form = 'openai' | 'anthropic';
const creditUsd = 10;
const hangMs = 60_000;
const tokens = { input: 10, output: 5 };
/** At a microdollar for each token of the input, and two for each of the output, in a batch. */
const full = { input: 2, output: 4 };
const prices = { ...full, service_tiers: { priority: full }, batch: 0.5 };
const costMicros = tokens.input + 2 * tokens.output;
const prompts = ['one', 'two', 'fail', 'four'];

type Case = {
  readonly only?: Form;
  /** Makes the provider fail. */
  readonly fail: (provider: BatchProvider, form: Form) => void;
  /** The results of the four lines. Default: those of a good provider. */
  readonly results?: readonly string[];
  /** Lines that are paid. Default: those that succeeded. */
  readonly paidMicros?: number;
  /** True: the operator may have lost something, which nobody can know exactly. */
  readonly isLossy?: boolean;
  /** Batches that the provider has begun. Default: one. */
  readonly begun?: number;
};

const good = ['succeeded', 'succeeded', '400', 'succeeded'];
const isCreate = ({ method, path }: Asked) =>
  method === 'POST' && /\/(batches|messages\/batches)$/.test(path);
const isList = ({ method, path }: Asked) => method === 'GET' && path.endsWith('/batches');
const isLook = ({ method, path }: Asked) => method === 'GET' && /\/batches\/\w+$/.test(path);
const isRead = ({ path }: Asked) => /\/(results|content)$/.test(path);
type Asked = Parameters<Script>[1];
/** Answers the first such request so. */
const once = (matches: (asked: Asked) => boolean, script: Script) => {
  let isDone = false;
  return (asked: Asked) => {
    if (isDone || !matches(asked)) return null;
    isDone = true;
    return script;
  };
};
/** As `once`, for each of them in turn. */
const inTurn =
  (...faults: readonly ((asked: Asked) => Fault)[]) =>
  (asked: Asked) =>
    faults.map((fault) => fault(asked)).find(Boolean) ?? null;
const ended = (provider: BatchProvider, end: (batch: BatchProvider['batches'][number]) => void) => {
  provider.isQuick = false;
  provider.before = (asked) => {
    if (isLook(asked)) for (const batch of provider.batches) end(batch);
    return null;
  };
};

const unpaid = { error: { message: 'Billing hard limit has been reached.' } };

const cases: Readonly<Record<string, Case>> = {
  'nothing fails': { fail: () => {} },
  'the provider is overloaded': { fail: (p) => (p.before = once(isCreate, answerStatus(429))) },
  'the provider fails before it begins': {
    fail: (p) => (p.before = once(isCreate, answerStatus(500))),
  },
  'the connection ends before it begins': {
    fail: (p) => (p.before = once(isCreate, thenReset(null))),
  },
  'the connection ends when it has begun': {
    fail: (p) => (p.after = once(isCreate, thenReset(null))),
  },
  'it has begun, and its list cannot be read': {
    fail(p) {
      p.after = once(isCreate, thenReset(null));
      p.before = inTurn(once(isList, answerStatus(500)), once(isList, answerStatus(429)));
    },
  },
  'it has begun, and its answer has no id': {
    fail: (p) => (p.after = once(isCreate, (response) => void response.end('{"object":"batch"}'))),
  },
  'the file cannot be uploaded': {
    only: 'openai',
    fail: (p) => (p.before = once(({ path }) => path.endsWith('/files'), thenReset(null))),
  },
  'looking fails': {
    fail(p) {
      const nonsense: Script = (response) => void response.end('{"status":"what","id":1}');
      p.before = inTurn(once(isLook, answerStatus(500)), once(isLook, nonsense));
    },
  },
  'reading the results breaks off': {
    fail: (p) => (p.after = once(isRead, thenReset('{"custom_id":"'))),
  },
  'results are twice there, foreign or nonsense': {
    fail(p) {
      p.spoil = (lines) => [
        // Of another batch, where other lines have failed.
        ...lines.map((text) =>
          text.replace(
            /"sent_(\w+)_(\d)"/,
            (_, id: string, line: string) => `"sent-${id}_${(Number(line) + 1) % 4}"`,
          ),
        ),
        ...lines,
        '{',
        '7',
        '{"custom_id":"other_1","response":{"status_code":200,"body":{}}}',
        '',
        ...lines.toReversed(),
      ];
    },
  },
  'the results are cut the first time': {
    fail(p) {
      let reads = 0;
      p.spoil = (lines) =>
        (reads += 1) > 1 ? lines : [...lines.slice(0, -1), lines.at(-1)!.slice(0, 40)];
    },
  },
  'a result is missing for good': {
    fail: (p) => (p.spoil = (lines) => lines.filter((line) => !/_1"/.test(line))),
    results: ['succeeded', '502', '400', 'succeeded'],
    isLossy: true,
  },
  'the provider refuses the batch': {
    fail: (p) => (p.before = (asked) => (isCreate(asked) ? answerStatus(400) : null)),
    results: ['400', '400', '400', '400'],
    begun: 0,
  },
  'the batch fails as a whole': {
    only: 'openai',
    fail(p) {
      ended(p, (batch) => {
        batch.status = 'failed';
        batch.errors = { data: [{ code: 'model_mismatch', message: 'not that model' }] };
      });
    },
    results: ['400', '400', '400', '400'],
  },
  'the provider has no room at first': {
    only: 'openai',
    fail(p) {
      let isFull = true;
      ended(p, (batch) => {
        if (!isFull) return p.finish(batch);
        isFull = false;
        batch.status = 'failed';
        batch.errors = { data: [{ code: 'token_limit_exceeded', message: 'later' }] };
      });
    },
    begun: 2,
  },
  'the batch expires there': {
    fail: (p) => ended(p, (batch) => p.finish(batch, 'expired', 1)),
    results: ['succeeded', 'expired', 'expired', 'expired'],
  },
  'the batch is cancelled there': {
    fail: (p) => ended(p, (batch) => p.finish(batch, 'cancelled', 1)),
    results: ['succeeded', 'canceled', 'canceled', 'canceled'],
  },
  'the host has no batches after all': {
    fail(p, form) {
      const live = answerContent(form === 'openai' ? 'chat' : 'messages', { text: 'Yes.', tokens });
      p.before = ({ path }) => (/completions$|messages$/.test(path) ? live : answerStatus(404));
    },
    results: ['succeeded', 'succeeded', 'succeeded', 'succeeded'],
    // Our own queue runs it, at the full price.
    paidMicros: 4 * 2 * costMicros,
    begun: 0,
  },
  'the results of an expired batch are cut the first time': {
    only: 'openai',
    fail(p) {
      ended(p, (batch) => p.finish(batch, 'expired', 2));
      let reads = 0;
      p.spoil = (lines) =>
        (reads += 1) > 1 ? lines : [...lines.slice(0, -1), lines.at(-1)!.slice(0, 40)];
    },
    results: ['succeeded', 'succeeded', 'expired', 'expired'],
  },
  'the operator has to pay the provider first': {
    fail: (p) => (p.before = once(isCreate, answerStatus(400, { body: unpaid }))),
  },
  'the batch fails until the operator has paid': {
    only: 'openai',
    fail(p) {
      let isPaid = false;
      ended(p, (batch) => {
        if (isPaid) return p.finish(batch);
        isPaid = true;
        batch.status = 'failed';
        batch.errors = { data: [{ code: 'billing_hard_limit_reached', ...unpaid.error }] };
      });
    },
    begun: 2,
  },
  'it has not begun, and a later batch of another program is as long': {
    only: 'anthropic',
    fail(p) {
      const other = p.add('anthropic', prompts.length, Date.now() + 3_600_000);
      ended(p, (batch) => batch !== other && p.finish(batch));
      p.before = inTurn(once(isCreate, thenReset(null)), p.before);
    },
  },
  'it has begun, and is on the second page of a list with cursors': {
    only: 'openai',
    fail(p) {
      p.hasCursors = true;
      p.after = once(isCreate, thenReset(null));
      p.before = once(isList, (response, asked) => {
        // A try of it that had failed, too.
        const { metadata } = p.batches[0]!;
        for (const marked of [null, null, metadata])
          p.add('openai', 1, Date.now(), marked).status = 'failed';
        return p.script(response, asked);
      });
    },
  },
};

const runs = Object.entries(cases).flatMap(([name, one]) =>
  (['openai', 'anthropic'] as const).flatMap((form) =>
    one.only && one.only !== form ? [] : [{ name: `${form}: ${name}`, form, ...one }],
  ),
);
const others = { openai: 'other-openai', anthropic: 'other-anthropic' };
const ids = [...runs.map((_, index) => `case-${index}`), ...Object.values(others)];
const formOf = (id: string): Form =>
  runs[ids.indexOf(id)]?.form ?? (id === others.openai ? 'openai' : 'anthropic');
const gateway = await startGateway(
  ({ url }) => ({
    providers: Object.fromEntries(
      ids.map((id) => {
        const kind = formOf(id);
        const base = `${url}/${id}${kind === 'openai' ? '/v1' : ''}`;
        return [id, { kind, base_url: base, api_key: 'sk-1' }];
      }),
    ),
    models: {
      ...Object.fromEntries(
        ids.map((id) => [id, { prices, routes: [{ provider: id, model: id }] }]),
      ),
      'plain-anthropic': {
        prices: full,
        routes: [{ provider: others.anthropic, model: 'plain-anthropic' }],
      },
      dear: {
        prices: { input: 20, output: 40, batch: 0.5 },
        routes: [{ provider: others.anthropic, model: 'dear' }],
      },
    },
  }),
  { tuning: { failuresMax: 1_000, ejectionMsMax: 1 } },
);
after(() => gateway.stop());
const { upstream, database } = gateway;
const providers = new Map(ids.map((id) => [id, new BatchProvider(answerByPrompt)]));
upstream.on('*', (response, request) => {
  const [, id, path] = /^\/([\w-]+)(\/.*)$/.exec(request.path)!;
  return providers.get(id!)!.script(response, { ...request, path: path! });
});

/** Answers by the prompt: `fail` with an error, others as usual. */
function answerByPrompt(body: Record<string, unknown>): Answer {
  if (/fail/.test(JSON.stringify(body)))
    return {
      status: 400,
      body: { type: 'error', error: { type: 'invalid_request_error', message: 'too odd' } },
      billedMicros: 0,
    };
  const other = 'input' in body ? 'responses' : 'chat';
  const wire = body['max_tokens'] === undefined ? other : 'messages';
  const answer = wholeAnswer(wire, { text: 'Yes.', tokens });
  return { status: 200, body: answer, billedMicros: costMicros };
}

type Made = Awaited<ReturnType<typeof newKey>>;
const newKey = (options: KeyOptions = {}) =>
  gateway.makeKey({ mode: 'live', creditUsd, ...options });
const openAi = ({ key }: Pick<Made, 'key'>) =>
  new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
const anthropic = ({ key }: Pick<Made, 'key'>) =>
  new Anthropic({ apiKey: key, baseURL: gateway.url, maxRetries: 0 });

/** Looks at batches at providers now, as if their time had come. */
async function hurry(): Promise<void> {
  await database.write.updateTable('sent_batches').set({ due_at_ms: 1 }).execute();
}

/** The client's form, which may be another than the provider's. */
const clients = {
  async openai(made: Made, model: string, fields: object = {}) {
    const lines = prompts.map((prompt) =>
      JSON.stringify({
        custom_id: prompt,
        method: 'POST',
        url: '/v1/chat/completions',
        body: {
          model,
          max_completion_tokens: 100,
          messages: [{ role: 'user', content: prompt }],
          ...fields,
        },
      }),
    );
    const client = openAi(made);
    const file = await toFile(Buffer.from(lines.join('\n')), 'lines.jsonl');
    const { id } = await client.batches.create({
      input_file_id: (await client.files.create({ purpose: 'batch', file })).id,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    });
    return id;
  },
  async anthropic(made: Made, model: string, fields: object = {}) {
    const { id } = await anthropic(made).messages.batches.create({
      requests: prompts.map((prompt) => ({
        custom_id: prompt,
        params: {
          model,
          max_tokens: 100,
          messages: [{ role: 'user', content: prompt }],
          ...fields,
        },
      })),
    });
    return id;
  },
};

/** Waits for the end, and returns what became of each line. */
async function resultsOf(made: Made, id: string): Promise<string[]> {
  await until(async () => {
    const { state } = await database.read
      .selectFrom('batches')
      .select('state')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    return state === 'ended';
  }, hangMs);
  const found = new Map<string, string>();
  if (id.startsWith('msgbatch'))
    for await (const { custom_id, result } of await anthropic(made).messages.batches.results(id))
      found.set(custom_id, result.type === 'errored' ? statusOf(result.error) : result.type);
  else {
    const { output_file_id: output, error_file_id: errors } =
      await openAi(made).batches.retrieve(id);
    for (const file of [output, errors]) {
      if (!file) continue;
      const text = await (await openAi(made).files.content(file)).text();
      for (const line of text.trimEnd().split('\n')) {
        const { custom_id, response, error } = JSON.parse(line) as Line;
        const status = String(response?.status_code);
        const word = error?.code.replace('batch_', '').replace('cancelled', 'canceled');
        found.set(custom_id, response ? status.replace('200', 'succeeded') : word!);
      }
    }
  }
  return prompts.map((prompt) => found.get(prompt)!);
}

type Line = {
  readonly custom_id: string;
  readonly response: { readonly status_code: number } | null;
  readonly error: { readonly code: string } | null;
};

function statusOf({ error }: { readonly error: { readonly type: string } }): string {
  return { invalid_request_error: '400', api_error: '502' }[error.type] ?? error.type;
}

async function lossesOf({ id }: Made): Promise<number> {
  const entries = await database.read
    .selectFrom('entries')
    .select('loss_micros')
    .where('key_id', '=', id)
    .execute();
  return entries.reduce((sum, entry) => sum + Number(entry.loss_micros), 0);
}

/** Nothing is held, and that is what was spent. */
async function assertSpent(made: Made, micros: number): Promise<void> {
  const { availableMicros, heldMicros, postedMicros } = await gateway.balance(made.account);
  const left = creditUsd * 1_000_000 - micros;
  assert.deepEqual([availableMicros, heldMicros, postedMicros], [left, 0, left]);
}

describe('whatever the provider does, each line is settled once', { concurrency: true }, () => {
  let timer: NodeJS.Timeout;
  before(() => void (timer = setInterval(() => void hurry().catch(() => {}), 200)));
  after(() => clearInterval(timer));
  for (const [index, { name, form, ...one }] of runs.entries())
    test(name, async () => {
      const model = ids[index]!;
      const provider = providers.get(model)!;
      one.fail(provider, form);
      const made = await newKey();
      // Every other one in the other form.
      const asks = index % 4 < 2 ? form : form === 'openai' ? 'anthropic' : 'openai';
      const created = isCreate;
      let begun = 0;
      const { after: late } = provider;
      provider.after = (asked) => {
        if (created(asked)) begun += 1;
        return late(asked);
      };
      const id = await clients[asks](made, model);
      const results = await resultsOf(made, id);
      const expected = one.results ?? good;
      assert.deepEqual(results, expected);
      const paid = expected.filter((result) => result === 'succeeded').length * costMicros;
      await assertSpent(made, one.paidMicros ?? paid);
      const lostMicros = await lossesOf(made);
      if (one.isLossy) assert.ok(lostMicros > 0);
      else assert.equal(lostMicros, 0);
      if (!one.isLossy && one.paidMicros === undefined) assert.equal(provider.billMicros, paid);
      assert.equal(begun, one.begun ?? 1);
      // No text stays at the provider.
      assert.deepEqual([...provider.files.keys()], []);
    });
});

/** Waits until the batch's lines are at the provider, and returns its batch there. */
const sentTo = (provider: BatchProvider, count = 1) =>
  until(async () => {
    const rows = await database.read.selectFrom('sent_batches').selectAll().execute();
    return (
      provider.batches.length === count &&
      rows.some(({ state, owner }) => state === 'sent' && owner === null) &&
      provider.batches[0]!
    );
  }, hangMs);
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
    await until(() => remote.isCancelling, hangMs);
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
  }, hangMs);
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
  await until(() => reads > 2, hangMs);
  await writeLine(id, 0, body);
  assert.deepEqual(await results, ['succeeded', 'succeeded', 'expired', 'expired']);
  await assertSpent(made, 2 * costMicros);
  assert.equal(await lossesOf(made), 0);
});

test('a line that cannot be read fails, and the others are sent', async () => {
  const { provider, model } = fresh();
  provider.before = (asked) => (isCreate(asked) ? answerStatus(429) : null);
  const made = await newKey();
  const id = await clients.anthropic(made, model);
  await until(async () => (await sentOf(id))?.tries === 1, hangMs);
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
  }, hangMs);
  const { request, expires_at_ms: endMs } = await batch();
  assert.ok(dueMs > Date.now() + 3_600_000 && dueMs <= endMs);
  const change = (text: string) =>
    database.write.updateTable('batches').set({ request: text }).where('id', '=', id).execute();
  await change('{');
  await hurry();
  await until(async () => {
    const sent = await sentOf(id);
    return sent!.due_at_ms !== 1 && sent!.owner === null && sent!.due_at_ms > Date.now();
  }, 10_000);
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
  const admin = await adminOf(gateway);
  const save = async (fields: object, upstreamModel: string, newest: string) => {
    const { version } = await admin.ok<{ version: number }>('GET', '/settings/saved');
    const value = {
      prices: { ...full, ...fields },
      routes: [{ provider: others.anthropic, model: upstreamModel }],
    };
    await admin.ok('PATCH', '/settings/saved', {
      body: {
        version,
        changes: [
          { path: ['models', 'saved'], value },
          { path: ['aliases', 'newest'], value: newest },
        ],
      },
    });
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
  await until(async () => (await sentOf(id)) === undefined, hangMs);
});

test('when the provider cannot be reached for a day and an hour, the lines expire as a loss', async () => {
  const { provider, model } = fresh();
  const made = await newKey();
  provider.after = (asked) => (isCreate(asked) ? null : answerStatus(500));
  const id = await clients.anthropic(made, model);
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
});
