// Accounts that bring keys of their own for a provider: who is called with which key, what it costs,
// and that nothing of one account's key reaches another's requests or the operator's routes.
import assert from 'node:assert/strict';
import { isOwnKeyVersion } from '../../src/domain/catalog/price.ts';
import { isOwnKeyName } from '../../src/terms/own-key.ts';
import { answerContent, wholeAnswer } from '../support/answers.ts';
import { adminOf, type AdminClient } from '../support/admin.ts';
import { after, before, test, testOn } from '../support/both-stores.ts';
import { signIn, type DashboardClient } from '../support/dashboard.ts';
import { startGateway, upstreamKey, type TestGateway } from '../support/gateway.ts';
import { jsonOf, ok, type Reply } from '../support/http.ts';
import { noticeKeyChanges } from '../support/notice-key-changes.ts';
import { numberedAnswers } from '../support/numbered-answers.ts';
import { endpoint } from '../support/endpoints.ts';
import {
  bflAt,
  bflTakes,
  imagePaths,
  inputs,
  openaiDraws,
  playImageProviders,
} from '../support/image-upstreams.ts';
import { answerCutOff } from '../support/images/local-image-provider.ts';
import { rowsOf } from '../support/rows.ts';
import { taskSamples } from '../support/task-samples.ts';
import { TestClock } from '../support/test-clock.ts';
import type { RunningApp } from '../support/running-app.ts';
import {
  answerJson,
  answerSse,
  answerStatus,
  framesText,
  thenReset,
  type LocalUpstream,
  type Script,
} from '../support/upstream.ts';
import { chatTurns } from '../support/turns-chat.ts';
import { untilNoticed } from '../support/until.ts';

const chat = endpoint('chat');
const content = { text: 'one two', tokens: { input: 1_000, output: 200 } };
const answer = answerJson(wholeAnswer('chat', content));
const path = '/host/v1/chat/completions';
/** $1 and $10 a million: the request of `content` costs 3,000 microdollars, 10 % and a fee 310. */
const prices = { input: 1, output: 10 };
const [listMicros, ownMicros] = [3_000, 310];
const routes = [{ provider: 'host', model: 'up', api: 'chat' }];

const takingKeys = (kind: string, base_url: string) => ({
  kind,
  base_url,
  api_key: upstreamKey,
  accounts_may_bring_keys: true,
});
const configOf = (upstream: LocalUpstream) => ({
  providers: {
    bfl: { ...bflAt(upstream, upstreamKey), accounts_may_bring_keys: true },
    host: takingKeys('openai-compatible', `${upstream.url}/host/v1`),
    second: { credential_of: 'host', api_key: 'sk-second-of-the-operator', weight: 0.001 },
    closed: {
      kind: 'openai-compatible',
      base_url: `${upstream.url}/closed/v1`,
      api_key: 'sk-closed',
    },
    openai: takingKeys('openai', `${upstream.url}/v1`),
    claude: takingKeys('anthropic', `${upstream.url}/claude`),
  },
  models: {
    sold: { routes, prices, max_output_tokens: 500 },
    closed: { routes: [{ provider: 'closed', model: 'up' }], prices },
    counted: { routes: [{ provider: 'claude', model: 'up' }], prices },
    searching: { routes: [...routes, { provider: 'openai', model: 'up' }], prices },
    ...Object.fromEntries(
      taskSamples.map((task) => [
        `a-${task.type}`,
        { type: task.type, prices: task.prices, routes: [{ provider: 'host', model: 'up' }] },
      ]),
    ),
  },
  pricing: { own_key_percent: 10, own_key_fee: 0.00001 },
  retries: { max_attempts: 3 },
});

/** Shorter than usual: each second of the clock has its looks at the database. */
const ejectionMsMax = 60_000;
let clock: TestClock;
let gateway: TestGateway<RunningApp>;
let admin: AdminClient;

before(async () => {
  clock = new TestClock();
  gateway = await startGateway(configOf, { clock, tuning: { backoffMs: 0, ejectionMsMax } });
  admin = await adminOf(gateway);
});
after(() => gateway.stop());

type OwnKey = {
  readonly id: string;
  readonly order: string;
  readonly shown_end: string;
  readonly is_usable: boolean;
  readonly last_used_at: string | null;
  readonly last_refused_at: string | null;
};

type Own = { readonly order?: 'before' | 'after'; readonly provider?: string };

let customers = 0;

