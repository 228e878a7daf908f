// Service tiers and hours that have prices of their own: each client format on each upstream
// format, whole and streamed. The request names the tier in the upstream's words, the charge follows
// the tier that the answer names, and the client sees it in its own words.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { ServiceTier } from '../../src/canonical/service-tier.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import {
  streamFrames,
  wholeAnswer,
  type UpstreamWireName,
  type WireName,
} from '../support/answers.ts';
import { endpoint, endpoints } from '../support/endpoints.ts';
import { startGateway } from '../support/gateway.ts';
import type { Reply } from '../support/http.ts';
import { TestClock } from '../support/test-clock.ts';
import { answerJson, answerSse, answerStatus, type Script } from '../support/upstream.ts';
import { rowOf } from '../support/rows.ts';

const clock = new TestClock(Date.parse('2026-12-01T03:59:59.999Z'));
const tokens = { input: 5, output: 100 };
/** Microdollars of an answer with these tokens. */
const costs = { standard: 1_010, flex: 505, priority: 2_020, ultrafast: 6_060 } as const;
const prices = {
  input: 2,
  output: 10,
  service_tiers: {
    flex: { input: 1, output: 5 },
    priority: { input: 4, output: 20 },
    ultrafast: { input: 12, output: 60 },
  },
};
const providers = {
  responses: 'openai',
  chat: 'openai',
  messages: 'anthropic',
  gemini: 'google',
} as const;
const wires = Object.keys(providers) as UpstreamWireName[];
const limits = { max_input_tokens: 100_000, max_output_tokens: 8_000 };

const models = Object.fromEntries(
  wires.map((wire) => [
    `on-${wire}`,
    {
      ...limits,
      routes: [{ provider: providers[wire], model: 'm', ...(wire !== 'gemini' && { api: wire }) }],
      prices,
    },
  ]),
);
const plain = { ...limits, routes: [{ provider: 'openai', model: 'm' }] };
const gateway = await startGateway(
  {
    models: {
      ...models,
      plain: { ...plain, prices: { input: 2, output: 10 } },
      'flex-only': {
        ...plain,
        prices: { input: 2, output: 10, service_tiers: { flex: { input: 1, output: 5 } } },
      },
      deepseek: {
        ...limits,
        routes: [{ provider: 'openai', model: 'm', api: 'chat' }],
        prices: {
          input: 2,
          output: 10,
          hours: [{ utc: ['Mon-Fri 04:00-06:00'], input: 1, output: 5 }],
        },
      },
    },
  },
  { clock },
);
const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 1_000 });
after(() => gateway.stop());

/** How a provider names a tier. */
const words = (wire: UpstreamWireName, tier: string): string => {
  if (wire === 'messages') return tier === 'priority' ? 'fast' : tier;
  return tier === 'standard' && wire !== 'gemini' ? 'default' : tier;
};

/** Answers with the tier in every place that the wire format has for it. */
function answerIn(wire: UpstreamWireName, tier: string | null): Script {
  const content = { text: 'Hello you', tokens };
  const named = <T>(value: T) =>
    tier === null ? value : (name(wire, value as JsonObject, words(wire, tier)) as T);
  const { start, deltas, end } = streamFrames(wire, content);
  const frames = [...start, ...deltas, ...end].map((frame) =>
    typeof frame === 'string' ? frame : { ...frame, data: named(frame.data) },
  );
  const whole = answerJson(named(wholeAnswer(wire, content)));
  const stream = answerSse(frames);
  return (response, request) => {
    const isStream =
      request.path.includes('streamGenerate') || (request.body as JsonObject).stream === true;
    return (isStream ? stream : whole)(response, request);
  };
}

function name(wire: UpstreamWireName, data: JsonObject, word: string): JsonObject {
  const inside = (field: string, fields: object) =>
    data[field] ? { [field]: { ...data[field], ...fields } } : {};
  if (wire === 'chat') return { ...data, service_tier: word };
  if (wire === 'gemini') return { ...data, ...inside('usageMetadata', { serviceTier: word }) };
  if (wire === 'messages') {
    const { message } = data as { message?: JsonObject };
    const usage = message && { ...(message.usage as object), speed: word };
    return {
      ...data,
      ...inside('usage', { speed: word }),
      ...(message && inside('message', { usage })),
    };
  }
  return data.object === 'response'
    ? { ...data, service_tier: word }
    : { ...data, ...inside('response', { service_tier: word }) };
}

const pathOf: Readonly<Record<UpstreamWireName, string[]>> = {
  responses: ['/v1/responses'],
  chat: ['/v1/chat/completions'],
  messages: ['/v1/messages'],
  gemini: ['/v1beta/models/m:generateContent', '/v1beta/models/m:streamGenerateContent'],
};

function play(wire: UpstreamWireName, tier: string | null): void {
  for (const path of pathOf[wire]) gateway.upstream.on(path, answerIn(wire, tier));
}

