// An account's provoked losses have a budget, and an account that has never paid runs only a few
// requests at once. 100 tokens of input and 20 of output cost $0.03 here; the budget is $0.10.
import assert from 'node:assert/strict';
import { changeTerms } from '../../src/domain/accounts/manage-accounts.ts';
import { transact } from '../../src/db/transact.ts';
import { ledgerIdOf, signUpCreditId } from '../../src/domain/ledger/commands.ts';
import { forgiveLosses } from '../../src/domain/ledger/reports/caused-losses.ts';
import { microsFromUsd } from '../../src/lib/money.ts';
import { adminOf } from '../support/admin.ts';
import { answerContent, streamFrames } from '../support/answers.ts';
import { after, before, describe, test, testOn } from '../support/both-stores.ts';
import { endpoint } from '../support/endpoints.ts';
import { metricsToken, startGateway, type TestGateway } from '../support/gateway.ts';
import { noticeKeyChanges } from '../support/notice-key-changes.ts';
import type { RunningApp } from '../support/running-app.ts';
import { TestClock } from '../support/test-clock.ts';
import { whileTimePasses } from '../support/until.ts';
import {
  answerInParts,
  answerJson,
  answerSse,
  answerStatus,
  framesText,
  hang,
  holdBack,
  thenHang,
  thenReset,
  type Script,
} from '../support/upstream.ts';
import { rowsOf } from '../support/rows.ts';

const chat = endpoint('chat');
const upstreamPath = '/v1/messages';
const keptForMs = 5_000;

const model = {
  routes: [{ provider: 'anthropic', model: 'upstream-model' }],
  max_input_tokens: 100_000,
  max_output_tokens: 1_000,
  prices: { input: 100, output: 1_000 },
};

let clock: TestClock;
let gateway: TestGateway<RunningApp>;
before(async () => {
  clock = new TestClock();
  gateway = await startGateway(
    {
      models: {
        dear: { ...model, timeouts: { first_byte_ms: 1_000, idle_ms: 1_000 } },
        patient: { ...model, timeouts: { total_ms: 300_000 } },
        timed: { ...model, timeouts: { total_ms: 4_000 } },
      },
      limits: { loss_budget_usd: 0.1 },
      metrics: { token: metricsToken },
    },
    { clock, tuning: { failuresMax: 1_000 } },
  );
});
after(() => gateway.stop());

const tokens = { input: 100, output: 20 };
const good = answerContent('messages', { text: 'yes', tokens });
const goodStream = streamFrames('messages', { text: 'yes', tokens });
const goodFrames = [...goodStream.start, ...goodStream.deltas, ...goodStream.end];
const callWithoutName = { type: 'tool_use', id: 'toolu_1', name: '', input: {} };
/** A call without a name: the provider bills it, but it cannot be translated. */
const unreadableWith = (inputTokens: number) =>
  answerJson({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'upstream-model',
    content: [callWithoutName],
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: inputTokens, output_tokens: 20 },
  });
const unreadable = unreadableWith(100);

const unreadableStream = answerSse([
  ...goodStream.start,
  {
    event: 'content_block_start',
    data: { type: 'content_block_start', index: 0, content_block: callWithoutName },
  },
]);

type Made = Awaited<ReturnType<TestGateway['makeKey']>>;

const asking = ({ key }: Pick<Made, 'key'>, stream = false) => ({
  key,
  body: chat.body({ model: 'dear', stream }),
});

async function ask(made: Pick<Made, 'key'>, script: Script = good, stream = false) {
  gateway.upstream.on(upstreamPath, script);
  return gateway.post(chat.path, asking(made, stream));
}

const newAccount = (creditUsd = 1_000) => gateway.makeKey({ mode: 'live', creditUsd });

async function entriesOf({ account }: Made) {
  const query = gateway.database.read
    .selectFrom('entries')
    .selectAll()
    .where('ledger_id', '=', ledgerIdOf(account, 'live'));
  return query.where('loss_micros', '>', 0 as never).execute();
}