/** An account with a live key; with `own`, one that brings a key, which is in use. */
async function customer(own: Own | null = {}, creditUsd = 5) {
  const owner = await signIn(gateway);
  const { key } = await gateway.makeKey({ mode: 'live', account: owner.account, creditUsd });
  // In no usual form: only who knows it can remove it from what a provider says.
  const secret = `Of.the.customer.${String(customers++).padStart(6, '0')}`;
  const ownKey = own && (await bring(owner, { api_key: secret, ...own }));
  await noticeKeyChanges(gateway, { clock });
  return { owner, key, secret, ownKey: ownKey! };
}

function bring(owner: DashboardClient, fields: object): Promise<OwnKey> {
  return jsonOf(owner.post(pathOf(owner), { provider: 'host', ...fields }));
}

const pathOf = ({ account }: DashboardClient) => `/accounts/${account}/own-keys`;

async function listOf(owner: DashboardClient): Promise<OwnKey[]> {
  return (await jsonOf<{ keys: OwnKey[] }>(owner.get(pathOf(owner)))).keys;
}

let questions = 0;

/** Asks something new; `used` are the keys with which the provider was asked for it, in order. */
async function ask(key: string, fields: object = {}, headers = {}) {
  const question = `Question ${questions++}.`;
  const messages = [{ role: 'user', content: question }];
  const body = { model: 'sold', messages, max_tokens: 300, ...fields };
  const { reply, asked } = await send(chat.path, { key, body, headers });
  const own = 'messages' in fields ? asked : asked.filter(({ text }) => text.includes(question));
  return { reply, used: own.map(keyOf) };
}

/** Sends a request; `asked` are the provider's. */
const send = (at: string, options: Parameters<TestGateway['post']>[1]) =>
  gateway.recordUpstream(() => clock.skipWaits(gateway.post(at, options)));

const keyOf = ({ headers }: LocalUpstream['requests'][number]) =>
  String(headers['x-key'] ?? headers['x-api-key'] ?? String(headers.authorization).slice(7));
/** Answers one key otherwise than all others. */
const byKey =
  (secret: string, own: Script, other: Script): Script =>
  (response, request) =>
    (keyOf(request) === secret ? own : other)(response, request);
const routeOf = ({ headers }: Reply) => headers['x-service-route'];

/** Refuses these keys, and answers with others. */
function refuse(status: number, ...keys: readonly string[]): void {
  gateway.upstream.on(path, (response, request) => {
    const key = keyOf(request);
    const body = { error: { message: `Incorrect API key provided: ${key}` } };
    const script = keys.includes(key) ? answerStatus(status, { body }) : answer;
    return script(response, request);
  });
}

test('an own key is called first, at a part of the price, and the books say so', async () => {
  gateway.upstream.on(path, answer);
  const { owner, key, secret } = await customer();
  const { reply, used } = await ask(key);
  assert.deepEqual(used, [secret]);
  assert.equal(routeOf(reply), 'host:own');
  assert.equal(reply.costMicros, ownMicros);
  const [detail] = (await gateway.usage<{ request_id: string }>(key)).map((one) => one.request_id);
  const shown = await ok(owner.get(`/accounts/${owner.account}/requests/${detail}`));
  assert.match(shown.text, /"provider":"host:own"/);
  const [charge] = (await rowsOf(gateway.database, 'charges')).filter(
    (row) => row.provider === 'host:own' && row.id === detail,
  );
  assert.equal(charge!.price_version, '0~own');
  assert.equal(Number(charge!.cost_micros), ownMicros);
  assert.equal(Number(charge!.upstream_cost_micros), 0);
  const balance = await gateway.balance(owner.account);
  assert.equal(balance.postedMicros, 5_000_000 - ownMicros);
  assert.equal(balance.heldMicros, 0);
});

testOn('sqlite', 'an own key that comes after is called when the operator’s fails', async () => {
  gateway.upstream.on(path, answer);
  const { owner, key, secret, ownKey } = await customer({ order: 'after' });
  const first = await ask(key);
  assert.notEqual(first.used[0], secret);
  assert.equal(first.reply.costMicros, listMicros);
  refuse(503, upstreamKey, 'sk-second-of-the-operator');
  const { reply, used } = await ask(key);
  assert.equal(used.at(-1), secret);
  assert.equal(reply.costMicros, ownMicros);
  gateway.upstream.on(path, answer);
  const changed = await jsonOf<OwnKey>(
    owner.patch(`${pathOf(owner)}/${ownKey.id}`, { order: 'before' }),
  );
  assert.equal(changed.order, 'before');
  await noticeKeyChanges(gateway, { clock });
  assert.deepEqual((await ask(key)).used, [secret]);
});

