// Charges to the microdollar, with live keys through the local upstream: what is charged, what is
// free, and what can never happen.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { formatUsd, micros, microsFromUsd, zeroMicros, type Micros } from '../../src/lib/money.ts';
import { answerContent, streamFrames, wholeAnswer } from '../support/answers.ts';
import type { Tokens } from '../support/turn-format.ts';
import { endpoints as all, type Endpoint } from '../support/endpoints.ts';
import { startGateway } from '../support/gateway.ts';
import type { Reply } from '../support/http.ts';
import { readOwnAnswer } from '../support/recordings.ts';
import { TestClock } from '../support/test-clock.ts';
import {
  answerBytes,
  answerInParts,
  answerJson,
  answerSse,
  answerStatus,
  framesText,
  holdBack,
  thenReset,
  type Script,
  type SseFrame,
} from '../support/upstream.ts';
import { until } from '../support/until.ts';

/** USD per million tokens; all different, so that a token in the wrong bucket shows. */
const base = { input: 3, output: 15, cache_write: 3.75, cache_read: 0.3, cache_write_1h: 6 };
const long = { input: 7, output: 26, cache_write: 8.5, cache_read: 0.7, cache_write_1h: 13 };
const tierFrom = 1_000;
const { cache_write_1h: _, ...withoutHour } = base;

/** How long the gateway reads an upstream on after its client has left. */
const readOnMs = 5_000;

const clock = new TestClock();

const modelOf = (provider: string, fields: object = {}) => ({
  display_name: 'Priced',
  routes: [{ provider, model: 'upstream-model' }],
  prices: { ...base, tiers: [{ above_input_tokens: tierFrom, ...long }] },
  max_input_tokens: 100_000,
  max_output_tokens: 8_000,
  supports: { thinking: false, streaming: true, vision: false },
  ...fields,
});
const gateway = await startGateway(
  {
    models: {
      'priced-openai': modelOf('openai'),
      'priced-anthropic': modelOf('anthropic'),
      'hourless-openai': modelOf('openai', { prices: withoutHour }),
      'hourless-anthropic': modelOf('anthropic', { prices: withoutHour }),
    },
  },
  { clock },
);
after(() => gateway.stop());

/** With the priced model of its own provider. */
const endpoints = all.map((at): Endpoint => {
  const priced = at.name === 'messages' ? 'priced-anthropic' : 'priced-openai';
  return { ...at, body: (fields) => at.body({ model: priced, ...fields }) };
});
const [responses, chat, messages] = endpoints as [Endpoint, Endpoint, Endpoint];
const short = { text: 'one two three four', tokens: { input: 100, output: 20 } };
const endWords = new Set<unknown>(['response.completed', 'message_stop', '[DONE]']);
/** 100 × $3 + 20 × $15 a million. */
const shortCost = 600;

test('header, usage record and balance agree on the price of the used tokens, whole and streamed', async (t) => {
  const usages: readonly Tokens[] = [
    { input: 1, output: 1 },
    { input: 333, output: 77 },
    { input: 200, cacheRead: 701, output: 9 },
    { input: 200, cacheWrite: 99, output: 9 },
    { input: 10, cacheRead: 33, cacheWrite: 57, cacheWrite1h: 41, output: 123 },
    // At the threshold the base price applies; one token more, cached or not, and the tier prices
    // all tokens.
    { input: 400, cacheRead: 600, output: 50 },
    { input: 401, cacheRead: 600, output: 50 },
  ];
  for (const endpoint of endpoints) {
    await t.test(endpoint.name, async () => {
      const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
      for (const tokens of usages) {
        // Chat and OpenAI's own formats report both kinds of cache writes as one number, or do not
        // have the longer kind.
        const counted = endpoint.name === 'chat' ? withoutLongWrites(tokens) : tokens;
        gateway.answer(endpoint, { text: 'one two three', tokens: counted });
        for (const stream of [false, true]) {
          const earlierMicros = (await gateway.balance(account)).availableMicros;
          const reply = await gateway.ask(endpoint, key, { stream });
          assert.equal(reply.status, 200, reply.text);
          const where = `${endpoint.name} ${JSON.stringify(tokens)} stream ${stream}`;
          assert.equal(reply.costMicros, priceOf(counted), where);
          const { availableMicros } = await gateway.balance(account);
          assert.equal(availableMicros, earlierMicros - priceOf(counted), where);
          const input = inputOf(counted);
          const counts = {
            model: 'Priced',
            input_tokens: input,
            output_tokens: counted.output,
            total_tokens: input + counted.output,
            cost_cents: priceOf(counted) / 10_000,
          };
          const record = await recordOf(key, reply.requestId);
          assert.partialDeepStrictEqual(record, counts, where);
        }
      }
    });
  }
});