const sent = () => gateway.upstream.requests.at(-1)!;
const askFor = (client: WireName, tier: string): object => {
  if (tier === 'standard') return {};
  return client === 'messages' ? { speed: 'fast' } : { service_tier: tier };
};

async function charged({ requestId }: Reply) {
  const charge = await rowOf(gateway.database, 'charges', { id: requestId });
  return {
    cost: Number(charge.cost_micros),
    hold: Number(charge.hold_micros),
    upstream: Number(charge.upstream_cost_micros),
    version: charge.price_version,
  };
}

/** The tier that a client sees in an answer or a stream; undefined: none. */
function shown(client: WireName, reply: Reply, stream: boolean): unknown {
  const datas = stream
    ? reply.frames.map(({ data }) => data as JsonObject)
    : [reply.json<JsonObject>()];
  const found = datas.flatMap((data) => {
    const answer = (data.response ?? data) as JsonObject;
    const holder = client === 'messages' ? (answer.usage as JsonObject | undefined) : answer;
    const word = client === 'messages' ? holder?.speed : holder?.service_tier;
    return word === undefined ? [] : [word];
  });
  return found.at(-1);
}

const upstreamField = (wire: UpstreamWireName, body: JsonObject): unknown =>
  wire === 'messages' ? body.speed : wire === 'gemini' ? body.serviceTier : body.service_tier;

for (const { name: client, path, body } of endpoints)
  for (const wire of wires)
    for (const stream of [false, true])
      for (const tier of ['standard', 'flex', 'priority'] as const) {
        if (client === 'messages' && tier === 'flex') continue;
        const how = stream ? 'streamed' : 'whole';
        test(`${tier} from ${client} on ${wire}, ${how}: sent, charged and shown`, async () => {
          play(wire, tier);
          const fields = { model: `on-${wire}`, stream, ...askFor(client, tier) };
          const usage =
            client === 'chat' && stream ? { stream_options: { include_usage: true } } : {};
          const reply = await gateway.post(path, { key, body: body({ ...fields, ...usage }) });
          if (wire === 'messages' && tier === 'flex') {
            assert.equal(reply.status, 400, reply.text);
            assert.match(reply.text, /`flex` is not offered/);
            return;
          }
          assert.equal(reply.status, 200, reply.text);
          const { cost, hold, version } = await charged(reply);
          assert.equal(cost, costs[tier]);
          assert.ok(cost <= hold);
          assert.equal(version, tier === 'standard' ? '0' : `0/${tier}`);
          const asked = upstreamField(wire, sent().body as JsonObject);
          if (tier !== 'standard') assert.equal(asked, words(wire, tier));
          else assert.equal(asked, ['chat', 'responses'].includes(wire) ? 'default' : undefined);
          if (wire === 'messages')
            assert.equal(
              sent().headers['anthropic-beta'],
              tier === 'priority' ? 'fast-mode-2026-02-01' : undefined,
            );
          const seen = shown(client, reply, stream);
          if (tier !== 'standard') assert.equal(seen, words(client, tier));
          else
            assert.ok(
              [undefined, null, 'default', 'standard'].includes(seen as string),
              String(seen),
            );
        });
      }

describe('the answer’s tier decides', () => {
  const cases: [
    asked: ServiceTier | 'standard',
    named: string | null,
    cost: number,
    lost: number,
  ][] = [
    ['flex', 'standard', costs.standard, 0],
    ['priority', 'standard', costs.standard, 0],
    ['priority', 'flex', costs.flex, 0],
    ['flex', null, costs.flex, 0],
    ['flex', 'scale', costs.flex, 0],
    ['standard', 'flex', costs.flex, 0],
    ['standard', 'priority', costs.standard, costs.priority - costs.standard],
    ['flex', 'ultrafast', costs.standard, costs.ultrafast - costs.standard],
  ];
  for (const wire of ['chat', 'responses', 'gemini'] as const)
    for (const [asked, named, cost, lost] of cases)
      test(`${asked} asked, ${named ?? 'none'} answered by ${wire}: ${cost} µ$ charged, ${lost} lost`, async () => {
        play(wire, named);
        const { path, body } = endpoint('chat');
        const { key: own, account } = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
        const reply = await gateway.post(path, {
          key: own,
          body: body({ model: `on-${wire}`, ...askFor('chat', asked) }),
        });
        const booked = await charged(reply);
        assert.equal(booked.cost, cost);
        assert.equal(booked.upstream, cost);
        assert.equal((await gateway.balance(account)).postedMicros, 1_000_000 - cost);
        const losses = await lossesOf(account);
        assert.equal(losses, lost);
      });
});

async function lossesOf(account: string): Promise<number> {
  const rows = await gateway.database.read
    .selectFrom('entries')
    .innerJoin('ledgers', 'ledgers.id', 'entries.ledger_id')
    .select('entries.loss_micros')
    .where('ledgers.account_id', '=', account)
    .execute();
  return rows.reduce((sum, { loss_micros: loss }) => sum + Number(loss), 0);
}