testOn('sqlite', 'a refused own key is free, and the operator’s route has its price', async () => {
  const { owner, key, secret } = await customer();
  const other = await customer();
  refuse(401, secret);
  const { reply, used } = await ask(key);
  assert.equal(used[0], secret);
  assert.equal(routeOf(reply), used[1] === upstreamKey ? 'host' : 'second');
  assert.equal(reply.costMicros, listMicros);
  // Its own breaker is open: it is not called again for a while. Nobody else is concerned.
  assert.ok(!(await ask(key)).used.includes(secret));
  assert.deepEqual((await ask(other.key)).used, [other.secret]);
  const plain = await customer(null);
  assert.equal((await ask(plain.key)).used.length, 1);
  const states = gateway.program.app.gateway.hosts.routing.health.states();
  assert.ok(states.every(({ provider }) => !isOwnKeyName(provider)));
  const own = await untilNoticed(clock, async () => {
    const [found] = await listOf(owner);
    return found!.last_refused_at !== null && found!;
  });
  assert.equal(own.shown_end, secret.slice(-4));
  const losses = (await rowsOf(gateway.database, 'entries')).filter(
    (row) => row.ledger_id.startsWith(owner.account) && Number(row.loss_micros) > 0,
  );
  assert.deepEqual(losses, []);
  assert.ok(!gateway.program.output.includes(secret));
});

testOn('sqlite', 'without another route the client hears of the refused key', async () => {
  const { owner, key, secret } = await customer();
  refuse(401, secret, upstreamKey, 'sk-second-of-the-operator');
  // Until the operator's routes are out of use.
  const stranger = await customer(null);
  await ask(stranger.key);
  const { reply } = await ask(key);
  const { error } = reply;
  const ours = error.code === 'upstream_error' && error.message.includes('own key');
  assert.ok(ours, reply.text);
  assert.match(error.message, /The account's own key for host was refused by host, with HTTP 401/);
  assert.ok(!reply.text.includes(secret));
  assert.equal((await gateway.balance(owner.account)).postedMicros, 5_000_000);
  // The operator's credentials are used again.
  gateway.upstream.on(path, answer);
  await clock.advance(2 * ejectionMsMax);
  for (let number = 0; number < 4; number++) await ask(stranger.key);
});

testOn('sqlite', 'a provider that quotes an own key to the client is not passed on', async () => {
  const { key, secret } = await customer();
  for (const status of [400, 404, 422, 500]) {
    gateway.upstream.on(path, (response, request) => {
      const sent = keyOf(request);
      const error = { message: `Bad ${sent}!`, code: sent, param: sent };
      return answerStatus(status, { body: { error } })(response, request);
    });
    const { reply, used } = await ask(key);
    assert.equal(used[0], secret);
    assert.notEqual(reply.status, 200);
    assert.ok(!JSON.stringify([reply.text, reply.headers]).includes(secret), reply.text);
  }
  const streamed = await customer();
  gateway.upstream.on(path, (response, { headers }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`data: {"error":{"message":"Bad ${headers.authorization}!"}}\n\n`);
  });
  const { reply } = await ask(streamed.key, { stream: true });
  assert.ok(!reply.text.includes(streamed.secret), reply.text);
  assert.ok(!gateway.program.output.includes(secret));
  gateway.upstream.on(path, answer);
  await clock.advance(2 * ejectionMsMax);
  const { key: probing } = await customer(null);
  for (let number = 0; number < 4; number++) await ask(probing);
});

test('an account hears of its refused key, and no other and no operator does', async () => {
  const { owner, key, secret } = await customer();
  const other = await customer();
  for (const { owner: by } of [{ owner }, other])
    await ok(
      by.post(`/accounts/${by.account}/alert-endpoints`, {
        kind: 'webhook',
        address: 'https://example.com/hook',
      }),
    );
  refuse(403, secret);
  await ask(key);
  const events = await untilNoticed(clock, async () => {
    const rows = (await rowsOf(gateway.database, 'events')).filter(
      (row) => row.type === 'own_key.refused',
    );
    return rows.length > 0 && rows;
  });
  assert.deepEqual(
    events.map((row) => row.account_id),
    [owner.account],
  );
  assert.ok(!events[0]!.data.includes(secret));
  const deliveries = await rowsOf(gateway.database, 'event_deliveries');
  assert.equal(deliveries.filter((row) => row.event_id === events[0]!.id).length, 1);
  const operators = (await rowsOf(gateway.database, 'events')).filter(
    (row) => row.type === 'credential.refused' && row.data.includes(':own'),
  );
  assert.deepEqual(operators, []);
});