test('a stream reports its hold in the headers, its cost in trailers and, on request, in a comment before its end', async () => {
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  for (const endpoint of endpoints) {
    gateway.answer(endpoint, short);
    const headers = { 'x-service-stream-comments': 'true' };
    const body = endpoint.body({ stream: true });
    const reply = await gateway.post(endpoint.path, { key, headers, body });
    const balanceCents = Math.floor((await gateway.balance(account)).availableMicros / 10_000);
    assert.equal(reply.headers['trailer'], 'X-Service-Cost-Micros, X-Service-Balance-Cents');
    assert.deepEqual(
      [reply.trailers['x-service-cost-micros'], reply.trailers['x-service-balance-cents']],
      [String(shortCost), String(balanceCents)],
    );
    assert.equal(
      reply.headers['x-service-cost-micros'],
      undefined,
      'a stream cannot know its cost at its head',
    );
    assert.ok(Number(reply.headers['x-service-reserved-micros']) >= shortCost);
    // The final events of a success follow the comment.
    const comments = reply.frames.flatMap(({ comment }, index) =>
      comment === null ? [] : [{ comment, index }],
    );
    const index = reply.frames.length - (endpoint.name === 'messages' ? 3 : 2);
    assert.deepEqual(comments, [
      { comment: `cost_micros=${shortCost} balance_cents=${balanceCents}`, index },
    ]);
    const ends = reply.frames
      .map(({ event, data }) => event ?? data)
      .filter((word) => endWords.has(word));
    assert.equal(ends.length, 1);
  }
});

test('a whole answer shows the balance after its charge in cents, rounded down', async () => {
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
  gateway.answer(responses, short);
  const { headers } = await gateway.ask(responses, key);
  assert.equal(headers['x-service-balance-cents'], '99');
  assert.equal(headers['x-service-mode'], undefined);
});

test('test and live keys spend and see separate ledgers', async () => {
  const live = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const sandbox = await gateway.makeKey({ account: live.account });
  gateway.answer(chat, short);
  await gateway.ask(chat, live.key);
  assert.equal((await gateway.balance(live.account, 'test')).availableMicros, microsFromUsd(1_000));
  const played = await gateway.ask(chat, sandbox.key);
  assert.equal(played.headers['x-service-mode'], 'test');
  assert.ok(played.costMicros! > 0);
  for (const [mode, key, creditMicros, cost] of [
    ['live', live.key, 5_000_000, shortCost],
    ['test', sandbox.key, 1_000_000_000, played.costMicros!],
  ] as const) {
    const { availableMicros } = await gateway.balance(live.account, mode);
    assert.equal(availableMicros, creditMicros - cost, mode);
    const records = await gateway.usage<UsageRecord>(key);
    assert.deepEqual(records.map(costOf), [cost / 10_000], mode);
  }
});

test('a failed request is free, whatever failed and whenever', async (t) => {
  const failures: Readonly<Record<string, (endpoint: Endpoint) => Script>> = {
    'status 400': () => answerStatus(400),
    'status 401': () => answerStatus(401),
    'status 429': () => answerStatus(429),
    'status 500': () => answerStatus(500),
    'a reset before the answer': () => thenReset(null),
    'not JSON': () => answerJson('<html>', {}),
    'JSON of no known shape': () => answerJson({ hello: 'world' }),
    'an error with status 200': () => answerJson({ error: { message: 'no' } }),
    'a redirect': () =>
      answerJson({}, { status: 302, headers: { location: 'http://127.0.0.1:9/' } }),
    'a reset in mid-answer': ({ name }) => thenReset(framesText(startOf(name))),
    'an end in mid-answer': ({ name }) => answerSse(startOf(name)),
    'garbage in mid-answer': ({ name }) => answerSse([...startOf(name), 'data: {"no\n\n']),
    'an empty stream': () => answerSse([]),
  };
  for (const endpoint of endpoints) {
    await t.test(endpoint.name, async () => {
      const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
      for (const [name, scriptOf] of Object.entries(failures)) {
        gateway.upstream.on(endpoint.upstreamPath, scriptOf(endpoint));
        for (const stream of [false, true]) {
          const reply = await gateway.ask(endpoint, key, { stream });
          assertFailed(reply, `${endpoint.name}, ${name}, stream ${stream}`);
          await gateway.assertLeft(account, 5_000_000, `${name}, stream ${stream}`);
        }
      }
      assert.deepEqual((await gateway.get('/v1/usage', { key })).json(), {
        data: [],
        next_cursor: null,
      });
    });
  }
});