describe('the loss budget', () => {
  test('an account that provokes undeliverable answers beyond the budget is stopped, and the operator is told once', async () => {
    const attacker = await newAccount();
    for (let sent = 0; sent < 4; sent++)
      assert.equal((await ask(attacker, unreadable)).status, 502);
    const calls = gateway.upstream.requests.length;
    for (const stream of [false, true]) {
      const refused = await ask(attacker, good, stream);
      assert.equal(refused.status, 403, refused.text);
      assert.equal(refused.error.code, 'loss_budget_exceeded');
      assert.match(refused.error.message, /\$0\.12 .*\$0\.10? .*2026-12-21T00:00:00/s);
      const { details } = refused.json<{ error: { details: object } }>().error;
      assert.deepEqual(details, {
        limit: 'loss_budget',
        provoked_loss_micros: 120_000,
        loss_budget_micros: 100_000,
        resets_at: '2026-12-21T00:00:00.000Z',
      });
    }
    assert.equal(gateway.upstream.requests.length, calls, 'nothing was sent');
    assert.equal((await gateway.balance(attacker.account)).availableMicros, 1_000_000_000);
    const warnings = gateway.program.output
      .split('\n')
      .filter((line) => line.includes('exceeded its loss budget'));
    assert.equal(warnings.filter((line) => line.includes(attacker.account)).length, 1);
    assert.match(
      (await gateway.get('/metrics', { key: metricsToken })).text,
      /error_code="loss_budget_exceeded"\} 2/,
    );
    assert.equal((await ask(await newAccount())).status, 200, 'others are not');
    const playing = await gateway.makeKey({ account: attacker.account, mode: 'test' });
    assert.equal((await ask(playing)).status, 200, 'nor are its test keys');
  });

  test('a burst of answers that the account spoils costs the operator at most the budget and one request', async () => {
    const attacker = await newAccount();
    const calls = 60;
    const { script, release } = holdBack((response, request) =>
      ((request.body as { stream?: boolean }).stream ? unreadableStream : unreadable)(
        response,
        request,
      ),
    );
    gateway.upstream.on(upstreamPath, script);
    const earlier = gateway.upstream.requests.length;
    const sent = Array.from({ length: calls }, (_, index) =>
      gateway.post(chat.path, asking(attacker, index % 2 === 0)),
    );
    await gateway.upstream.request(earlier + calls - 1);
    release();
    const replies = await Promise.all(sent);
    const lost = (await entriesOf(attacker)).reduce((sum, entry) => sum + entry.loss_micros, 0);
    assert.ok(lost > 100_000 && lost <= 130_000, `${lost}`);
    const charged = replies.filter(({ text }) => text.includes('It was charged ($0.0'));
    const free = replies.filter(({ text }) => text.includes('Nothing was charged'));
    assert.equal(charged.length + free.length, calls, 'each says so');
    const { data: records } = (
      await gateway.get('/v1/usage?limit=100', { key: attacker.key })
    ).json<{ data: { cost_cents: number }[] }>();
    assert.equal(records.length, charged.length, 'and what was charged is in the history');
    const costs = records.reduce((sum, record) => sum + record.cost_cents * 10_000, 0);
    await gateway.assertLeft(attacker.account, 1_000_000_000 - costs);
  });

  testOn('sqlite', 'an answer without a sign of a model is free beyond the budget', async () => {
    const account = await newAccount();
    const nothing = answerJson({});
    const { script, release } = holdBack(nothing);
    gateway.upstream.on(upstreamPath, script);
    const earlier = gateway.upstream.requests.length;
    const sent = gateway.post(chat.path, asking(account));
    await gateway.upstream.request(earlier);
    for (let spoiled = 0; spoiled < 4; spoiled++) await ask(account, unreadable);
    gateway.upstream.on(upstreamPath, nothing);
    release();
    const reply = await clock.hurry(sent);
    assert.match(reply.text, /cannot be read. Nothing was charged/);
    await gateway.assertLeft(account.account, 1_000_000_000);
  });

  testOn('sqlite', 'what a provider claims beyond the request never counts', async () => {
    const account = await newAccount();
    assert.equal((await ask(account, unreadableWith(90_000_000))).status, 502);
    const losses = await entriesOf(account);
    const sumOf = (provoked: number) =>
      losses.reduce((sum, entry) => sum + (entry.provoked === provoked ? entry.loss_micros : 0), 0);
    assert.ok(sumOf(1) > 0 && sumOf(1) < 400_000, `${sumOf(1)}`);
    assert.equal(sumOf(0) + sumOf(1), 9_000_020_000);
  });

  testOn('sqlite', 'without losses many requests run at once, whatever each may cost', async () => {
    const account = await newAccount();
    const { script, release } = holdBack(good);
    gateway.upstream.on(upstreamPath, script);
    const earlier = gateway.upstream.requests.length;
    const sent = Array.from({ length: 64 }, () => gateway.post(chat.path, asking(account)));
    await gateway.upstream.request(earlier + 63);
    release();
    for (const reply of await Promise.all(sent)) assert.equal(reply.status, 200, reply.text);
  });

  testOn('sqlite', 'whole answers that may take longer share the budget, not streams', async () => {
    const account = await newAccount();
    const post = (fields: object) =>
      gateway.ask(chat, account.key, { model: 'timed', max_completion_tokens: 1_000, ...fields });
    gateway.upstream.on(upstreamPath, hang);
    const earlier = gateway.upstream.requests.length;
    // Its hold of a dollar is more than the budget.
    const first = post({});
    await gateway.upstream.request(earlier);
    const refused = await post({});
    assert.deepEqual([refused.status, refused.error.param], [429, 'stream'], refused.text);
    gateway.upstream.on(upstreamPath, answerSse(goodFrames));
    assert.equal((await post({ stream: true })).status, 200);
    gateway.upstream.on(upstreamPath, good);
    assert.equal((await post({ max_completion_tokens: 99 })).status, 200, 'so little is in time');
    assert.equal((await clock.hurry(first)).status, 504);
  });

  test('running requests finish, and cached or stored answers are still served', async () => {
    const attacker = await newAccount();
    const known = { ...asking(attacker), headers: { 'idempotency-key': 'one' } };
    gateway.upstream.on(upstreamPath, good);
    assert.equal((await gateway.post(chat.path, known)).status, 200);
    const { start, deltas, end } = streamFrames('messages', { text: 'a long answer', tokens });
    const held = answerInParts([...start, ...deltas.slice(0, 1)], [...deltas.slice(1), ...end]);
    gateway.upstream.on(upstreamPath, held.script);
    const earlier = gateway.upstream.requests.length;
    const running = gateway.post(chat.path, asking(attacker, true));
    await gateway.upstream.request(earlier);
    for (let sent = 0; sent < 4; sent++) await ask(attacker, unreadable);
    assert.equal((await ask(attacker)).status, 403);
    held.release();
    const reply = await running;
    assert.match(reply.text, /answer[^]*\[DONE\]/);
    assert.equal((await gateway.post(chat.path, known)).status, 200);
    assert.equal(
      (await gateway.balance(attacker.account)).postedMicros,
      1_000_000_000 - 2 * 30_000,
    );
  });

  testOn('sqlite', 'losses by providers, the network or waiting clients stop nobody', async () => {
    const account = await newAccount();
    const { start, deltas } = streamFrames('messages', { text: 'a long answer', tokens });
    const begun = framesText([...start, ...deltas]);
    const head = { headers: { 'content-type': 'text/event-stream' } };
    const whole = JSON.stringify({ content: [], usage: { input_tokens: 100, output_tokens: 20 } });
    const faults: readonly { readonly script: Script; readonly stream: boolean }[] = [
      { script: answerStatus(500), stream: false },
      { script: answerStatus(429), stream: false },
      { script: thenReset(null), stream: false },
      { script: hang, stream: false },
      { script: thenReset(begun, head), stream: true },
      { script: thenHang(begun, head), stream: true },
      { script: answerSse([...start, { data: 'no JSON' }]), stream: true },
      { script: answerJson(whole), stream: true },
      {
        script: answerJson({
          error: { message: 'no' },
          usage: { input_tokens: 100, output_tokens: 20 },
        }),
        stream: false,
      },
    ];
    for (let round = 0; round < 4; round++) {
      for (const { script, stream } of faults) {
        const reply = await clock.hurry(ask(account, script, stream));
        assert.ok(reply.status >= 500 || stream, `${reply.status} ${reply.text}`);
        assert.doesNotMatch(reply.text, /loss_budget/);
      }
    }
    const entries = await entriesOf(account);
    assert.ok(
      entries.reduce((sum, entry) => sum + entry.loss_micros, 0) > 200_000,
      'losses were booked',
    );
    assert.deepEqual(
      entries.filter(({ provoked }) => provoked === 1),
      [],
    );
    assert.equal((await ask(account)).status, 200);
  });

  testOn('sqlite', 'a whole answer not complete in time counts if it may be long', async () => {
    gateway.upstream.on(upstreamPath, hang);
    // A slow model writes 25 tokens a second.
    for (const [maxTokens, provoked] of Object.entries({ 99: 0, 100: 1 })) {
      const account = await newAccount();
      const body = chat.body({ model: 'timed', max_tokens: Number(maxTokens) });
      const reply = await clock.hurry(gateway.post(chat.path, { key: account.key, body }));
      assert.equal(reply.error.code, 'upstream_timeout');
      const entries = await entriesOf(account);
      assert.deepEqual(
        entries.map((entry) => entry.provoked),
        [provoked],
        `${maxTokens} tokens`,
      );
    }
  });

  testOn('sqlite', 'each call of a request counts, not only the last', async (t) => {
    const own = await startGateway(
      {
        models: { timed: { ...model, timeouts: { total_ms: 4_000 } } },
        retries: { max_attempts: 2 },
      },
      { clock },
    );
    t.after(() => own.stop());
    own.upstream.on(upstreamPath, hang);
    const { key, account } = await own.makeKey({ mode: 'live', creditUsd: 1_000 });
    await clock.hurry(own.post(chat.path, { key, body: chat.body({ model: 'timed' }) }));
    const entries = own.database.read
      .selectFrom('entries')
      .select('provoked')
      .where('ledger_id', '=', ledgerIdOf(account, 'live'))
      .where('loss_micros', '>', 0 as never);
    assert.deepEqual(
      (await entries.execute()).map(({ provoked }) => provoked),
      [1, 1],
    );
  });

  testOn('sqlite', 'a cost beyond the balance counts against the budget', async () => {
    const account = await newAccount(0.22);
    const reply = await ask(
      account,
      answerContent('messages', { text: 'yes', tokens: { input: 20_000, output: 20 } }),
    );
    assert.deepEqual([reply.status, reply.costMicros], [200, 220_000]);
    const [lie, beyond, ...none] = await entriesOf(account);
    // More than the request could cause, which is the provider's fault, and what is left of the cost.
    assert.deepEqual([lie?.kind, lie?.provoked, none], ['release', 0, []]);
    assert.deepEqual([beyond?.kind, beyond?.provoked], ['settle', 1]);
    assert.equal(lie!.loss_micros + beyond!.loss_micros, 2_020_000 - 220_000);
    // The preview of prices that are not changed charges no more than was charged.
    const admin = await adminOf(gateway);
    const body = { changes: [] };
    const { data } = await admin.ok<{ data: object[] }>('POST', '/settings/preview', { body });
    assert.deepEqual(data, []);
    await gateway.makeKey({ account: account.account, creditUsd: 100 });
    assert.equal((await ask(account)).error.code, 'loss_budget_exceeded');
  });

  test('the budget of a paying account grows with its spend', async () => {
    const account = await newAccount();
    const large = answerContent('messages', { text: 'yes', tokens: { input: 100, output: 1_000 } });
    gateway.upstream.on(upstreamPath, large);
    const body = chat.body({ model: 'dear', max_completion_tokens: 1_000 });
    for (let sent = 0; sent < 3; sent++)
      assert.equal(
        (await gateway.post(chat.path, { key: account.key, body })).costMicros,
        1_010_000,
      );
    // A twentieth of $3.03 is $0.1515.
    for (let sent = 0; sent < 5; sent++) assert.equal((await ask(account, unreadable)).status, 502);
    assert.equal((await ask(account)).status, 200);
    assert.equal((await ask(account, unreadable)).status, 502);
    assert.equal((await ask(account)).status, 403);
  });

  test('an operator forgives the losses, and within five seconds the account runs again', async () => {
    const account = await newAccount();
    for (let sent = 0; sent < 4; sent++) await ask(account, unreadable);
    assert.equal((await ask(account)).status, 403);
    const forgiven = await transact(gateway.database.write, (transaction) =>
      forgiveLosses(transaction, account.account),
    );
    assert.equal(forgiven, 120_000);
    await clock.advance(keptForMs);
    assert.equal((await ask(account)).status, 200);
  });
});