test('cached answers, replays and shared runs stay in their account', async () => {
  gateway.upstream.on(path, numberedAnswers(chat));
  const [one, other] = [await customer(), await customer()];
  const same = { messages: [{ role: 'user', content: 'The same for both' }], temperature: 0 };
  const named = { 'idempotency-key': 'order-1' };
  for (const headers of [{}, named]) {
    const [first, second] = [
      await ask(one.key, same, headers),
      await ask(other.key, same, headers),
    ];
    assert.deepEqual(
      [first.used, second.used].map((used) => used.length),
      headers === named ? [0, 0] : [1, 1],
    );
    assert.notEqual(first.reply.text, second.reply.text);
  }
  const fresh = { ...same, messages: [{ role: 'user', content: 'At once' }] };
  const { asked } = await gateway.recordUpstream(async () => {
    const body = { model: 'sold', max_tokens: 300, ...fresh };
    const sent = [one, other, one, other].map(({ key }) =>
      clock.skipWaits(gateway.post('/v1/chat/completions', { key, body })),
    );
    const replies = await Promise.all(sent);
    assert.equal(replies[0]!.json<{ choices: unknown }>().choices !== undefined, true);
    return replies[0]!;
  });
  const used = asked.map(keyOf).toSorted();
  assert.deepEqual(used, [one.secret, other.secret].toSorted());
});

testOn('sqlite', 'two own keys share the conversations, and each keeps to one', async () => {
  gateway.upstream.on(path, answer);
  const { owner, key, secret } = await customer();
  const further = 'sk-the-other-of-the-customer';
  await bring(owner, { api_key: further });
  await noticeKeyChanges(gateway, { clock });
  const seen = new Set<string>();
  for (let number = 0; number < 12; number++) {
    const messages = [{ role: 'user', content: `Conversation ${number}` }];
    const { used } = await ask(key, { messages, cache: false });
    const again = await ask(key, { messages: [...messages, { role: 'user', content: 'more' }] });
    assert.deepEqual(again.used, used);
    seen.add(used[0]!);
  }
  assert.deepEqual([...seen].toSorted(), [further, secret].toSorted());
});

test('a removed key is called by no request that begins after, also under load', async () => {
  gateway.upstream.on(path, answer);
  const { owner, key, secret, ownKey } = await customer();
  const load = new AbortController();
  const loading = (async () => {
    const statuses: number[] = [];
    while (!load.signal.aborted) statuses.push((await ask(key)).reply.status);
    return statuses;
  })();
  await ok(owner.delete(`${pathOf(owner)}/${ownKey.id}`));
  await noticeKeyChanges(gateway, { clock });
  const during = await ask(key);
  load.abort();
  const statuses = await loading;
  assert.ok(statuses.length > 0 && statuses.every((status) => status === 200));
  const later = await ask(key);
  assert.ok(during.used.length > 0 && later.used.length > 0);
  assert.ok(![...during.used, ...later.used].includes(secret));
  assert.deepEqual(await listOf(owner), []);
});

testOn('sqlite', 'each way to ask a chat model, and each batch line, uses an own key', async () => {
  gateway.upstream.on(path, answer);
  const { key, secret, owner } = await customer();
  const messages = [{ role: 'user', content: 'Hi' }];
  const line = { model: 'sold', max_tokens: 300, messages };
  const asks: Readonly<Record<string, object>> = {
    '/v1/responses': { model: 'sold', input: 'Hi', max_output_tokens: 300 },
    '/v1/messages': line,
    '/v1/completions': { model: 'sold', prompt: 'Hi', max_tokens: 300 },
    '/v1beta/models/sold:generateContent': { contents: [{ parts: [{ text: 'Hi' }] }] },
  };
  for (const [at, body] of Object.entries(asks)) {
    const { reply, asked } = await send(at, { key, body });
    assert.equal(reply.status, 200, reply.text);
    assert.deepEqual(asked.map(keyOf), [secret], at);
    assert.equal(reply.costMicros, ownMicros, at);
  }
  const sent = gateway.upstream.requests.length;
  const { id } = await jsonOf<{ id: string }>(
    gateway.post('/v1/messages/batches', {
      key,
      body: { requests: ['a', 'b'].map((custom_id) => ({ custom_id, params: line })) },
    }),
  );
  await untilNoticed(clock, async () => {
    const batch = await gateway.get(`/v1/messages/batches/${id}`, { key });
    return batch.text.includes('"processing_status":"ended"');
  });
  assert.deepEqual(gateway.upstream.requests.slice(sent).map(keyOf), [secret, secret]);
  const balance = await gateway.balance(owner.account);
  assert.deepEqual([balance.postedMicros, balance.heldMicros], [5_000_000 - 6 * ownMicros, 0]);
});