test("a client that leaves pays the upstream's count if the upstream ends in time", async () => {
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const body = (stream: boolean) => ({ key, body: chat.body({ stream }) });
  const { deltas, end } = streamFrames('chat', short);
  const late = answerInParts(startOf('chat'), [...deltas, ...end]);
  gateway.upstream.on(chat.upstreamPath, late.script);
  const { request, response } = gateway.open(chat.path, body(true));
  const stream = await response;
  await once(stream, 'data');
  request.destroy();
  await until(() => clock.dueIn(readOnMs) === 1);
  await clock.advance(readOnMs - 1);
  late.release();
  const record = await waitForRecord(key, String(stream.headers['x-request-id']));
  assert.deepEqual([record.cost_cents, record.output_tokens], [shortCost / 10_000, 20]);
  assert.equal((await gateway.balance(account)).availableMicros, 5_000_000 - shortCost);

  // The same without a stream: the answer arrives after the client has left.
  const next = gateway.upstream.requests.length;
  const whole = holdAnswer(chat);
  const { request: leaving } = gateway.open(chat.path, body(false));
  await gateway.upstream.request(next);
  leaving.destroy();
  await clock.advance(10 * readOnMs);
  whole.release();
  const records = await until(async () => {
    const data = await gateway.usage<UsageRecord>(key);
    return data.length === 2 && data;
  });
  assert.deepEqual(records.map(costOf), [shortCost / 10_000, shortCost / 10_000]);
  assert.equal((await gateway.balance(account)).availableMicros, 5_000_000 - 2 * shortCost);
});

test('concurrent requests never exceed a cap, and as many as fit are served', async () => {
  const holdMicros = await holdOf();
  // Room for five requests, and a microdollar less than for six.
  const cap = micros(holdMicros * 6 - 1);
  for (const controls of [{ dailyCapMicros: cap }, { monthlyCapMicros: cap }]) {
    const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5, ...controls });
    const replies = await atOnce(20, key);
    const served = replies.filter((reply) => reply.status === 200);
    assert.equal(served.length, 5);
    const code =
      'dailyCapMicros' in controls ? 'key_daily_limit_reached' : 'key_monthly_limit_reached';
    for (const { status, error } of replies.filter((reply) => reply.status !== 200)) {
      assert.deepEqual([status, error.code], [429, code]);
      // The message says that running requests hold the rest.
      assert.ok(Number(error.details?.['held_micros']) > 0);
    }
    await gateway.assertLeft(account, 5_000_000 - 5 * shortCost);
    assert.ok(5 * shortCost <= cap);
    const other = await gateway.makeKey({ mode: 'live', account });
    const [reply] = await atOnce(1, other.key);
    assert.equal(reply!.status, 200, 'other keys of the account go on working');
  }
});

test('a cap with too little room says what is spent and held, what the request needs, and which field lowers it', async () => {
  for (const endpoint of endpoints) {
    const limits: readonly (readonly [field: string, fields: object])[] =
      endpoint.name === 'chat'
        ? [
            ['max_completion_tokens', {}],
            ['max_tokens', { max_completion_tokens: undefined, max_tokens: 2_000 }],
          ]
        : [[endpoint.limitField, {}]];
    for (const [field, fields] of limits) {
      for (const [control, word, code] of [
        ['dailyCapMicros', 'daily', 'key_daily_limit_reached'],
        ['monthlyCapMicros', 'monthly', 'key_monthly_limit_reached'],
      ] as const) {
        const controls = { mode: 'live', creditUsd: 5, [control]: micros(20_000) } as const;
        const { key } = await gateway.makeKey(controls);
        gateway.answer(endpoint, short);
        assert.equal((await gateway.ask(endpoint, key)).costMicros, shortCost);
        const next = gateway.upstream.requests.length;
        const running = holdAnswer(endpoint);
        const other = gateway.ask(endpoint, key);
        await gateway.upstream.request(next);

        const tooMuch = { [endpoint.limitField]: 5_000, ...fields };
        const refused = await gateway.ask(endpoint, key, tooMuch);
        assert.deepEqual([refused.status, refused.error.code], [429, code], refused.text);
        const details = refused.error.details ?? refused.error;
        const of = (name: string) => Number(details[name]);
        assert.deepEqual([of('cap_micros'), of('spent_micros')], [20_000, shortCost]);
        assert.equal(of('left_micros'), 20_000 - shortCost - of('held_micros'));
        const usd = (name: string) => `$${formatUsd(micros(of(name)))}`;
        assert.equal(
          refused.error.message,
          `This key's ${word} cap of $0.02 is not reached, but this request can cost up to ${usd('required_micros')}, and ${usd('left_micros')} is left: ` +
            `$0.0006 is spent, and running requests hold ${usd('held_micros')} until they end. ` +
            `Up to ${of('affordable_output_tokens')} output tokens would fit: send \`${field}\` of at most that. ` +
            `The cap starts anew at ${String(details['resets_at'])}.`,
        );
        running.release();
        assert.equal((await other).status, 200);
      }
    }
  }
});

