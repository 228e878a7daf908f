// The ways in which a provider's own batch API fails: whatever it does, each line is settled once. Each
// case has a provider of its own, and they run at the same time.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { answerContent } from '../support/answers.ts';
import type { BatchProvider } from '../support/batch-provider.ts';
import {
  costMicros,
  type Form,
  good,
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
import { answerStatus, thenReset, type Script } from '../support/upstream.ts';

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
const ids = runs.map((_, index) => `case-${index}`);
const forms = Object.fromEntries(runs.map(({ form }, index) => [ids[index]!, form]));
const { providers, newKey, hurry, clients, resultsOf, lossesOf, assertSpent } =
  await startPassing(forms);

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
