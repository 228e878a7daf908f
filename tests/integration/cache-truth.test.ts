// What the usage API says of providers' prompt caches, beside the bill of a provider that keeps
// caches as Anthropic documents them: what was read, what was not, why, and what that cost.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { reportCaches, type CacheReport } from '../../src/domain/ledger/reports/cache-report.ts';
import type { NamedCacheReport } from '../../src/management/contract/usage.ts';
import type { RequestDetail } from '../../src/management/contract/requests.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { agents, fileOf, type Agent } from '../support/agent-conversations.ts';
import { answerContent } from '../support/answers.ts';
import {
  cachingPrices,
  cachingProvider,
  costOf,
  type CachingProvider,
} from '../support/caching-provider.ts';
import { signIn } from '../support/dashboard.ts';
import { startGateway, type KeyOptions } from '../support/gateway.ts';
import { ok } from '../support/http.ts';
import { runCommand } from '../support/run-command.ts';
import { TestClock } from '../support/test-clock.ts';
import { answerStatus, startUpstream } from '../support/upstream.ts';
import { columnOf } from '../support/column-of.ts';

const clock = new TestClock();

const second = await startUpstream();
const limits = { max_input_tokens: 500_000, max_output_tokens: 8_000, prices: cachingPrices };
const claude = { routes: [{ provider: 'anthropic', model: 'claude-sonnet-5' }], ...limits };
const routes = ['anthropic', 'second'].map((provider) => ({
  provider,
  model: 'claude-sonnet-5',
  rank: 0,
}));
const gateway = await startGateway(
  {
    providers: { second: { kind: 'anthropic', base_url: second.url, api_key: 'none' } },
    retries: { max_attempts: 2 },
    models: {
      claude,
      unmarked: { ...claude, cache_marks: false },
      large: { ...claude, routes: [{ provider: 'anthropic', model: 'claude-opus-4-5' }] },
      two: { ...limits, routes },
      local: { ...limits, routes: [{ provider: 'local', model: 'small' }] },
    },
  },
  { clock },
);
after(async () => {
  await gateway.stop();
  await second.close();
});

type Played = {
  readonly model?: string;
  readonly turns?: number;
  readonly controls?: KeyOptions;
  /** The shortest prompt that the provider keeps. */
  readonly tokensMin?: number;
  /** Runs before a turn, from 1, and may change its request. */
  readonly before?: (
    turn: number,
    request: JsonObject,
    failLast: () => void,
  ) => Promise<JsonObject> | JsonObject;
};

/** Plays a conversation from a new account, and returns the provider's bill and the key. */
async function play(client: (task: string) => Agent, played: Played = {}) {
  const { model = 'claude', turns = 6, controls = {}, tokensMin, before: change } = played;
  const { key, id, account } = await gateway.makeKey({ mode: 'live', creditUsd: 100, ...controls });
  const upstreams = [gateway.upstream, second];
  let last = 0;
  const providers = upstreams.map((upstream, index): CachingProvider => {
    const provider = cachingProvider(clock, tokensMin);
    upstream.on('/v1/messages', (response, asked) => {
      last = index;
      return provider.script(response, asked);
    });
    return provider;
  });
  /** The route that served the last turn fails from now on. */
  const failLast = () => upstreams[last]!.on('/v1/messages', answerStatus(503));
  const agent = client('Mend the failing test.');
  let request = agent.first;
  const ids: string[] = [];
  for (let turn = 1; turn <= turns; turn++) {
    const sent = (await change?.(turn, request, failLast)) ?? request;
    const body = { model, ...sent };
    const reply = await clock.skipWaits(gateway.post(agent.path, { key, body }));
    assert.equal(reply.status, 200, reply.text);
    ids.push(String(reply.headers['x-request-id']));
    request = agent.next(sent, reply.json<JsonObject>(), fileOf(turn));
    await clock.advance(20_000);
  }
  const billed = providers.flatMap((provider) => provider.billed);
  const sum = (field: keyof (typeof billed)[number]) =>
    billed.reduce((total, usage) => total + usage[field], 0);
  return { key, id, account, ids, billedUsd: costOf(billed), read: sum('cache_read_input_tokens') };
}