test('a reached cap says so, and with several choices the message names their number', async () => {
  gateway.answer(chat, short);
  const reached = await gateway.makeKey({ mode: 'live', creditUsd: 5, dailyCapMicros: zeroMicros });
  const { error, headers } = await gateway.ask(chat, reached.key);
  // Waiting would not help.
  const { resets_at: resetsAt } = error.details ?? error;
  assert.deepEqual([headers['retry-after'], resetsAt], [undefined, null]);
  assert.match(
    error.message,
    /^This key's daily cap of \$0\.00 is reached: \$0\.00 is spent\. This request can cost up to \$0\.\d+\. It allows nothing: have the cap raised\.$/,
  );
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 0.04 });
  const refused = (await gateway.ask(chat, key, { max_completion_tokens: 5_000, n: 2 })).error;
  assert.match(
    refused.message,
    /^This request can cost up to \$0\.15\d*, and the balance has \$0\.04 left\. Up to \d+ output tokens would fit in each of 2 answers: send `max_completion_tokens` of at most that, or a lower `n`\. To run it as it is, top up the account\.$/,
  );
});

test('fifty concurrent requests never overdraw a small balance', async () => {
  const holdMicros = await holdOf();
  const creditUsd = (holdMicros * 7 + 10) / 1_000_000;
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd });
  let lowest = Number.POSITIVE_INFINITY;
  const look = async () => {
    lowest = Math.min(lowest, (await gateway.balance(account)).availableMicros);
  };
  const watch = setInterval(() => void look(), 5);
  const replies = await atOnce(50, key);
  clearInterval(watch);
  const served = replies.filter((reply) => reply.status === 200);
  assert.equal(served.length, 7);
  assert.deepEqual(new Set(replies.map((reply) => reply.status)), new Set([200, 402]));
  await gateway.assertLeft(account, holdMicros * 7 + 10 - 7 * shortCost);
  assert.ok(lowest >= 0, `the balance was seen at ${lowest}`);
});

test('the balance that a client sees excludes holds', async () => {
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const next = gateway.upstream.requests.length;
  const answer = holdAnswer(chat);
  // 8 000 output tokens at $15 a million are 12 cents.
  const reply = gateway.ask(chat, key, { max_completion_tokens: 8_000 });
  await gateway.upstream.request(next);
  const balanceCents = async () =>
    (await gateway.get('/v1/balance', { key })).json<{ balance_cents: number }>().balance_cents;
  const held = await balanceCents();
  assert.ok(held <= 500 - 12 && held > 480, `${held} cents`);
  answer.release();
  await reply;
  assert.equal(await balanceCents(), 499);
});

test('a request without a maximum gets an affordable one, and a header says so', async () => {
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 0.05 });
  gateway.answer(chat, short);
  const next = gateway.upstream.requests.length;
  const ask = (by: string) => gateway.ask(chat, by, { max_completion_tokens: undefined });
  const reply = await ask(key);
  assert.equal(reply.status, 200, reply.text);
  const limit = Number(reply.headers['x-service-output-limit']);
  // Five cents buy 3 333 output tokens, less the input's share.
  assert.ok(limit >= 1_024 && limit <= 3_333, `limit ${limit}`);
  const sent = await gateway.upstream.request(next);
  assert.equal((sent.body as { max_completion_tokens: number }).max_completion_tokens, limit);

  const poor = await gateway.makeKey({ mode: 'live', creditUsd: 0.01 });
  const refused = await ask(poor.key);
  assert.equal(refused.status, 402, 'fewer than 1 024 tokens are no answer');

  const rich = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const whole = await ask(rich.key);
  assert.equal(whole.headers['x-service-output-limit'], undefined);
});

