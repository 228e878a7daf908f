// The ways in which a provider's own batch API fails: whatever it does, each line is settled once. Each
// case has a provider of its own, and they run at the same time.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { wholeAnswer } from '../support/answers.ts';
import { BatchProvider, stepOf, type HostForm } from '../support/batch-provider.ts';
import {
  answerByPrompt,
  type Asked,
  costMicros,
  inTurn,
  isCreate,
  isList,
  isLook,
  isRead,
  once,
  prompts,
  startPassing,
  tokens,
} from '../support/passed-batches.ts';
import { until } from '../support/until.ts';
import { answerJson, answerStatus, thenReset, type Script } from '../support/upstream.ts';

type Case = {
  /** Default: all hosts. */
  readonly only?: readonly HostForm[];
  /** Makes the provider fail. */
  readonly fail: (provider: BatchProvider, form: HostForm) => void;
  /** The results of the four lines. Default: those of a good provider. */
  readonly results?: readonly string[];
  /** Lines that are paid. Default: those that succeeded. */
  readonly paidMicros?: number;
  /** True: the operator may have lost something, which nobody can know exactly. */
  readonly isLossy?: boolean;
  /** Batches that the provider has begun. Default: one. */
  readonly begun?: number;
};

const good = ['succeeded', 'succeeded', 'failed', 'succeeded'];
const ended = (provider: BatchProvider, end: (batch: BatchProvider['batches'][number]) => void) => {
  provider.isQuick = false;
  provider.before = (asked) => {
    if (isLook(asked)) for (const batch of provider.batches) end(batch);
    return null;
  };
};

/** In OpenAI's words and in Google's. */
const unpaid = {
  error: { message: 'Billing hard limit has been reached.', status: 'FAILED_PRECONDITION' },
};

const wires = {
  completions: 'chat',
  responses: 'responses',
  messages: 'messages',
  'models/\\S+:generateContent': 'gemini',
  converse: 'converse',
} as const;

/** Answers the call of a line by itself. */
function answerLive({ path }: Asked): Script | null {
  const at = Object.entries(wires).find(([end]) => new RegExp(`/${end}$`).test(path));
  return at ? answerJson(wholeAnswer(at[1], { text: 'Yes.', tokens })) : null;
}