async function reportOf(key: string, query = ''): Promise<CacheReport> {
  return (await ok(gateway.get(`/v1/usage/prompt-cache${query}`, { key }))).json<CacheReport>();
}

/** The report, which must agree with the provider's bill, and its misses by reason. */
async function checked({ key, billedUsd, read }: Awaited<ReturnType<typeof play>>) {
  const report = await reportOf(key, '?by=conversation');
  const { total, rows, cut_at: cutAt } = report;
  assert.ok(Math.abs(total.cost_micros / 1_000_000 - billedUsd) < 0.0001, 'the provider’s bill');
  assert.equal(total.read_tokens, read, 'what the provider read');
  const missed = total.missed.reduce((sum, { tokens }) => sum + tokens, 0);
  assert.equal(total.read_tokens + missed + total.new_tokens, total.input_tokens);
  assert.equal(cutAt, null);
  assert.equal(rows.length, 1);
  const reasons = Object.fromEntries(total.missed.map((miss) => [miss.reason, miss]));
  return { report, total, conversation: rows[0]!, reasons };
}

/** What a conversation costs more than the same without its fault, in microdollars. */
const more = (one: { billedUsd: number }, other: { billedUsd: number }) =>
  Math.round((one.billedUsd - other.billedUsd) * 1_000_000);

/** Charges are rounded up; the provider's bill is not. */
function near(one: number, other: number, within = 1): void {
  assert.ok(Math.abs(one - other) <= within, `${one} is not about ${other}`);
}

test('forty turns are read but for what is new, and what the marks saved is said', async () => {
  const chat = await play(agents.chat, { turns: 40 });
  const { total, reasons } = await checked(chat);
  assert.deepEqual(Object.keys(reasons), ['first-turn']);
  assert.equal(total.requests, 40);
  assert.ok(total.read_tokens > 0.85 * total.input_tokens);
  const unmarked = await play(agents.chat, { turns: 40, model: 'unmarked' });
  near(total.saved_by_marks_micros, more(unmarked, chat), total.requests);
  assert.equal(total.saved_micros, total.saved_by_marks_micros);
  const messages = await checked(await play(agents.messages, { turns: 40 }));
  assert.deepEqual(
    [messages.total.saved_by_marks_micros, messages.total.saved_micros > 0],
    [0, true],
  );
});

test('a changed beginning is named with its turn and its cost', async () => {
  const named = (request: JsonObject) => ({ prompt_cache_key: 'session-1', ...request });
  const whole = await play(agents.chat, { before: (_turn, request) => named(request) });
  const changed = await play(agents.chat, {
    before(turn, request) {
      const [system, ...rest] = request.messages as JsonObject[];
      const told = { ...system, content: `${system!.content as string} It is noon.` };
      return turn === 4 ? named({ ...request, messages: [told, ...rest] }) : named(request);
    },
  });
  const { conversation, reasons } = await checked(changed);
  assert.deepEqual(Object.keys(reasons), ['first-turn', 'changed']);
  assert.equal(reasons.changed!.turn, 4);
  assert.deepEqual(conversation.missed, Object.values(reasons));
  // A few tokens more are sent because of the change itself.
  const rest = more(changed, whole) - reasons.changed!.cost_micros;
  assert.ok(rest >= 0 && rest < 0.02 * reasons.changed!.cost_micros, String(rest));
});

test('a conversation that waited too long has expired', async () => {
  const whole = await play(agents.chat);
  const late = await play(agents.chat, {
    before: async (turn, request) => {
      if (turn === 4) await clock.advance(6 * 60_000);
      return request;
    },
  });
  const { reasons } = await checked(late);
  assert.deepEqual(Object.keys(reasons), ['first-turn', 'expired']);
  assert.equal(reasons.expired!.turn, 4);
  near(reasons.expired!.cost_micros, more(late, whole));
});