test('a maximum that does not fit is refused with one that fits, and that one works', async () => {
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 0.03 });
  for (const endpoint of endpoints) {
    gateway.answer(endpoint, { text: 'one', tokens: { input: 1, output: 1 } });
    const ask = (maximum: number) => gateway.ask(endpoint, key, { [endpoint.limitField]: maximum });
    const refused = await ask(5_000);
    assert.equal(refused.status, 402);
    const { message } = refused.error;
    const details = refused.error.details ?? refused.error;
    const affordable = Number(details['affordable_output_tokens']);
    assert.ok(affordable > 0 && affordable < 5_000);
    const names = [String(affordable), endpoint.limitField];
    assert.ok(
      names.every((name) => message.includes(name)),
      message,
    );
    assert.equal((await ask(affordable)).status, 200, endpoint.name);
    assert.equal(details['limit'], 'balance');
  }
});

test('the output limit that an error proposes fits, also for a request that had none', async () => {
  for (const endpoint of endpoints.filter(({ name }) => name !== 'messages')) {
    const controls = { mode: 'live', creditUsd: 5, dailyCapMicros: micros(1_000) } as const;
    const { key } = await gateway.makeKey(controls);
    gateway.answer(endpoint, { text: 'one', tokens: { input: 1, output: 1 } });
    const ask = (limit?: number) => gateway.ask(endpoint, key, { [endpoint.limitField]: limit });
    const refused = await ask();
    assert.equal(refused.status, 429, refused.text);
    const fits = Number(refused.error.details!['affordable_output_tokens']);
    assert.ok(fits > 0, refused.text);
    const reply = await ask(fits);
    assert.equal(reply.status, 200, reply.text);
  }
});

test('n multiplies the hold, not the charge', async () => {
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  gateway.answer(chat, short);
  const reserved = async (n: number) => {
    const reply = await gateway.ask(chat, key, { stream: true, n });
    return Number(reply.headers['x-service-reserved-micros']);
  };
  const single = await reserved(1);
  const triple = await reserved(3);
  assert.ok(Math.abs(triple - 3 * single) <= 100, `${single} and ${triple}`);

  const body = wholeAnswer('chat', { ...short, tokens: { input: 100, output: 60 } }) as {
    choices: object[];
  };
  const choices = [0, 1, 2].map((index) => ({ ...body.choices[0], index }));
  gateway.upstream.on(chat.upstreamPath, answerJson({ ...body, choices }));
  const reply = await gateway.ask(chat, key, { n: 3 });
  assert.equal(reply.json<{ choices: object[] }>().choices.length, 3);
  assert.equal(reply.costMicros, priceOf({ input: 100, output: 60 }));
});

test('an answer without usage is charged by our own count, which the client sees', async () => {
  for (const endpoint of endpoints) {
    const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
    gateway.answer(endpoint, { text: short.text, tokens: null });
    for (const stream of [false, true]) {
      const reply = await gateway.ask(endpoint, key, { stream });
      assert.equal(reply.status, 200, reply.text);
      const { input_tokens: input, output_tokens: output } = await recordOf(key, reply.requestId);
      assert.equal(output, 5, `${endpoint.name}: 18 bytes are five tokens`);
      assert.equal(reply.costMicros, priceOf({ input, output }), endpoint.name);
      // A Chat stream shows it only on request.
      const isShown = endpoint.name !== 'chat' || !stream;
      if (isShown)
        assert.match(reply.text, /"(?:output_tokens|completion_tokens)":5\b/, endpoint.name);
    }
  }
});

