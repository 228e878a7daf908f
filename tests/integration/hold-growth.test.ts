// A stream's hold grows slice by slice. So a small balance runs as many streams as fit, and a
// stream whose hold cannot grow ends as at its length limit, in every pair of formats.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { zeroMicros } from '../../src/lib/money.ts';
import { streamFrames } from '../support/answers.ts';
import { columnOf } from '../support/column-of.ts';
import { startGateway } from '../support/gateway.ts';
import { modelOf } from '../support/model-of.ts';
import { pairModels, pairPrices, pairs } from '../support/pairs.ts';
import { readPlainly } from '../support/plain/read-plainly.ts';
import { checkStream } from '../support/stream-rules.ts';
import { TestClock } from '../support/test-clock.ts';
import { until } from '../support/until.ts';
import {
  answerBytes,
  answerInParts,
  framesText,
  thenHang,
  type Script,
} from '../support/upstream.ts';

const sliceTokens = 256;
/** The smallest hold with which an answer may begin. */
const firstTokens = 1_024;
const outputMicros = pairPrices.output;

const silentThinker = modelOf([{ provider: 'anthropic', model: 'claude-opus-4-8' }], {
  supports: { thinking: true },
  prices: pairPrices,
});

const clock = new TestClock();

const countingThinker = { ...silentThinker, routes: [{ provider: 'google', model: 'flash' }] };
const models = {
  ...pairModels,
  'silent-thinker': silentThinker,
  'counting-thinker': countingThinker,
};
const gateway = await startGateway(
  { models, limits: { hold_slice_tokens: sliceTokens }, log: { level: 'error' } },
  { clock },
);
after(() => gateway.stop());

const askStream = (pair: (typeof pairs)[number], key: string) =>
  gateway.post(pair.client.path, {
    key,
    body: pair.body({ stream: true, [pair.client.limitField]: 8_000 }),
  });

/** An answer of this many tokens, four bytes each. */
function longAnswer(upstream: (typeof pairs)[number]['upstream'], tokens: number) {
  const word = (_: unknown, index: number) => `w${String(index % 100).padStart(2, '0')}`;
  const text = Array.from({ length: tokens }, word).join(' ');
  const counts = { input: 100, output: tokens };
  const { start, deltas, end } = streamFrames(upstream, { text, tokens: counts });
  return { text, bytes: Buffer.from(framesText([...start, ...deltas, ...end])) };
}

test('a hold grows with its answer, which is charged for its use; the rest is released', async () => {
  for (const pair of pairs) {
    const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
    const { text, bytes } = longAnswer(pair.upstream, 3_000);
    gateway.upstream.on(pair.upstreamPath, answerBytes(bytes, { sizes: [20_000] }));
    const reply = await askStream(pair, key);
    const reserved = Number(reply.headers['x-service-reserved-micros']);
    const where = `${pair.name}: it begins with a slice, not with ${reserved}`;
    assert.ok(reserved < (firstTokens + 600) * outputMicros, where);
    assert.equal(checkStream(pair.client.name, reply.text, pair).text, text);
    const cost = 100 * pairPrices.input + 3_000 * outputMicros;
    assert.equal(reply.costMicros, cost);
    const { heldMicros, availableMicros } = await gateway.balance(account);
    assert.deepEqual([heldMicros, availableMicros], [0, 1_000_000 - cost]);
  }
});

test('when the hold cannot grow, the answer ends as at its length limit and is charged for what came', async () => {
  for (const pair of pairs) {
    const credit = 0.03;
    const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: credit });
    const { text, bytes } = longAnswer(pair.upstream, 6_000);
    gateway.upstream.on(pair.upstreamPath, answerBytes(bytes, { sizes: [10_000] }));
    const reply = await askStream(pair, key);
    const reading = checkStream(pair.client.name, reply.text, pair);
    assert.equal(reading.ending, 'success', pair.name);
    const { length } = reading.text;
    assert.ok(length > firstTokens && length < text.length, pair.name);
    assert.ok(text.startsWith(reading.text), pair.name);
    assert.equal(readPlainly(pair.client.name, true, reply.text).stop, 'length', pair.name);
    const { heldMicros, availableMicros, outputTokens } = await gateway.balance(account);
    assert.equal(heldMicros, 0);
    assert.ok(availableMicros >= 0 && availableMicros < credit * 1_000_000);
    assert.equal(outputTokens, Math.ceil(length / 4), `${pair.name}: charged for what came`);
  }
});