test('a route that fails sends a conversation to another cache', async () => {
  const whole = await play(agents.chat, { model: 'two' });
  const { total: kept } = await checked(whole);
  assert.ok(kept.saved_by_affinity_micros > 0);
  const failing = await play(agents.chat, {
    model: 'two',
    before(turn, request, failLast) {
      if (turn === 4) failLast();
      return request;
    },
  });
  const { reasons } = await checked(failing);
  assert.deepEqual(Object.keys(reasons), ['first-turn', 'other-route']);
  assert.equal(reasons['other-route']!.turn, 4);
  // The other route numbers its calls anew, which is some tokens less.
  near(reasons['other-route']!.cost_micros, more(failing, whole), 20);
});

test('short prompts, unmarked ones and keys without marks say so', async () => {
  // Opus 4.5 keeps prompts from 4,096 tokens on.
  const short = await play(agents.chat, { model: 'large', tokensMin: 4_096 });
  assert.equal((await checked(short)).reasons['below-minimum']!.turn, 2);
  const unmarked = await checked(await play(agents.chat, { model: 'unmarked' }));
  assert.deepEqual(Object.keys(unmarked.reasons), ['first-turn', 'unmarked']);
  const switchedOff = await checked(await play(agents.chat, { controls: { marksCache: false } }));
  assert.equal(switchedOff.reasons.unmarked!.cost_micros, unmarked.reasons.unmarked!.cost_micros);
  // The client's own marks are passed on.
  const own = await checked(await play(agents.messages, { controls: { marksCache: false } }));
  assert.deepEqual(Object.keys(own.reasons), ['first-turn']);
});

test('the dashboard shows the same with names, and the reason of one request', async () => {
  const controls = { name: 'Laptop' };
  const played = await play(agents.chat, { model: 'unmarked', turns: 3, controls });
  const { key, id, account, ids } = played;
  const member = await signIn(gateway, { role: 'viewer', account });
  const day = new Date(clock.nowMs()).toISOString().slice(0, 10);
  const query = `mode=live&from=${day}&to=${day}&by=key`;
  const path = `/accounts/${account}/prompt-cache?${query}`;
  const { rows, ...shown } = (await ok(member.get(path))).json<NamedCacheReport>();
  const { rows: own, ...report } = await reportOf(key, `?from=${day}&to=${day}&by=key`);
  assert.deepEqual(shown, report);
  assert.deepEqual(
    rows,
    own.map((row) => ({ ...row, name: 'Laptop' })),
  );
  assert.deepEqual(columnOf(rows, 'id'), [id]);
  const missed = [];
  for (const request of ids) {
    const detail = await ok(member.get(`/accounts/${account}/requests/${request}`));
    missed.push(detail.json<RequestDetail>().charge!.cache_miss!);
  }
  assert.deepEqual(columnOf(missed, 'reason'), ['first-turn', 'unmarked', 'unmarked']);
  const sum = missed.reduce((total, one) => total + one.cost_micros, 0);
  assert.equal(sum, report.total.missed[1]!.cost_micros);
});

test('an account sees its own conversations only, and days that are asked for', async () => {
  const mine = await play(agents.chat, { turns: 2 });
  const other = await play(agents.chat, { turns: 2 });
  const [one] = (await reportOf(mine.key, '?by=conversation')).rows;
  const [two] = (await reportOf(other.key, '?by=conversation')).rows;
  assert.match(one!.id, /^[\w-]{12}$/);
  assert.notEqual(one!.id, two!.id);
  assert.equal((await reportOf(mine.key, `?key=${other.id}`)).total.requests, 0);
  assert.equal((await reportOf(mine.key, '?model=claude')).total.requests, 2);
  assert.equal((await reportOf(mine.key, '?model=unmarked')).total.requests, 0);
  assert.equal((await reportOf(mine.key, '?from=2020-01-01&to=2020-01-31')).total.requests, 0);
  const queries = { limit: 'limit=3', by: 'by=account', from: 'from=2020-01-01' };
  for (const [param, query] of Object.entries(queries)) {
    const reply = await gateway.get(`/v1/usage/prompt-cache?${query}`, { key: mine.key });
    assert.deepEqual([reply.status, reply.error.param], [400, param], reply.text);
  }
});