test('an absurd usage is clamped to what the request could cause; the rest is a booked loss', async () => {
  const absurd: readonly Tokens[] = [
    { input: 90_000_000, output: 20 },
    { input: 100, output: 90_000_000 },
    { input: 90_000_000, output: 90_000_000 },
  ];
  for (const endpoint of endpoints) {
    for (const tokens of absurd) {
      const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
      gateway.answer(endpoint, { text: 'one', tokens });
      const reply = await gateway.ask(endpoint, key);
      assert.equal(reply.status, 200, reply.text);
      const { usage } = reply.json<{ usage: Record<string, number> }>();
      const shown = {
        input: (usage['input_tokens'] ?? usage['prompt_tokens'])!,
        output: (usage['output_tokens'] ?? usage['completion_tokens'])!,
      };
      assert.equal(reply.costMicros, priceOf(shown), 'the client sees what it is charged for');
      assert.equal(shown.output, Math.min(tokens.output, 200), 'its own limit');
      // Its text, and what a provider may add to it.
      assert.ok(shown.input === tokens.input || (shown.input > 3_000 && shown.input < 3_300));
      assert.equal((await gateway.balance(account)).availableMicros, 5_000_000 - priceOf(shown));
      assert.equal(await lossesOf(account), priceOf(tokens) - priceOf(shown));
    }
    const small = await gateway.makeKey({ mode: 'live', creditUsd: 0.02 });
    gateway.answer(endpoint, { text: 'one', tokens: absurd[2]! });
    const reply = await gateway.ask(endpoint, small.key);
    const { availableMicros } = await gateway.balance(small.account);
    assert.ok(availableMicros >= 0 && reply.costMicros === 20_000 - availableMicros);
    const claimed = priceOf(absurd[2]!);
    assert.equal(await lossesOf(small.account), claimed - reply.costMicros, endpoint.name);
  }
});

test('a text costs what the provider counts, up to a token for each of its bytes', async () => {
  for (const endpoint of endpoints) {
    const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
    // Most texts have far fewer, but few tokenizers are public, and a client may look for the worst.
    const words = 'xq '.repeat(10_000);
    const tokens = { input: words.length, output: 20 };
    gateway.answer(endpoint, { text: 'a', tokens });
    const content = [{ role: 'user', content: words }];
    const reply = await gateway.ask(endpoint, key, {
      [endpoint.name === 'responses' ? 'input' : 'messages']: content,
    });
    assert.equal(reply.costMicros, priceOf(tokens), endpoint.name);
  }
});

test('what a provider claims too much is booked, however little else it counts', async () => {
  // Its output is missing, and costs more than the claimed excess.
  const tokens = { input: 3_300, output: 0 };
  gateway.answer(chat, { text: 'word '.repeat(150), tokens });
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const reply = await gateway.ask(chat, key);
  const { usage } = reply.json<{ usage: Record<string, number> }>();
  const [input, output] = [usage['prompt_tokens']!, usage['completion_tokens']!];
  assert.ok(input < tokens.input && output > 150, reply.text);
  assert.equal(reply.costMicros, priceOf({ input, output }));
  const claimed = priceOf({ input: tokens.input, output });
  assert.equal(await lossesOf(account), claimed - priceOf({ input, output }));
  await gateway.assertLeft(account, 5_000_000 - priceOf({ input, output }));
});

async function lossesOf(account: string): Promise<number> {
  const { sum } = await gateway.database.read
    .selectFrom('entries')
    .select(({ fn }) => fn.sum<number>('loss_micros').as('sum'))
    .where('ledger_id', '=', `${account}:live`)
    .executeTakeFirstOrThrow();
  return sum;
}

test('negative, fractional or non-numeric usage is replaced by our own count', async () => {
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  for (const bad of [-5, 1.5, 'many', null, 1e308]) {
    const body = wholeAnswer('chat', short) as { usage: object };
    const usage = { ...body.usage, completion_tokens: bad };
    gateway.upstream.on(chat.upstreamPath, answerJson({ ...body, usage }));
    const reply = await gateway.ask(chat, key);
    const record = await recordOf(key, reply.requestId);
    assert.equal(record.output_tokens, 5, String(bad));
  }
});

test('a stream with cached tokens is charged once for each token', async () => {
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const recording = answerBytes(readOwnAnswer('anthropic/text.sse'), { sizes: [1, 60] });
  gateway.upstream.on(messages.upstreamPath, recording);
  const { costMicros } = await gateway.ask(messages, key, { stream: true });
  assert.equal(costMicros, priceOf({ input: 7, cacheRead: 40, cacheWrite1h: 200, output: 19 }));
});