testOn(
  'sqlite',
  'tasks run with an own key for a part of their price, or with the operator’s where it is refused',
  async () => {
    const { key, secret } = await customer();
    for (const task of taskSamples) {
      const { path: at, hostPath, type, answer: script, costMicros, heldMicros } = task;
      const request = task.request(`a-${type}`);
      const askWith = async (scripted: Script) => {
        gateway.upstream.on(`/host/v1${hostPath}`, scripted);
        const headers = { ...request.headers, 'x-service-cache': 'false' };
        const { reply, asked } = await send(at, { ...request, key, headers });
        return { reply, used: asked.map(keyOf) };
      };
      const own = await askWith(script);
      assert.equal(own.reply.status, 200, `${at} ${own.reply.text}`);
      assert.deepEqual(own.used, [secret], at);
      assert.equal(routeOf(own.reply), 'host:own', at);
      assert.equal(own.reply.costMicros, Math.ceil(costMicros / 10) + 10, at);
      const id = String(own.reply.headers['x-request-id']);
      const [charge] = await rowsOf(gateway.database, 'charges', { id });
      assert.equal(charge!.upstream_cost_micros, 0, at);
      assert.ok(isOwnKeyVersion(charge!.price_version), at);

      const other = await askWith(byKey(secret, answerStatus(401), script));
      assert.equal(other.reply.costMicros, costMicros, at);
      assert.deepEqual([other.used[0], other.used.length], [secret, 2], at);

      const refused = await askWith(answerStatus(401));
      assert.equal(refused.reply.status, 502, at);
      assert.equal(refused.reply.error.details?.['own_key_of'], 'host', at);
      assert.ok(!refused.reply.text.includes(secret), at);
      await clock.advance(2 * ejectionMsMax);
      // The usual price and the fee are held.
      gateway.upstream.on(`/host/v1${hostPath}`, script);
      for (const [missing, status] of [
        [1, 402],
        [0, 200],
      ] as const) {
        const poor = await customer({}, (heldMicros + 10 - missing) / 1_000_000);
        const reply = await gateway.post(at, { ...request, key: poor.key });
        assert.equal(reply.status, status, `${at} ${reply.text}`);
      }
    }
  },
);

const drawn = { model: 'gpt-image-flare', prompt: 'A fox' };
const usage = { input_tokens: 40, output_tokens: 600, total_tokens: 640 };
const imageRows = [
  { path: '/v1/images/generations', host: imagePaths.generations, provider: 'openai', body: drawn },
  {
    path: '/v1/images/edits',
    host: imagePaths.edits,
    provider: 'openai',
    body: { ...drawn, images: inputs.slice(0, 1) },
    script: openaiDraws(1, usage),
  },
  {
    path: '/v1/images/generations',
    host: imagePaths.bfl(),
    provider: 'bfl',
    body: { model: 'flux-2', prompt: 'A fox', n: 2 },
    script: null,
  },
] as const;