test('the hour before a report explains its first requests, and is not counted', async () => {
  const { key } = await play(agents.chat, { turns: 3 });
  const from = new Date(clock.nowMs() - 50_000).toISOString();
  const { total, rows } = await reportOf(key, `?from=${from}`);
  assert.deepEqual([total.requests, rows.length, rows[0]!.requests], [2, 1, 2]);
  assert.ok(!total.missed.some(({ reason }) => reason === 'first-turn'), 'it goes on');
});

test('only the newest charges are counted when there are too many, and the report says so', async () => {
  const { account } = await play(agents.chat, { turns: 5 });
  const ask = (chargesMax: number) =>
    reportCaches(gateway.database.read, {
      ledgerIds: [`${account}:live`],
      fromMs: 0,
      toMs: clock.nowMs(),
      by: 'model',
      chargesMax,
      upstreamModelOf: () => 'claude-sonnet-5',
    });
  const [whole, cut] = [await ask(5), await ask(3)];
  assert.deepEqual([whole.total.requests, whole.cut_at], [5, null]);
  assert.equal(cut.total.requests, 3);
  assert.ok(Date.parse(cut.cut_at!) <= Date.parse(cut.rows[0]!.last_at) - 40_000);
});

test('OpenAI is told how long to keep a prompt, other hosts are not, and 12 hours are refused', async () => {
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 10 });
  const kept = { prompt_cache_retention: '24h', prompt_cache_options: { ttl: '30m' } };
  for (const [wire, model, path, fields] of [
    ['responses', 'gpt-6-luna', '/v1/responses', { input: 'Hi' }],
    ['chat', 'gpt-6-luna', '/v1/chat/completions', { messages: [user] }],
    ['chat', 'local', '/local/v1/chat/completions', { messages: [user] }],
  ] as const) {
    gateway.upstream.on(
      path,
      answerContent(wire, { text: 'Yes.', tokens: { input: 4, output: 1 } }),
    );
    const at = wire === 'chat' ? '/v1/chat/completions' : path;
    const ask = (options: object) =>
      gateway.postRecorded(at, { key, body: { model, ...fields, ...options } });
    const { reply, asked } = await ask(kept);
    assert.equal(reply.status, 200, reply.text);
    const sent = asked[0]!.body as JsonObject;
    const isOpenAi = model !== 'local';
    assert.equal(sent.prompt_cache_retention, isOpenAi ? '24h' : undefined);
    assert.deepEqual(sent.prompt_cache_options, isOpenAi ? { ttl: '30m' } : undefined);
    const refused = await ask({ prompt_cache_options: { ttl: '12h' } });
    assert.equal(refused.reply.status, 400);
    assert.equal(refused.reply.error.param, 'prompt_cache_options.ttl');
    assert.deepEqual(refused.asked, []);
  }
});
const user = { role: 'user', content: 'Hi' };

test('the command line reports all accounts', async () => {
  await play(agents.chat, { turns: 2 });
  const { program } = gateway;
  const report = ['report', '--prompt-cache', '--by'];
  const { rows, total } = await program.cli<CacheReport>(...report, 'account');
  assert.ok(rows.length > 1);
  assert.equal(
    rows.reduce((sum, row) => sum + row.cost_micros, 0),
    total.cost_micros,
  );
  const table = await runCommand([...report, 'conversation'], program.env);
  assert.match(table, /^conversation +cache +requests/);
  assert.match(table, /not: expired/);
});