test('a one-hour cache write without its own price is charged at twice the input, even unrequested', async () => {
  // Chat does not report long cache writes.
  for (const [endpoint, hourless] of [
    [responses, 'hourless-openai'],
    [messages, 'hourless-anthropic'],
  ] as const) {
    const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
    const tokens = { input: 10, cacheWrite1h: 100, output: 2 };
    gateway.answer(endpoint, { text: 'one', tokens });
    for (const stream of [false, true]) {
      const reply = await gateway.ask(endpoint, key, { model: hourless, stream });
      assert.equal(reply.status, 200, reply.text);
      // 10 × $3, 100 × $6 and 2 × $15 a million.
      assert.equal(reply.costMicros, 660, `${hourless} stream ${stream}`);
    }
  }
});

type UsageRecord = {
  readonly request_id: string;
  readonly model: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly total_tokens: number;
  readonly cost_cents: number;
};

/**
 * Computed independently: dollars per million tokens are exact in picodollars, which are added and
 * rounded up once.
 */
function priceOf(tokens: Tokens): number {
  const prices = inputOf(tokens) > tierFrom ? long : base;
  const { input, cacheRead = 0, cacheWrite = 0, cacheWrite1h = 0, output } = tokens;
  const picos =
    input * picosOf(prices.input) +
    cacheRead * picosOf(prices.cache_read) +
    cacheWrite * picosOf(prices.cache_write) +
    cacheWrite1h * picosOf(prices.cache_write_1h) +
    output * picosOf(prices.output);
  return Math.ceil(picos / 1_000_000);
}

function picosOf(usdPerMillion: number): number {
  return Math.round(usdPerMillion * 1_000_000);
}

function inputOf({ input, cacheRead = 0, cacheWrite = 0, cacheWrite1h = 0 }: Tokens): number {
  return input + cacheRead + cacheWrite + cacheWrite1h;
}

function withoutLongWrites({ cacheWrite = 0, cacheWrite1h = 0, ...tokens }: Tokens): Tokens {
  return { ...tokens, cacheWrite: cacheWrite + cacheWrite1h };
}

function startOf(name: Endpoint['name']): SseFrame[] {
  const { start, deltas } = streamFrames(name, short);
  return [...start, ...deltas.slice(0, 2)];
}

/** An error status, or the format's error event at the end of a stream; never a cost. */
function assertFailed(reply: Reply, where: string): void {
  assert.equal(reply.costMicros, null, where);
  assert.ok(!reply.text.includes('cost_micros'), where);
  if (reply.status === 200) {
    const last = reply.frames.at(-1);
    assert.ok(
      last && /error|response\.failed/.test(`${last.event} ${JSON.stringify(last.data)}`),
      `${where}: ${reply.text.slice(-300)}`,
    );
    assert.ok(!/\[DONE\]|message_stop|response\.completed/.test(reply.text), where);
  } else {
    assert.ok(reply.status >= 400, `${where}: ${reply.status}`);
  }
}

function costOf(record: UsageRecord): number {
  return record.cost_cents;
}

async function recordOf(key: string, requestId: string): Promise<UsageRecord> {
  const records = await gateway.usage<UsageRecord>(key, requestId);
  assert.equal(records.length, 1, `records of ${requestId}`);
  return records[0]!;
}

async function waitForRecord(key: string, requestId: string): Promise<UsageRecord> {
  return until(async () => (await gateway.usage<UsageRecord>(key, requestId))[0]);
}

/** The endpoint's upstream answers when the test releases it. */
function holdAnswer({ name, upstreamPath }: Endpoint): ReturnType<typeof holdBack> {
  const answer = holdBack(answerContent(name, short));
  gateway.upstream.on(upstreamPath, answer.script);
  return answer;
}

/** This many small chat requests at once: none is answered before all are admitted or refused. */
async function atOnce(count: number, key: string): Promise<Reply[]> {
  const answer = holdAnswer(chat);
  const next = gateway.upstream.requests.length;
  let refused = 0;
  const replies = Array.from({ length: count }, async () => {
    const reply = await gateway.ask(chat, key);
    if (reply.status !== 200) refused++;
    return reply;
  });
  await until(() => gateway.upstream.requests.length - next + refused >= count);
  answer.release();
  return Promise.all(replies);
}

/** The hold of one such request. */
async function holdOf(): Promise<Micros> {
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const next = gateway.upstream.requests.length;
  const answer = holdAnswer(chat);
  const reply = gateway.ask(chat, key);
  await gateway.upstream.request(next);
  const { heldMicros } = await gateway.balance(account);
  answer.release();
  await reply;
  return heldMicros;
}