/** Our own queue has run all lines, at the full price. */
const ranLive = { results: Array<string>(4).fill('succeeded'), paidMicros: 4 * 2 * costMicros };

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
  'it has begun, and its list is an error with status 200': {
    only: ['openai', 'anthropic', 'mistral', 'gemini'],
    fail(p, form) {
      p.after = once(isCreate, thenReset(null));
      // In Mistral's words and in Google's.
      const body =
        form === 'mistral'
          ? { object: 'error', message: 'later' }
          : { error: { message: 'later' } };
      p.before = once(isList, answerJson(body));
    },
  },
  'it has begun, and its list is an empty text': {
    only: ['gemini', 'bedrock', 'vertex'],
    fail(p) {
      p.after = once(isCreate, thenReset(null));
      p.before = once(isList, (response) => void response.end());
    },
  },
  'the file cannot be uploaded': {
    only: ['openai', 'mistral', 'xai', 'bedrock', 'vertex'],
    fail: (p) => (p.before = once((asked) => stepOf(asked)?.step === 'upload', thenReset(null))),
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
    fail(p, form) {
      const isText = form !== 'gemini' && form !== 'xai';
      const nonsense = isText ? ['{', '7', ''] : ['{}'];
      p.spoil = (lines) => [
        // Results of another batch, in which other lines have failed.
        ...lines.map((text) =>
          text.replace(
            /"sent_(\w+)_(\d)"/,
            (_, id: string, line: string) => `"sent-${id}_${(Number(line) + 1) % 4}"`,
          ),
        ),
        ...lines,
        ...nonsense,
        '{"custom_id":"other_1","response":{"status_code":200,"body":{}}}',
        '{"request":{"labels":{"tollgate_thousand":"0","tollgate_line":"9"}},"response":{}}',
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
    fail: (p) => (p.spoil = (lines) => lines.filter((line) => !/_1"|_line":"1"/.test(line))),
    results: ['succeeded', '502', 'failed', 'succeeded'],
    isLossy: true,
  },
  'pages of results begin again and again': {
    only: ['xai'],
    fail(p) {
      p.before = (asked) =>
        isRead(asked) && asked.query
          ? (response, request) => p.script(response, { ...request, query: '' })
          : null;
    },
    results: ['502', '502', 'failed', 'succeeded'],
    isLossy: true,
  },
  'a line is not counted before the time is up': {
    only: ['xai'],
    fail(p) {
      p.spoil = (lines) => lines.filter((line) => !/_3"/.test(line));
      p.before = (asked) =>
        isLook(asked) && p.batches[0]!.lines.length > 0
          ? async (response, request) => {
              p.finish(p.batches[0]!);
              await endTime('xai');
              const state = { num_requests: 3, num_pending: 0, num_success: 2, num_error: 1 };
              return answerJson({ state })(response, request);
            }
          : null;
    },
    results: ['succeeded', 'succeeded', 'failed', '502'],
    isLossy: true,
  },
  'the batch fails when some of its lines have run': {
    only: ['mistral', 'gemini'],
    fail(p) {
      ended(p, (batch) => {
        p.finish(batch, 'failed', 2);
        batch.errors = [{ code: 13, message: 'broken' }];
      });
    },
    results: ['succeeded', 'succeeded', '502', '502'],
    isLossy: true,
  },
  'the provider refuses the batch': {
    only: ['openai', 'anthropic', 'gemini', 'mistral', 'xai'],
    fail: (p) => (p.before = (asked) => (isCreate(asked) ? answerStatus(400) : null)),
    results: ['400', '400', '400', '400'],
    begun: 0,
  },
  'the batch fails as a whole': {
    only: ['openai', 'mistral', 'gemini', 'xai'],
    fail(p) {
      ended(p, (batch) => {
        batch.status = 'failed';
        batch.errors = [{ code: 'model_mismatch', message: 'not that model' }];
      });
    },
    results: ['400', '400', '400', '400'],
  },
  'the provider has no room at first': {
    only: ['openai', 'gemini', 'vertex'],
    fail(p, form) {
      let isFull = true;
      ended(p, (batch) => {
        if (!isFull) return p.finish(batch);
        isFull = false;
        batch.status = 'failed';
        const code = form === 'openai' ? 'token_limit_exceeded' : 8;
        batch.errors = [{ code, message: 'later' }];
      });
    },
    begun: 2,
  },
  'the batch expires there': {
    // xAI's do not within a day.
    only: ['openai', 'anthropic', 'mistral', 'gemini', 'bedrock', 'vertex'],
    fail: (p) => ended(p, (batch) => p.finish(batch, 'expired', 1)),
    results: ['succeeded', 'expired', 'expired', 'expired'],
  },
  'the batch is cancelled there': {
    fail: (p) => ended(p, (batch) => p.finish(batch, 'cancelled', 1)),
    results: ['succeeded', 'canceled', 'canceled', 'canceled'],
  },
  'the results of a cancelled batch are an error with status 200 at first': {
    only: ['xai'],
    fail(p) {
      ended(p, (batch) => p.finish(batch, 'cancelled', 1));
      p.before = inTurn(once(isRead, answerJson({ error: 'later' })), p.before);
    },
    results: ['succeeded', 'canceled', 'canceled', 'canceled'],
  },
  'the host has no batches after all': {
    fail(p) {
      p.before = (asked) => answerLive(asked) ?? answerStatus(404);
    },
    ...ranLive,
    begun: 0,
  },
  'the host has the model, but not for batches': {
    only: ['openai', 'mistral'],
    fail(p) {
      const lacking = answerStatus(400, { body: { error: { message: 'Invalid model: x' } } });
      p.before = inTurn((asked) => (isCreate(asked) ? lacking : null), answerLive);
    },
    ...ranLive,
    begun: 0,
  },
  'the batch fails because the host lacks the model for it': {
    only: ['openai', 'mistral'],
    fail(p) {
      ended(p, (batch) => {
        batch.status = 'failed';
        batch.errors = [{ code: 'x', message: 'Invalid model: x' }];
      });
      p.before = inTurn(answerLive, p.before);
    },
    ...ranLive,
  },
  'the results of an expired batch are cut the first time': {
    only: ['openai', 'mistral'],
    fail(p) {
      ended(p, (batch) => p.finish(batch, 'expired', 2));
      let reads = 0;
      p.spoil = (lines) =>
        (reads += 1) > 1 ? lines : [...lines.slice(0, -1), lines.at(-1)!.slice(0, 40)];
    },
    results: ['succeeded', 'succeeded', 'expired', 'expired'],
  },
  'the operator has to pay the provider first': {
    only: ['openai', 'anthropic', 'mistral', 'gemini', 'xai', 'vertex'],
    fail: (p) => (p.before = once(isCreate, answerStatus(400, { body: unpaid }))),
  },
  'the account has as many jobs as it may have': {
    only: ['bedrock'],
    fail(p) {
      const message = 'Your account has reached the service quota of in-progress jobs.';
      p.before = once(isCreate, answerStatus(400, { body: { message } }));
    },
  },
  'the cloud refuses a job of that model, or in that bucket': {
    only: ['bedrock', 'vertex'],
    fail: (p) =>
      (p.before = inTurn((asked) => (isCreate(asked) ? answerStatus(400) : null), answerLive)),
    ...ranLive,
    begun: 0,
  },
  'the bucket is in another region': {
    only: ['bedrock'],
    fail(p) {
      p.before = inTurn(({ method }) => (method === 'PUT' ? answerStatus(301) : null), answerLive);
    },
    ...ranLive,
    begun: 0,
  },
  'the cloud fails a job, whose bucket or role it cannot use': {
    only: ['bedrock', 'vertex'],
    fail(p) {
      ended(p, (batch) => {
        batch.status = 'failed';
        batch.errors = [{ code: 7, message: 'no access to the bucket' }];
      });
      p.before = inTurn(answerLive, p.before);
    },
    ...ranLive,
  },
  'a cloud’s job fails when some of its lines have run': {
    only: ['bedrock', 'vertex'],
    fail(p) {
      ended(p, (batch) => {
        // The third has failed, perhaps with the job.
        p.finish(batch, 'failed', 3);
        batch.errors = [{ code: 13, message: 'broken' }];
      });
      p.before = inTurn(answerLive, p.before);
    },
    ...ranLive,
    paidMicros: (2 + 2 * 2) * costMicros,
  },
  'the credential is refused at first': {
    only: ['bedrock', 'vertex'],
    fail(p) {
      p.before = inTurn(
        once(({ method }) => method === 'PUT', answerStatus(403)),
        once(isLook, answerStatus(401)),
        once(isRead, answerStatus(403)),
      );
    },
  },
  'a job that nothing of has run leaves no file': {
    only: ['bedrock', 'vertex'],
    fail: (p) => ended(p, (batch) => p.finish(batch, 'cancelled', 0)),
    results: ['canceled', 'canceled', 'canceled', 'canceled'],
  },
  'the batch fails until the operator has paid': {
    only: ['openai'],
    fail(p) {
      let isPaid = false;
      ended(p, (batch) => {
        if (isPaid) return p.finish(batch);
        isPaid = true;
        batch.status = 'failed';
        batch.errors = [{ code: 'billing_hard_limit_reached', message: unpaid.error.message }];
      });
    },
    begun: 2,
  },
  'it has not begun, and a later batch of another program is as long': {
    only: ['anthropic'],
    fail(p) {
      const other = p.add('anthropic', prompts.length, Date.now() + 3_600_000);
      ended(p, (batch) => batch !== other && p.finish(batch));
      p.before = inTurn(once(isCreate, thenReset(null)), p.before);
    },
  },
  'it has begun, and is on the second page of a list': {
    only: ['openai', 'mistral', 'gemini', 'bedrock', 'vertex'],
    fail(p, form) {
      // As Groq's.
      p.hasCursors = form === 'openai';
      p.after = once(isCreate, thenReset(null));
      p.before = once(isList, (response, asked) => {
        // A try of it that had failed, too.
        const { metadata } = p.batches[0]!;
        for (const marked of [null, null, metadata])
          p.add(form, 1, Date.now(), marked).status = 'failed';
        return p.script(response, asked);
      });
    },
  },
};

const forms = ['openai', 'anthropic', 'gemini', 'mistral', 'xai', 'bedrock', 'vertex'] as const;
const runs = Object.entries(cases).flatMap(([name, one]) =>
  forms.flatMap((form) => (one.only && !one.only.includes(form) ? [] : [{ name, form, ...one }])),
);
type Run = (typeof runs)[number];
/** Mistral and xAI are known by the names of their providers, so each has one, for one case at a time. */
const isAlone = ({ form }: Run) => form === 'mistral' || form === 'xai';
const idOf = (run: Run) => (isAlone(run) ? run.form : `case-${runs.indexOf(run)}`);
const passing = await startPassing(Object.fromEntries(runs.map((run) => [idOf(run), run.form])));
const { providers, database, newKey, hurry, clients, resultsOf, lossesOf, assertSpent } = passing;

describe('whatever the provider does, each line is settled once', { concurrency: true }, () => {
  let timer: NodeJS.Timeout;
  before(() => void (timer = setInterval(() => void hurry().catch(() => {}), 50)));
  after(() => clearInterval(timer));
  for (const [form, of] of Map.groupBy(runs, (run) => run.form))
    describe(form, { concurrency: !isAlone(of[0]!) }, () => {
      for (const run of of) test(run.name, () => settle(run));
    });
});

async function settle(run: Run): Promise<void> {
  const { form, fail, results: wanted = good, paidMicros, isLossy } = run;
  const model = idOf(run);
  const provider = new BatchProvider(answerByPrompt);
  providers.set(model, provider);
  fail(provider, form);
  const made = await newKey();
  let begun = 0;
  const needed: string[] = [];
  const requests = new Set<string | null>();
  const { after: late } = provider;
  provider.after = (asked) => {
    if (isCreate(asked)) {
      begun += 1;
      requests.add(provider.batches.at(-1)?.inputFileId ?? null);
    }
    const { step, id: remoteId } = stepOf(asked) ?? {};
    if (step !== 'delete' || !remoteId) return late(asked);
    const left = [...provider.files.keys()].filter((name) => requests.has(name));
    return async (response) => {
      if ((await isNeeded(model, remoteId)) || left.length > 0) needed.push(remoteId, ...left);
      response.end('{}');
    };
  };
  // Each form of the client with each of the provider.
  const asks = runs.indexOf(run) % 4 < 2 ? 'openai' : 'anthropic';
  const id = await clients[asks](made, model);
  const results = await resultsOf(made, id);
  // xAI does not say whose fault a failed line is.
  const failed = form === 'xai' ? '502' : '400';
  const expected = wanted.map((result) => (result === 'failed' ? failed : result));
  assert.deepEqual(results, expected);
  const paid = expected.filter((result) => result === 'succeeded').length * costMicros;
  await assertSpent(made, paidMicros ?? paid);
  const lostMicros = await lossesOf(made);
  if (isLossy) assert.ok(lostMicros > 0);
  else assert.equal(lostMicros, 0);
  if (!isLossy && paidMicros === undefined) assert.equal(provider.billMicros, paid);
  assert.equal(begun, run.begun ?? 1);
  // A gateway that is killed here must find what it looks for, and leaves no requests to be deleted.
  assert.deepEqual(needed, []);
  // No text stays at the provider: the batch may have ended a moment before its files are deleted.
  await until(async () => (await sentTo(model)) === 0);
  assert.deepEqual([...provider.files.keys()], []);
  const own = provider.batches.filter(({ lines }) => lines[0]?.custom_id.startsWith('sent_'));
  if (!['openai', 'xai', 'bedrock'].includes(form)) assert.deepEqual(own, []);
}

/** Batches there that the gateway still looks after. */
async function sentTo(provider: string): Promise<number> {
  const sent = database.read.selectFrom('sent_batches').select('id');
  return (await sent.where('provider', '=', provider).execute()).length;
}

/** True when lines still wait for the end of that batch at the provider. */
async function isNeeded(provider: string, remoteId: string): Promise<boolean> {
  const line = await database.read
    .selectFrom('sent_batches')
    .innerJoin('batch_lines', 'batch_lines.sent_id', 'sent_batches.id')
    .select('sent_batches.id')
    .where('sent_batches.provider', '=', provider)
    .where('sent_batches.state', '=', 'sent')
    .where('sent_batches.remote_id', '=', remoteId)
    .where('batch_lines.outcome', 'is', null)
    .executeTakeFirst();
  return line !== undefined;
}

/** Ends the time of batches with lines at that provider. */
async function endTime(provider: string): Promise<void> {
  const sent = database.read
    .selectFrom('sent_batches')
    .select('batch_id')
    .where('provider', '=', provider);
  await database.write
    .updateTable('batches')
    .set({ expires_at_ms: Date.now() - 1 })
    .where('id', 'in', sent)
    .execute();
}