testOn('sqlite', 'images are made with an own key for a part of their price', async () => {
  playImageProviders(gateway.upstream);
  for (const { path: at, host, provider, body, ...row } of imageRows) {
    const script = 'script' in row ? row.script : openaiDraws();
    if (script) gateway.upstream.on(host, script);
    const own = await customer({ provider });
    const { secret } = own;
    const other = await customer(null);
    const askBy = (key: string) => send(at, { body, key });
    const chargeOf = async ({ requestId }: Reply) =>
      (await rowsOf(gateway.database, 'charges', { id: requestId }))[0]!;
    const usual = await askBy(other.key);
    assert.equal(usual.reply.status, 200, usual.reply.text);
    assert.ok(!usual.asked.map(keyOf).includes(secret));
    const { reply, asked } = await askBy(own.key);
    assert.equal(reply.status, 200, reply.text);
    const ofProvider = asked.filter(({ path: called }) => called !== imagePaths.bflImage);
    assert.deepEqual(new Set(ofProvider.map(keyOf)), new Set([secret]), host);
    assert.equal(routeOf(reply), `${provider}:own`);
    assert.equal(reply.costMicros, Math.ceil(usual.reply.costMicros! / 10) + 10, host);
    const charge = await chargeOf(reply);
    assert.equal(charge.upstream_cost_micros, 0);
    assert.ok(isOwnKeyVersion(charge.price_version));
    const held = Number((await chargeOf(usual.reply)).hold_micros) + 10;
    assert.equal(Number(charge.hold_micros), held);

    const usable = script ?? bflTakes(gateway.upstream);
    // Refused or lost, it is free, and nobody's loss; the operator's key has its price.
    for (const failing of [answerCutOff('{'), answerStatus(401)]) {
      await clock.advance(2 * ejectionMsMax);
      gateway.upstream.on(host, byKey(secret, failing, usable));
      const fallen = await askBy(own.key);
      assert.deepEqual(
        [fallen.reply.costMicros, routeOf(fallen.reply)],
        [usual.reply.costMicros, provider],
      );
      assert.deepEqual(await gateway.lossesOf(fallen.reply.requestId), []);
    }
    gateway.upstream.on(host, answerStatus(401));
    const refused = await askBy(own.key);
    assert.equal(refused.reply.error.details?.['own_key_of'], provider, refused.reply.text);
    assert.ok(!refused.reply.text.includes(secret));
    await clock.advance(2 * ejectionMsMax);
    assert.equal((await gateway.balance(own.owner.account)).heldMicros, 0);

    // One that comes after the operator's serves when theirs fail.
    const late = await customer({ provider, order: 'after' });
    gateway.upstream.on(host, byKey(late.secret, usable, answerStatus(401)));
    const last = await askBy(late.key);
    assert.equal(keyOf(last.asked[0]!), upstreamKey);
    assert.deepEqual(
      [last.reply.costMicros, routeOf(last.reply)],
      [reply.costMicros, `${provider}:own`],
    );
    await clock.advance(2 * ejectionMsMax);

    // Nothing of it reaches another account, not by the cache either.
    playImageProviders(gateway.upstream);
    const headers = { 'x-service-cache': 'true' };
    for (const by of [own.key, other.key]) {
      const cached = await send(at, { body, headers, key: by });
      assert.equal(cached.reply.headers['x-service-cache'], undefined);
      assert.equal(cached.asked.map(keyOf).includes(secret), by === own.key);
    }
  }
  playImageProviders(gateway.upstream);
});

testOn('sqlite', 'an image of an answer is drawn with an own key', async () => {
  gateway.upstream.on(imagePaths.generations, openaiDraws());
  const own = await customer({ provider: 'openai' });
  const call = { id: 'c', name: 'generate_image', arguments: { prompt: 'A fox' } };
  const turns = [
    { thought: null, text: 'So.', calls: [call] },
    { thought: null, text: 'So.', calls: [] },
  ];
  const body = { model: 'sold', input: 'Draw.', tools: [{ type: 'image_generation' }] };
  for (const [key, cost] of [
    [own.key, 1_300 + 10],
    [(await customer(null)).key, 13_000],
  ] as const) {
    const [draws, ends] = turns.map((turn) => answerJson(chatTurns.whole(turn)));
    gateway.upstream.on(path, draws!, ends!);
    const { reply, asked } = await send('/v1/responses', { key, body });
    assert.equal(reply.status, 200, reply.text);
    // Two turns of 20 tokens of input and 10 of output, with the operator's key.
    assert.equal(reply.costMicros, 2 * (20 * 1 + 10 * 10) + cost, reply.text);
    const [drawing] = asked.filter(({ path: called }) => called === imagePaths.generations);
    assert.equal(keyOf(drawing!) === own.secret, key === own.key);
  }
});

testOn(
  'sqlite',
  'an image that two routes draw is shown no more often than was asked',
  async () => {
    const { key, secret } = await customer({ provider: 'openai' });
    const partial = { data: { type: 'image_generation.partial_image', b64_json: 'AAAA' } };
    const breaking = thenReset(framesText([partial]));
    gateway.upstream.on(imagePaths.generations, byKey(secret, breaking, openaiDraws()));
    const call = { id: 'c', name: 'generate_image', arguments: { prompt: 'A fox' } };
    const [draws, ends] = [[call], []].map((calls) =>
      answerSse(chatTurns.frames({ thought: null, text: 'So.', calls })),
    );
    gateway.upstream.on(path, draws!, ends!);
    const tools = [{ type: 'image_generation', partial_images: 2 }];
    const body = { model: 'sold', input: 'Draw.', stream: true, tools };
    const { text } = await gateway.post('/v1/responses', { key, body });
    assert.deepEqual(text.match(/"partial_image_index":\d/g), [
      '"partial_image_index":0',
      '"partial_image_index":1',
    ]);
    assert.match(text, /image_generation_call\.completed/);
  },
);