test('a tier without a price is refused by name with those that have one, and costs nothing', async () => {
  const earlier = gateway.upstream.requests.length;
  const cases: [WireName, object, field: string, message: RegExp][] = [
    [
      'chat',
      { model: 'plain', service_tier: 'flex' },
      'service_tier',
      /`flex` is not sold for plain, only `default`; leave the field out for `default`$/,
    ],
    [
      'responses',
      { model: 'flex-only', service_tier: 'fast' },
      'service_tier',
      /`priority` is not sold for flex-only, only `default`, `flex`; leave/,
    ],
    [
      'messages',
      { model: 'plain', speed: 'fast' },
      'speed',
      /^speed: .*`priority` is not sold for plain/,
    ],
    ['chat', { model: 'on-chat', service_tier: 'scale' }, 'service_tier', /must be one of `auto`/],
    ['responses', { model: 'on-responses', service_tier: ['flex'] }, 'service_tier', /string/],
    [
      'chat',
      { model: 'on-gemini', service_tier: 'ultrafast' },
      'service_tier',
      /`ultrafast` is not offered/,
    ],
    ['messages', { model: 'on-messages', speed: 'flex' }, 'speed', /must be `standard` or `fast`/],
  ];
  for (const [client, fields, field, message] of cases) {
    const { path, body } = endpoint(client);
    const reply = await gateway.post(path, { key, body: body(fields) });
    assert.equal(reply.status, 400, reply.text);
    const { error } = reply.json<{ error: { message: string; param?: string } }>();
    assert.match(error.message, message);
    if (client !== 'messages') assert.equal(error.param, field);
    else assert.ok(error.message.startsWith(field));
  }
  assert.equal(gateway.upstream.requests.length, earlier);
});

test('a replay is free and shows the same tier; a failure is free in any tier', async () => {
  play('chat', 'flex');
  const { path, body } = endpoint('chat');
  const asked = {
    key,
    body: body({ model: 'on-chat', service_tier: 'flex' }),
    headers: { 'idempotency-key': 'tier-1' },
  };
  const first = await gateway.post(path, asked);
  play('chat', 'priority');
  const again = await gateway.post(path, asked);
  assert.equal(again.json<JsonObject>().service_tier, 'flex');
  assert.equal(again.costMicros, 0);
  assert.equal((await charged(first)).cost, costs.flex);
  gateway.upstream.on('/v1/chat/completions', answerStatus(400));
  const { key: own, account } = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
  const failed = await gateway.post(path, {
    key: own,
    body: body({ model: 'on-chat', service_tier: 'priority' }),
  });
  assert.equal(failed.status, 400);
  await gateway.assertLeft(account, 1_000_000);
});

test('a cached answer is free in its tier, and none of another tier is served', async () => {
  const { path, body } = endpoint('chat');
  const ask = (tier?: string) => {
    const named = tier === undefined ? {} : { service_tier: tier };
    return gateway.post(path, { key, body: body({ model: 'on-chat', temperature: 0, ...named }) });
  };
  play('chat', 'flex');
  const first = await ask('flex');
  play('chat', 'priority');
  const hit = await ask('flex');
  assert.deepEqual(
    [first, hit].map(({ headers }) => headers['x-service-cache']),
    [undefined, 'hit'],
  );
  assert.deepEqual([hit.costMicros, hit.json<JsonObject>().service_tier], [0, 'flex']);
  assert.deepEqual(
    [(await charged(first)).cost, (await ask('priority')).costMicros],
    [costs.flex, costs.priority],
  );
  play('chat', null);
  assert.equal((await ask()).costMicros, costs.standard);
});

test('`auto`, `default` and `standard` are the standard tier, whatever the operator’s project is set to', async () => {
  for (const tier of ['auto', 'default', 'standard'])
    for (const client of ['chat', 'responses'] as const) {
      play(client, null);
      const { path, body } = endpoint(client);
      const asked = body({ model: `on-${client}`, service_tier: tier });
      const reply = await gateway.post(path, { key, body: asked });
      assert.equal((await charged(reply)).cost, costs.standard, reply.text);
      assert.equal(upstreamField(client, sent().body as JsonObject), 'default');
    }
});

test('the time when the answer ends decides between the hours, to the millisecond', async () => {
  const { path, body } = endpoint('chat');
  play('chat', null);
  const ask = () => gateway.post(path, { key, body: body({ model: 'deepseek' }) });
  assert.equal(new Date(clock.nowMs()).toISOString(), '2026-12-01T03:59:59.999Z');
  const peak = await charged(await ask());
  assert.deepEqual([peak.cost, peak.version], [costs.standard, '0']);
  await clock.advance(1);
  const offPeak = await charged(await ask());
  assert.deepEqual([offPeak.cost, offPeak.version], [costs.flex, '0@Mon-Fri 04:00-06:00']);
  assert.ok(offPeak.hold < peak.hold, 'an answer cannot end after six o’clock');
});