test('thoughts that a provider counts as it goes use up the hold like text', async () => {
  const countedEach = 300;
  const chunks = Array.from({ length: 20 }, (_, index) => ({
    candidates: [
      {
        index: 0,
        content: { role: 'model', parts: [{ text: 'and on ' }] },
        ...(index === 19 && { finishReason: 'STOP' }),
      },
    ],
    usageMetadata: { promptTokenCount: 100, thoughtsTokenCount: countedEach * (index + 1) },
  }));
  // Longer than what is read from a socket at once, so that chunks arrive one after the other.
  const comment = `: ${'x'.repeat(100_000)}\n\n`;
  const frames = chunks.map((data) => `${comment}data: ${JSON.stringify(data)}\n\n`);
  const script = answerBytes(Buffer.from(frames.join('')));
  const method = 'streamGenerateContent';
  gateway.upstream.on(`/v1beta/models/flash:${method}`, script);
  const model = 'counting-thinker';
  const messages = [{ role: 'user', content: 'Hi' }];
  const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }];
  const chat = { model, stream: true, max_completion_tokens: 8_000, messages };
  const gemini = { contents, generationConfig: { maxOutputTokens: 8_000 } };
  for (const [path, body, stop] of [
    ['/v1/chat/completions', chat, '"length"'],
    [`/v1beta/models/${model}:${method}?alt=sse`, gemini, '"MAX_TOKENS"'],
  ] as const) {
    const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 0.03 });
    const reply = await gateway.post(path, { key, body });
    const [lost = 0] = await gateway.lossesOf(reply.requestId);
    assert.ok(lost <= 2 * countedEach * outputMicros, `${path}: ${lost} lost`);
    assert.ok(reply.text.includes(stop), reply.text.slice(-500));
    assert.equal((await gateway.balance(account)).heldMicros, 0);
  }
});

test('a daily cap ends an answer as an empty balance does', async () => {
  const pair = pairs[0]!;
  const cap = 30_000;
  const options = { mode: 'live', creditUsd: 5, dailyCapMicros: cap as never } as const;
  const { key } = await gateway.makeKey(options);
  const answer = answerBytes(longAnswer(pair.upstream, 6_000).bytes, { sizes: [10_000] });
  gateway.upstream.on(pair.upstreamPath, answer);
  const reply = await askStream(pair, key);
  assert.equal(readPlainly(pair.client.name, true, reply.text).stop, 'length');
  assert.ok(reply.costMicros! > 0 && reply.costMicros! <= cap);
});

/** How each format requests thinking. */
const thinking = {
  chat: { reasoning_effort: 'high' },
  responses: { reasoning: { effort: 'high' } },
  messages: { thinking: { type: 'adaptive' } },
} as const;

test('a model that thinks silently beyond the largest possible hold is stopped, and the client is told', async () => {
  const silence = thenHang(framesText(streamFrames('messages', { text: '', tokens: null }).start));
  gateway.upstream.on('/v1/messages', silence);
  const onMessages = pairs.filter(({ upstream }) => upstream === 'messages');
  const clients = columnOf(onMessages, 'client');
  const next = gateway.upstream.requests.length;
  const ended = clients.map(async (client) => {
    const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 0.018 });
    const body = client.body({
      model: 'silent-thinker',
      stream: true,
      [client.limitField]: 8_000,
      ...thinking[client.name],
    });
    const reply = await gateway.post(client.path, { key, body });
    assert.equal(checkStream(client.name, reply.text).ending, 'success', client.name);
    assert.equal(readPlainly(client.name, true, reply.text).stop, 'length', client.name);
    const { heldMicros, outputTokens } = await gateway.balance(account);
    assert.deepEqual([heldMicros, outputTokens], [0, 1_100], 'it pays exactly its hold');
  });
  await gateway.upstream.request(next + clients.length - 1);
  // 1,024 tokens are held and the hold cannot grow; a second of silence counts as 100 tokens.
  await clock.advance(10_000);
  await answerAnother();
  assert.equal(gateway.program.app.gateway.runs.count, clients.length);
  await clock.advance(1_000);
  await Promise.all(ended);
});