testOn('sqlite', 'tokens are counted with an own key, and else with the operator’s', async () => {
  const counting = '/claude/v1/messages/count_tokens';
  const own = await customer({ provider: 'claude' });
  const { secret } = own;
  const body = { model: 'counted', messages: [{ role: 'user', content: 'Hi' }] };
  const count = answerJson({ input_tokens: 7 });
  const refusing = byKey(secret, answerStatus(401), count);
  for (const [script, key, used] of [
    [count, own.key, [secret]],
    [refusing, own.key, [secret, upstreamKey]],
    [count, (await customer(null)).key, [upstreamKey]],
  ] as const) {
    gateway.upstream.on(counting, script);
    const { reply, asked } = await send('/v1/messages/count_tokens', { body, key });
    assert.deepEqual(reply.json(), { input_tokens: 7 });
    assert.deepEqual(asked.map(keyOf), used);
  }
  assert.ok(!gateway.program.output.includes('it counts no tokens'));
});

testOn('sqlite', 'conversations of one name are called with their accounts’ keys', async () => {
  gateway.upstream.on(path, answer);
  const all = [await customer(), await customer(), await customer({ order: 'after' })];
  const asks: readonly (readonly [fields: object, headers: Record<string, string>])[] = [
    ...['x-claude-code-session-id', 'session-id', 'x-session-id', 'x-session-affinity'].map(
      (name) => [{}, { [name]: 'the-same' }] as const,
    ),
    [{ prompt_cache_key: 'the-same' }, {}],
    [{ session_id: 'the-same' }, {}],
  ];
  for (const [fields, headers] of asks)
    for (const { key, secret, ownKey } of all) {
      const { used } = await ask(key, fields, headers);
      const isOwn = ownKey.order === 'before';
      assert.deepEqual(
        used.map((one) => one === secret),
        [isOwn],
        JSON.stringify([fields, headers]),
      );
      assert.ok(isOwn || !used[0]!.startsWith('Of.the.customer'));
    }
});

testOn('sqlite', 'an own key goes first though only another provider sells a search', async () => {
  gateway.upstream.on(path, answer);
  gateway.upstream.on('/v1/responses', answerContent('responses', content));
  const body = { model: 'searching', input: 'Hi', tools: [{ type: 'web_search' }] };
  for (const own of [{}, null]) {
    const { key, secret } = await customer(own);
    const { reply, asked } = await send('/v1/responses', { key, body });
    assert.equal(reply.status, 200, reply.text);
    assert.deepEqual(asked.map(keyOf), [own ? secret : upstreamKey]);
    assert.equal(reply.headers['x-service-ignored'], own ? 'tools[0]' : undefined);
  }
});

testOn('sqlite', 'test keys use no own key', async () => {
  const { owner, secret } = await customer();
  const { key } = await gateway.makeKey({ account: owner.account });
  const { reply, used } = await ask(key);
  assert.equal(reply.status, 200, reply.text);
  assert.deepEqual(used, []);
  assert.ok(!reply.text.includes(secret));
});

test('a key is saved only for a provider that takes own keys, and shown only by its end', async () => {
  const { owner, secret } = await customer();
  const post = (fields: object) => owner.post(pathOf(owner), { provider: 'host', ...fields });
  for (const [fields, param] of [
    [{ provider: 'closed', api_key: secret }, 'provider'],
    [{ provider: 'second', api_key: secret }, 'provider'],
    [{ provider: '__proto__', api_key: secret }, 'provider'],
    [{ api_key: 'ambient' }, 'api_key'],
    [{ api_key: 'none' }, 'api_key'],
    [{ api_key: 'two\r\nlines: of a header' }, 'api_key'],
    [{ api_key: 'schlüssel' }, 'api_key'],
    [{ api_key: '' }, 'api_key'],
    [{ api_key: 'tooshort' }, 'api_key'],
    [{ api_key: 'x'.repeat(9_000) }, 'api_key'],
    [{ api_key: 5 }, 'api_key'],
    [{ api_key: secret, order: 'first' }, 'order'],
  ] as const) {
    const reply = await post(fields);
    assert.equal(reply.status, 400, reply.text);
    assert.equal(reply.error.param, param);
    assert.ok(!reply.text.includes(secret));
  }
  for (let number = 0; number < 2; number++)
    await bring(owner, { api_key: `sk-further-one-${number}` });
  assert.equal((await post({ api_key: 'sk-one-too-many' })).status, 409);
  const list = await ok(owner.get(pathOf(owner)));
  assert.ok(!list.text.includes(secret));
  assert.ok(list.text.includes(secret.slice(-4)));
  for (const table of ['own_keys', 'audit_log', 'revisions'] as const)
    assert.ok(!JSON.stringify(await rowsOf(gateway.database, table)).includes(secret));
});