test('operators see provoked losses beside accounts, and forgive them there', async () => {
  // The command line uses the system's time.
  const own = await startGateway();
  try {
    const [account, other] = [
      await own.makeKey({ mode: 'live', creditUsd: 5 }),
      await own.makeKey({ mode: 'live', creditUsd: 5 }),
    ];
    await own.provokeLoss(account, 1);
    await own.provokeLoss(account, 0.5);
    await own.provokeLoss(other, 1);
    const list = async () => {
      const listed = await own.program.cli<Record<string, unknown>[]>('accounts', 'list');
      const shown = (id: string) => listed.find((row) => row['id'] === id)!;
      return [account, other].map((made) => [
        shown(made.account)['provoked_loss_micros'],
        shown(made.account)['loss_budget_exceeded'],
      ]);
    };
    assert.deepEqual(await list(), [
      [1_500_000, true],
      [1_000_000, false],
    ]);
    const done = await own.program.cli('accounts', 'update', account.account, '--forgive-losses');
    assert.deepEqual(done, { id: account.account, forgiven_loss_micros: 1_500_000 });
    assert.deepEqual(await list(), [
      [0, false],
      [1_000_000, false],
    ]);
    const changes = await rowsOf(own.database, 'audit_log', { action: 'account.forgive-losses' });
    assert.deepEqual(
      changes.map((change) => change.after),
      ['{"forgiven_loss_micros":1500000}'],
    );
  } finally {
    await own.stop();
  }
});