test('a burst of models that think before they show anything costs no more than the balance', async () => {
  const answers = { text: 'done', tokens: { input: 100, output: 8_000 } };
  for (const sendsHead of [true, false]) {
    const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 0.1 });
    const { start, deltas, end } = streamFrames('messages', answers);
    const open: Parameters<Script>[0][] = [];
    gateway.upstream.on('/v1/messages', (response) => {
      response.setHeader('content-type', 'text/event-stream');
      if (sendsHead) response.flushHeaders();
      open.push(response.on('error', () => {}));
    });
    // All of a request is held for at first, except what its model may think.
    const fits = 5;
    const messages = [{ role: 'user', content: 'Hello!' }];
    const asked = { model: 'silent-thinker', stream: true, max_tokens: 8_000, messages };
    const body = { ...asked, ...thinking.messages };
    const sent = Array.from({ length: fits }, () => gateway.post('/v1/messages', { key, body }));
    await until(() => open.length === fits);
    // 80 seconds of thinking: more than five times the balance.
    for (let second = 0; second < 80; second++) {
      await clock.advance(1_000);
      await ledgerAnswers();
    }
    for (const response of open)
      if (!response.destroyed) response.end(framesText([...start, ...deltas, ...end]));
    const replies = await Promise.all(sent);
    const { postedMicros, heldMicros } = await gateway.balance(account);
    const entries = await gateway.database.read
      .selectFrom('entries')
      .select(['loss_micros', 'provoked'])
      .where('ledger_id', '=', `${account}:live`)
      .where('loss_micros', '>', 0 as never)
      .execute();
    const lost = entries.reduce((sum, entry) => sum + entry.loss_micros, 0);
    // The balance, and at most two seconds of each, until the timer notices.
    assert.ok(lost > 0 && lost <= 100_000 + fits * 200 * outputMicros, `${lost}`);
    assert.ok(entries.every(({ provoked }) => provoked === 1));
    assert.deepEqual([postedMicros, heldMicros], [100_000, 0], 'and the client nothing');
    for (const { text } of replies) assert.match(text, /has shown nothing .* Nothing was charged/);
  }
});

/** Waits for the ledger's answers to all commands until now: it works in real time. */
async function ledgerAnswers(): Promise<void> {
  const { ledger } = gateway.program.app.gateway.books;
  await ledger.submit({ type: 'release', holdId: 'none', lossMicros: zeroMicros });
  await clock.advance(0);
}

/** When this request is charged, everything the gateway began to end before has ended. */
async function answerAnother(): Promise<void> {
  const pair = pairs.find(({ name }) => name === 'chat on chat')!;
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
  gateway.upstream.on(pair.upstreamPath, answerBytes(longAnswer('chat', 10).bytes));
  const reply = await gateway.post(pair.client.path, { key, body: pair.body({ stream: true }) });
  assert.ok(reply.costMicros! > 0);
}

test('a burst of streams without a maximum runs as many as fit the balance', async () => {
  const pair = pairs.find(({ name }) => name === 'chat on chat')!;
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
  const tokens = { input: 100, output: 3 };
  const { start, deltas, end } = streamFrames('chat', { text: 'Hello there', tokens });
  const { script, release } = answerInParts([...start, ...deltas], end);
  gateway.upstream.on(pair.upstreamPath, script);
  const body = pair.body({ stream: true, max_completion_tokens: undefined });
  const replies = Array.from({ length: 100 }, () => gateway.post(pair.client.path, { key, body }));
  // When the last refusal has arrived, all that fit are running at once.
  const refused: number[] = [];
  for (const reply of replies)
    void reply.then(({ status }) => status !== 200 && refused.push(status));
  const fit = Math.floor(1_000_000 / holdOf(firstTokens));
  await until(() => refused.length >= 100 - fit - 1);
  const held = (await gateway.balance(account)).heldMicros;
  release();
  const answered = (await Promise.all(replies)).filter(({ status }) => status === 200).length;
  assert.ok(answered >= fit && answered <= fit + 1, `${answered} ran, ${fit} fit`);
  assert.deepEqual(new Set(refused), new Set([402]));
  assert.ok(held <= 1_000_000 && held > 1_000_000 - holdOf(firstTokens), `${held} were held`);
  const left = 1_000_000 - answered * (300 + 3 * outputMicros);
  assert.equal((await gateway.balance(account)).availableMicros, left);
});

/**
 * The hold of a burst request with this many output tokens. Its input is an upper estimate of a few
 * dozen tokens.
 */
function holdOf(outputTokens: number): number {
  return outputTokens * outputMicros + 25 * pairPrices.input;
}