test('only owners change own keys; operators do it by the admin API and look in their pages', async () => {
  const { owner, secret, ownKey } = await customer();
  const { account } = owner;
  const [colleague, stranger] = [
    await signIn(gateway, { account, role: 'admin' }),
    await signIn(gateway),
  ];
  for (const [by, status] of [
    [colleague, 403],
    [stranger, 404],
  ] as const) {
    assert.equal((await by.get(`/accounts/${account}/own-keys`)).status, status);
    const body = { provider: 'host', api_key: 'sk-of-somebody-else' };
    assert.equal((await by.post(`/accounts/${account}/own-keys`, body)).status, status);
    assert.equal((await by.delete(`/accounts/${account}/own-keys/${ownKey.id}`)).status, status);
  }
  // Another account's key is not there, for an owner and for an admin key.
  assert.equal((await stranger.delete(`${pathOf(stranger)}/${ownKey.id}`)).status, 404);
  const wrong = await admin.send('DELETE', `/accounts/${stranger.account}/own-keys/${ownKey.id}`);
  assert.equal(wrong.status, 404);
  const operator = await signIn(gateway, { operator: true });
  const seen = await ok(operator.get(`/operator/accounts/${account}/own-keys`));
  assert.ok(!seen.text.includes(secret));
  const below = `/accounts/${account}/own-keys`;
  const body = { provider: 'host', api_key: 'sk-by-the-operator-1234', order: 'after' };
  const added = await admin.ok<OwnKey>('POST', below, { body });
  assert.deepEqual([added.shown_end, added.order], ['1234', 'after']);
  const changed = { body: { order: 'before' } };
  assert.equal((await admin.ok<OwnKey>('PATCH', `${below}/${added.id}`, changed)).order, 'before');
  await admin.ok('DELETE', `${below}/${added.id}`);
  const written = JSON.stringify(await rowsOf(gateway.database, 'audit_log'));
  assert.ok(!written.includes('address_digest') && !written.includes('sk-by-the-operator'));
  const log = (await rowsOf(gateway.database, 'audit_log')).filter(
    (row) => row.subject === added.id,
  );
  assert.deepEqual(log.map((row) => row.action).toSorted(), [
    'own-key.create',
    'own-key.remove',
    'own-key.update',
  ]);
});

testOn('sqlite', 'a row that is moved to another account or provider opens nowhere', async () => {
  gateway.upstream.on(path, answer);
  const [thief, victim] = [await customer(null), await customer()];
  await gateway.database.write
    .updateTable('own_keys')
    .set({ account_id: thief.owner.account })
    .where('id', '=', victim.ownKey.id)
    .execute();
  await noticeKeyChanges(gateway, { clock });
  const { reply, used } = await ask(thief.key);
  assert.equal(reply.status, 200);
  assert.ok(!used.includes(victim.secret));
  assert.equal(reply.costMicros, listMicros);
});

testOn('sqlite', 'a provider that moves, or takes own keys no more, gets none', async () => {
  const save = async (changes: readonly object[]) => {
    const { version } = await admin.ok<{ version: number }>('GET', '/settings/saved');
    await admin.ok('PATCH', '/settings/saved', { body: { version, changes } });
  };
  const field = (name: string, value: unknown) => ({ path: ['providers', 'moves', name], value });
  const addressOf = (folder: string) => `${gateway.upstream.url}/${folder}/v1`;
  const move = (folder: string) => [
    field('base_url', addressOf(folder)),
    field('api_key', `sk-saved-by-the-operator-${folder}`),
  ];
  await save([
    field('kind', 'openai-compatible'),
    ...move('first'),
    field('accounts_may_bring_keys', true),
    {
      path: ['models', 'moving', 'routes'],
      value: [{ provider: 'moves', model: 'up', api: 'chat' }],
    },
    { path: ['models', 'moving', 'prices'], value: prices },
  ]);
  for (const folder of ['first', 'moved'])
    gateway.upstream.on(`/${folder}/v1/chat/completions`, answer);
  const { owner, key, secret } = await customer({ provider: 'moves' });
  const used = async () => (await ask(key, { model: 'moving' })).used;
  const isUsable = async () => (await listOf(owner))[0]!.is_usable;
  const untilUsed = (own: boolean) =>
    untilNoticed(clock, async () => (await used()).includes(secret) === own);
  await untilUsed(true);
  assert.ok(await isUsable());
  await save(move('moved'));
  await untilUsed(false);
  assert.ok(!(await isUsable()));
  await save(move('first'));
  await untilUsed(true);
  await save([field('accounts_may_bring_keys', false)]);
  await untilUsed(false);
  const leaked = gateway.upstream.requests.filter(
    (request) =>
      request.path.startsWith('/moved') && request.headers.authorization?.includes(secret),
  );
  assert.deepEqual(leaked, []);
});