describe('an account that has never paid', () => {
  const message = /^This account, with all its keys, may run 4 requests at once/;

  test('runs four requests at once, until it is credited or has a limit of its own', async () => {
    const account = await newUnpaidAccount();
    const stop = await runAtOnce(account, 4);
    const refused = await askAtOnce(account);
    assert.equal(refused.status, 429, refused.text);
    assert.match(refused.error.message, message);
    await changeTerms(gateway.database.write, account.account, {
      limits: { concurrentRequests: 6 },
    });
    await noticeKeyChanges(gateway, { clock });
    assert.equal((await askAtOnce(account)).status, 200, 'with its own limit');
    await changeTerms(gateway.database.write, account.account, {
      limits: { concurrentRequests: null },
    });
    await noticeKeyChanges(gateway, { clock });
    assert.equal((await askAtOnce(account)).status, 429);
    await gateway.makeKey({ account: account.account, creditUsd: 1 });
    await clock.advance(keptForMs);
    assert.equal((await askAtOnce(account)).status, 200, 'having paid');
    await stop();
  });

  testOn('sqlite', 'is not limited on its test keys', async () => {
    const { account } = await newUnpaidAccount();
    const playing = await gateway.makeKey({ account, mode: 'test' });
    const slow = {
      key: playing.key,
      body: chat.body({ messages: [{ role: 'user', content: 'sandbox: delay_ms=5000' }] }),
    };
    const replies = await clock.hurry(
      Promise.all(Array.from({ length: 6 }, () => gateway.post(chat.path, slow))),
    );
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]));
  });

  async function newUnpaidAccount(): Promise<Made> {
    const made = await gateway.makeKey({ mode: 'live' });
    await gateway.program.app.gateway.books.ledger.submit({
      type: 'credit',
      entryId: signUpCreditId(made.account),
      ledgerId: ledgerIdOf(made.account, 'live'),
      amountMicros: microsFromUsd(100),
      note: 'sign-up credit',
    });
    return made;
  }

  /** Gateways on one database request permits by timers. */
  const askAtOnce = (made: Made) => whileTimePasses(clock, ask(made));

  /** Returns a function that ends them. */
  async function runAtOnce(made: Made, count: number): Promise<() => Promise<unknown>> {
    const earlier = gateway.upstream.requests.length;
    gateway.upstream.on(upstreamPath, hang);
    const body = chat.body({ model: 'patient' });
    const left = Array.from({ length: count }, () =>
      gateway.open(chat.path, { key: made.key, body }),
    );
    await whileTimePasses(clock, gateway.upstream.request(earlier + count - 1));
    return async () => {
      for (const { request } of left) request.destroy();
      await clock.advanceUntil(() => gateway.program.app.gateway.runs.count === 0);
    };
  }
});
