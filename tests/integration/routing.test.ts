// Retries and fallbacks: what is retried, where and how often; always with one hold, and one charge
// at the price of the route that served.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { text as readAll } from 'node:stream/consumers';
import { after, beforeEach, test } from 'node:test';
import { answerContent, streamFrames, wholeAnswer, type WireName } from '../support/answers.ts';
import { endpoints } from '../support/endpoints.ts';
import { Reply } from '../support/http.ts';
import { checkStream } from '../support/stream-rules.ts';
import { keepAliveMs } from '../../src/gateway/keep-alives.ts';
import { TestClock } from '../support/test-clock.ts';
import { endpointOf, modelLimits, servedBy, startTwoRoutes } from '../support/two-routes.ts';
import {
  answerBytes,
  answerJson,
  answerSse,
  answerStatus,
  framesText,
  hang,
  holdBack,
  resetInMidAnswer,
  thenReset,
  type Script,
  type SseFrame,
} from '../support/upstream.ts';
import { until } from '../support/until.ts';

/** `costMicros`: 10 × $1 + 3 × $10 a million, and 20 × $1 + 7 × $10. */
const firstAnswer = { text: 'from the first', tokens: { input: 10, output: 3 }, costMicros: 40 };
const secondAnswer = { text: 'from the second', tokens: { input: 20, output: 7 }, costMicros: 90 };

/** How often the gateway checks upstream timeouts. */
const sweepMs = 1_000;

const chat = endpointOf('chat');
const clock = new TestClock();

const route = (provider: string, fields: object = {}) => ({
  provider,
  model: `${provider}-model`,
  ...fields,
});
const toTwo = (fields: object, ofSecond: object = {}) => ({
  ...modelLimits,
  routes: [route('first', fields), route('second', ofSecond)],
});
const two = await startTwoRoutes(
  {
    models: {
      hasty: { ...toTwo({ api: 'chat' }), timeouts: { first_byte_ms: 100 } },
      patient: {
        ...toTwo({ api: 'chat' }),
        timeouts: { first_byte_ms: 3_600_000, total_ms: 3_600_000 },
      },
      'small-first': toTwo({ context_tokens: 300 }),
      'small-both': toTwo({ context_tokens: 10 }, { context_tokens: 20 }),
      'blind-first': toTwo({ lacks: ['vision', 'tools', 'streaming'] }),
      'blind-both': toTwo({ lacks: ['tools'] }, { lacks: ['tools', 'streaming'] }),
      reversed: toTwo({ rank: 5 }, { rank: 1 }),
      shared: toTwo({ rank: 0, weight: 3 }, { rank: 0 }),
      'claude-then-gpt': toTwo({ provider: 'first-anthropic' }, { api: 'chat' }),
      search: toTwo({ api: 'responses' }, { api: 'responses' }),
    },
  },
  { clock },
);
const { key, account } = await two.gateway.makeKey({ mode: 'live', creditUsd: 5 });
after(() => two.stop());
beforeEach(() => void two.calls());

function post(wire: WireName, fields: object = {}): Promise<Reply> {
  return two.gateway.ask(endpointOf(wire), key, { model: `two-${wire}`, ...fields });
}

/**
 * Takes only as much of the clock's time as it waits for retries, or for an upstream on the same
 * clock.
 */
function ask(wire: WireName, fields: object = {}): Promise<Reply> {
  return clock.skipWaits(post(wire, fields));
}

const afterSilence =
  (script: Script): Script =>
  async (response, request) => {
    await clock.sleep(1.4 * keepAliveMs);
    await script(response, request);
  };

const first = (wire: WireName) => answerContent(wire, firstAnswer);
const second = (wire: WireName) => answerContent(wire, secondAnswer);
const both = [false, true];

type Play = (wire: WireName, stream: boolean) => Script;

/** Temporary failures, before anything of an answer was sent. */
const passing: Readonly<Record<string, Play>> = {
  ...Object.fromEntries(
    [408, 409, 429, 500, 502, 503, 504, 529].map((status) => [
      `status ${status}`,
      () => answerStatus(status),
    ]),
  ),
  'a reset before the answer': () => thenReset(null),
  'a reset after the head': () =>
    thenReset('', { headers: { 'content-type': 'application/json' } }),
  'an HTML page': () =>
    answerJson('<html>502</html>', { headers: { 'content-type': 'text/html' } }),
  'an error under status 200': () =>
    answerJson({ error: { message: 'Overloaded', type: 'server_error' } }),
  'an empty answer': (_, stream) => (stream ? answerSse([]) : answerJson('')),
  'JSON that is no answer': (_, stream) =>
    stream ? answerSse(['data: {"no\n\n']) : answerJson({ odd: 1 }),
  'an answer that breaks off': (wire, stream) =>
    stream
      ? answerBytes(Buffer.from('data: {"type":'))
      : answerJson(JSON.stringify(wholeAnswer(wire, firstAnswer)).slice(0, -9)),
  'an error as the first event, or in its place': (wire, stream) =>
    stream ? answerSse([overloaded[wire]]) : answerStatus(529),
};

/**
 * The provider had begun to answer, so it has read the request: the estimated cost of that is a
 * loss.
 */
const breaksOff = (name: string, stream: boolean) =>
  name === 'a reset after the head' ||
  (name === 'an empty answer' && stream) ||
  (name === 'an answer that breaks off' && !stream);
const inputMicrosOf = (wire: WireName) => (wire === 'messages' ? 6 : 5);

const overloaded: Readonly<Record<WireName, SseFrame>> = {
  messages: {
    event: 'error',
    data: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
  },
  chat: { data: { error: { message: 'Overloaded', code: 529 } } },
  responses: {
    event: 'error',
    data: { type: 'error', sequence_number: 0, code: 'rate_limit_exceeded', message: 'Slow' },
  },
};

for (const [name, play] of Object.entries(passing)) {
  test(`${name}: the next route is asked, or the only one again, under one hold`, async () => {
    for (const { name: wire } of endpoints) {
      for (const stream of both) {
        const where = `${wire} ${stream ? 'streamed' : 'whole'}`;
        two.play(wire, [play(wire, stream), first(wire)], [second(wire)]);
        assertServed(await ask(wire, { stream, model: `one-${wire}` }), wire, firstAnswer, where);
        assert.deepEqual(two.calls(), [2, 0], where);

        two.play(wire, [play(wire, stream), first(wire)], [play(wire, stream)]);
        assertServed(await ask(wire, { stream }), wire, firstAnswer, where);
        assert.deepEqual(two.calls(), [2, 1], where);

        two.play(wire, [play(wire, stream)], [second(wire)]);
        const reply = await ask(wire, { stream });
        assertServed(reply, wire, secondAnswer, where);
        assert.deepEqual(two.calls(), [1, 1], where);
        const provider = wire === 'messages' ? 'second-anthropic' : 'second';
        assert.deepEqual(servedBy(reply), [provider, '2'], where);
        const lossMicros = breaksOff(name, stream) ? inputMicrosOf(wire) : 0;
        const kinds = ['reserve', ...(lossMicros > 0 ? ['reserve', 'release'] : []), 'settle'];
        const { costMicros } = secondAnswer;
        const booked = await two.booked(reply);
        assert.deepEqual(booked, { provider, costMicros, kinds, lossMicros }, where);
      }
    }
  });
}

/** Statuses for a wrong request. */
for (const status of [400, 422]) {
  test(`status ${status} is returned at once, and no other route is tried`, async () => {
    for (const { name: wire } of endpoints) {
      for (const stream of both) {
        two.play(wire, [answerStatus(status)], [second(wire)]);
        const reply = await ask(wire, { stream });
        assert.deepEqual([reply.status, ...two.calls()], [400, 1, 0], `${wire} ${stream}`);
        assert.deepEqual((await two.booked(reply)).kinds, ['reserve', 'release']);
      }
    }
  });
}

for (const status of [404, 410]) {
  test(`status ${status} says that the model is not there: the next route runs, and the route stays in use`, async () => {
    for (const { name: wire } of endpoints) {
      for (let count = 0; count < 6; count++) {
        two.play(wire, [answerStatus(status)], [second(wire)]);
        assertServed(await ask(wire, { stream: false }), wire, secondAnswer, wire);
        assert.deepEqual(two.calls(), [1, 1]);
      }
    }
  });
}

for (const status of [401, 402, 403, 307]) {
  test(`status ${status} is the route's fault: the next route runs at once, or a 502 is returned`, async () => {
    for (const { name: wire } of endpoints) {
      for (const stream of both) {
        two.play(wire, [answerStatus(status)], [second(wire)]);
        assertServed(await ask(wire, { stream }), wire, secondAnswer, wire);
        assert.deepEqual(two.calls(), [1, 1]);
        // Here a refused credential is skipped for a millisecond only.
        await clock.advance(1);
        const alone = await ask(wire, { stream, model: `one-${wire}` });
        assert.deepEqual(
          [alone.status, alone.error.code, ...two.calls()],
          [502, 'upstream_error', 1, 0],
        );
        // The route is in use again after a success.
        await clock.advance(1);
        two.play(wire, [first(wire)]);
        assert.deepEqual([(await ask(wire)).status, ...two.calls()], [200, 1, 0]);
      }
    }
  });
}

test('when every route fails, the client gets an error after all were tried, for free', async () => {
  for (const { name: wire } of endpoints) {
    for (const stream of both) {
      two.play(wire, [answerStatus(529)], [answerStatus(500)]);
      const reply = await ask(wire, { stream });
      assert.deepEqual([reply.status, ...two.calls()], [502, 2, 2], wire);
      assert.deepEqual(await two.booked(reply), {
        provider: null,
        costMicros: 0,
        kinds: ['reserve', 'release'],
        lossMicros: 0,
      });
    }
  }
});

test('a fallback that refuses the request does not hide that the first route is just busy', async () => {
  two.play('chat', [answerStatus(529)], [answerStatus(400)]);
  assert.equal((await ask('chat')).status, 503);
  assert.deepEqual(two.calls(), [2, 1]);
  two.play('chat', [answerStatus(529), first('chat')], [answerStatus(400)]);
  assert.deepEqual(servedBy(await ask('chat')), ['first', '3']);
  two.play('chat', [answerStatus(529), answerStatus(400)]);
  assert.equal((await ask('chat')).status, 400, 'the same route knows better');
  two.play('chat', [answerStatus(307)], [answerStatus(400)]);
  assert.equal((await ask('chat')).status, 400, 'the first one would not have served later either');
});

test('after its first event an answer is not retried: the format’s error event ends it', async () => {
  for (const { name: wire } of endpoints) {
    const { start, deltas } = streamFrames(wire, firstAnswer);
    const cut = resetInMidAnswer([...start, deltas[0]!]);
    two.play(wire, [cut.script], [second(wire)]);
    const { path, body } = endpointOf(wire);
    const asked = { key, body: body({ model: `two-${wire}`, stream: true }) };
    const stream = await two.gateway.open(path, asked).response;
    await once(stream, 'readable');
    cut.release();
    const reply = new Reply(stream, await readAll(stream));
    assert.equal(checkStream(wire, reply.text, { straight: true }).ending, 'error', wire);
    assert.deepEqual(two.calls(), [1, 0]);
    assert.deepEqual(servedBy(reply), [wire === 'messages' ? 'first-anthropic' : 'first', '1']);
    assert.deepEqual((await two.booked(reply)).kinds, ['reserve', 'release']);
  }
});

test('unseen output of a failed attempt is the operator’s loss, not the client’s', async () => {
  const { start, deltas } = streamFrames('chat', firstAnswer);
  // In one piece, so that nothing was sent before the failure was known.
  const failed = framesText([...start, ...deltas, overloaded.chat]);
  two.play('chat', [answerBytes(Buffer.from(failed))], [second('chat')]);
  const reply = await ask('chat', { stream: true });
  assertServed(reply, 'chat', secondAnswer, 'chat');
  assert.deepEqual(two.calls(), [1, 1]);
  const { kinds, lossMicros, provider } = await two.booked(reply);
  assert.deepEqual(kinds.toSorted(), ['release', 'reserve', 'reserve', 'settle']);
  assert.ok(lossMicros > 0 && provider === 'second', `${lossMicros}`);
});

test('a route that exceeds the model’s timeout is abandoned', async () => {
  two.play('chat', [hang], [second('chat')]);
  const seen = two.first.requests.length;
  const reply = post('chat', { model: 'hasty' });
  await two.first.request(seen);
  await clock.advance(sweepMs);
  assertServed(await reply, 'chat', secondAnswer, 'hasty');
  assert.deepEqual([...two.calls(), ...servedBy(await reply)], [1, 1, 'second', '2']);
});

test('a short `Retry-After` is waited for, a long one is not', async () => {
  two.play('chat', [answerStatus(429, { retryAfter: '1' }), first('chat')], [second('chat')]);
  const startedMs = clock.elapsedMs();
  assertServed(await ask('chat'), 'chat', firstAnswer, 'short');
  const waitedMs = clock.elapsedMs() - startedMs;
  assert.ok(waitedMs >= 1_000 && waitedMs <= 1_001, `it waited for ${waitedMs} ms`);
  assert.deepEqual(two.calls(), [2, 0]);
  two.play('chat', [answerStatus(429, { retryAfter: '6' })], [second('chat')]);
  assertServed(await post('chat'), 'chat', secondAnswer, 'long');
  assert.deepEqual(two.calls(), [1, 1]);
  const alone = await post('chat', { model: 'one-chat' });
  assert.deepEqual([alone.status, alone.headers['retry-after'], ...two.calls()], [503, '6', 1, 0]);
});

test('after a keep-alive another route may still serve, and the trailers name it', async () => {
  for (const { name: wire } of endpoints) {
    two.play(wire, [afterSilence(answerStatus(529))], [second(wire)]);
    const reply = await ask(wire, { stream: true });
    assert.match(reply.text, /^: keep-alive\n\n/, wire);
    assertServed(reply, wire, secondAnswer, wire);
    assert.equal(reply.headers['x-service-route'], undefined);
    assert.deepEqual(servedBy(reply), [wire === 'messages' ? 'second-anthropic' : 'second', '2']);
    two.calls();
  }
});

test('a stream opened while it waited for another names the route in its trailers', async () => {
  const refusal = holdBack(answerStatus(400));
  two.play('chat', [refusal.script, first('chat')]);
  const retry = async () => {
    const headers = { 'idempotency-key': 'waits' };
    const body = chat.body({ model: 'patient', stream: true });
    const response = await two.gateway.open(chat.path, { key, headers, body }).response;
    begun++;
    return new Reply(response, await readAll(response));
  };
  let begun = 0;
  const replies = Promise.all([retry(), retry()]);
  // A keep-alive opens both streams.
  await until(() => clock.advance(keepAliveMs / 8).then(() => begun === 2));
  refusal.release();
  const [served, ...others] = (await replies).filter(({ text }) =>
    text.endsWith('data: [DONE]\n\n'),
  );
  assert.ok(served && others.length === 0);
  assert.match(served.text, /^: keep-alive\n\n/);
  assert.equal(served.headers['x-service-route'], undefined);
  assert.deepEqual([servedBy(served), served.costMicros], [['first', '1'], firstAnswer.costMicros]);
});

test('a client that leaves stops the retries, and pays nothing for failures', async () => {
  for (const stream of both) {
    two.play('chat', [answerStatus(429, { retryAfter: '1' })], [second('chat')]);
    const { request } = two.gateway.open(chat.path, {
      key,
      body: chat.body({ model: 'two-chat', stream }),
    });
    await until(() => clock.dueIn(1_000) === 1);
    request.destroy();
    await until(async () => (await two.gateway.balance(account)).heldMicros === 0);
    await clock.advance(10_000);
    assert.deepEqual(two.calls(), [1, 0]);
  }
});

test('under an Idempotency-Key the fallback runs and is charged once, and a client that left gets its answer', async () => {
  for (const stream of both) {
    const idempotency = { 'idempotency-key': `fallback-${stream}` };
    two.play('chat', [answerStatus(429, { retryAfter: '1' }), answerStatus(503)], [second('chat')]);
    const { postedMicros } = await two.gateway.balance(account);
    const sent = { key, headers: idempotency, body: chat.body({ model: 'two-chat', stream }) };
    const { request } = two.gateway.open(chat.path, sent);
    await until(() => clock.dueIn(1_000) === 1);
    request.destroy();
    const reply = await clock.skipWaits(two.gateway.post(chat.path, sent));
    assert.equal(reply.status, 200);
    assert.ok(reply.text.includes(stream ? 'second' : secondAnswer.text));
    assert.equal(reply.costMicros, 0);
    assert.deepEqual(two.calls(), [2, 1]);
    assert.equal(
      (await two.gateway.balance(account)).postedMicros,
      postedMicros - secondAnswer.costMicros,
    );
  }
});

test('ranks override the order of the list', async () => {
  two.play('chat', [first('chat')], [second('chat')]);
  const reply = await two.gateway.ask(chat, key, { model: 'reversed' });
  assert.deepEqual(servedBy(reply), ['second', '1']);
});

/** Asks the model of two routes in one rank. */
const converse = (content: string) =>
  two.gateway.ask(chat, key, { model: 'shared', messages: [{ role: 'user', content }] });

test('conversations share routes of one rank by weight, and each stays on its route', async () => {
  two.play('chat', [first('chat')], [second('chat')]);
  const routes: unknown[] = [];
  for (let sent = 0; sent < 200; sent++) routes.push(servedBy(await converse(String(sent)))[0]);
  const ofFirst = routes.filter((name) => name === 'first').length;
  // Six standard deviations of 6.1 around 150.
  assert.ok(ofFirst > 113 && ofFirst < 187, `${ofFirst} of 200`);
  for (let sent = 0; sent < 20; sent++)
    assert.equal(servedBy(await converse(String(sent)))[0], routes[sent], `conversation ${sent}`);
});

test('a conversation leaves a route that fails at once', async () => {
  for (let sent = 0; sent < 8; sent++) {
    two.play('chat', [answerStatus(503)], [second('chat')]);
    assert.equal(servedBy(await converse(`left ${sent}`))[0], 'second');
  }
});

test('a route too small for the request is skipped, unless all are: then the largest one decides', async () => {
  two.play('chat', [first('chat')], [second('chat')]);
  const long = { messages: [{ role: 'user', content: 'many words '.repeat(100) }] };
  const send = (model: string, fields = {}) => two.gateway.ask(chat, key, { model, ...fields });
  assert.deepEqual(servedBy(await send('small-first')), ['first', '1']);
  assert.deepEqual(servedBy(await send('small-first', long)), ['second', '1']);
  assert.deepEqual(servedBy(await send('small-both', long)), ['second', '1']);
});

test('a route without a needed feature is skipped; when all lack it, the first one’s refusal is returned', async () => {
  two.play('chat', [first('chat')], [second('chat')]);
  const send = (model: string, fields = {}) => two.gateway.ask(chat, key, { model, ...fields });
  const tools = [
    { type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } },
  ];
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };
  assert.deepEqual(servedBy(await send('blind-first')), ['first', '1']);
  for (const fields of [
    { tools },
    { stream: true },
    { messages: [{ role: 'user', content: [image] }] },
  ]) {
    const reply = await send('blind-first', fields);
    assert.deepEqual(servedBy(reply), ['second', '1'], JSON.stringify(fields));
  }
  two.calls();
  const refused = await send('blind-both', { tools });
  assert.deepEqual(
    [refused.status, refused.error.code, refused.error.param],
    [400, 'invalid_request', 'tools'],
  );
  assert.deepEqual(two.calls(), [0, 0]);
});

test('a Messages request falls back to another vendor only if nothing is lost', async () => {
  two.first.on('/v1/messages', answerStatus(529));
  two.second.on('/v1/chat/completions', second('chat'));
  const messages = [
    { role: 'user', content: 'Hello!' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'c2lnbmVk' },
        { type: 'text', text: 'Hi' },
      ],
    },
    { role: 'user', content: 'And?' },
  ];
  const lossless = [{}, { temperature: 0.5 }, { system: 'Be brief.' }];
  const lossy = [
    { messages },
    { top_k: 5 },
    { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
  ];
  for (const fields of lossless) {
    const reply = await ask('messages', { model: 'claude-then-gpt', ...fields });
    assert.deepEqual(
      [reply.status, ...servedBy(reply), ...two.calls()],
      [200, 'second', '2', 1, 1],
      JSON.stringify(fields),
    );
    assert.equal(reply.json()['model'], 'claude-then-gpt');
  }
  for (const fields of lossy) {
    const reply = await ask('messages', { model: 'claude-then-gpt', ...fields });
    assert.deepEqual([reply.status, ...two.calls()], [503, 2, 0], JSON.stringify(fields));
  }
  // Other formats list what was left out.
  two.first.on('/v1/messages', answerStatus(529));
  const other = await ask('chat', { model: 'claude-then-gpt', seed: 1 });
  assert.deepEqual([other.status, ...servedBy(other)], [200, 'second', '2']);
});

test('one hold covers the most expensive route, and the charge uses the price of the one that served', async () => {
  const searched = {
    ...wholeAnswer('responses', firstAnswer),
    output: [
      {
        type: 'web_search_call',
        id: 'ws_1',
        status: 'completed',
        action: { type: 'search', query: 'x' },
      },
    ],
  };
  const fields = { model: 'search', tools: [{ type: 'web_search' }], max_tool_calls: 2 };
  two.play('responses', [answerJson(searched)], [answerJson(searched)]);
  const cheap = await ask('responses', fields);
  two.play('responses', [answerStatus(500)]);
  const dear = await ask('responses', fields);
  assert.deepEqual(
    [cheap.costMicros, dear.costMicros],
    [10_000 + firstAnswer.costMicros, 50_000 + firstAnswer.costMicros],
  );
  const holds = await two.gateway.database.read
    .selectFrom('charges')
    .select('hold_micros')
    .where('id', 'in', [cheap.requestId, dear.requestId])
    .execute();
  assert.equal(holds[0]!.hold_micros, holds[1]!.hold_micros);
  assert.ok(Number(holds[0]!.hold_micros) > 100_000, 'both searches at the dearer price');
});

test('a test key gets the error for a status without retries', async () => {
  const { key: testKey } = await two.gateway.makeKey();
  for (const stream of both) {
    const messages = [{ role: 'user', content: 'sandbox: status=529' }];
    const reply = await two.gateway.ask(chat, testKey, { model: 'two-chat', stream, messages });
    assert.equal(reply.status, 503);
    const line = await logLineOf(reply);
    assert.deepEqual([line['attempts'], line['provider']], [1, 'sandbox']);
  }
  assert.deepEqual(two.calls(), [0, 0]);
});

test('the log line names the route that served and the attempts', async () => {
  two.play('chat', [answerStatus(500)], [second('chat')]);
  const line = await logLineOf(await ask('chat'));
  assert.deepEqual([line['provider'], line['attempts'], line['status']], ['second', 2, 200]);
});

async function logLineOf({ requestId }: Reply): Promise<Record<string, unknown>> {
  const isItsLine = (line: string) => line.includes(requestId) && line.includes('"request"');
  // Finished requests are logged after a moment.
  const line = await until(async () => {
    await clock.advance(20);
    return two.gateway.program.output.split('\n').find(isItsLine);
  });
  return JSON.parse(line) as Record<string, unknown>;
}

function assertServed(
  reply: Reply,
  wire: WireName,
  expected: { readonly text: string; readonly costMicros: number },
  where: string,
): void {
  assert.equal(reply.status, 200, `${where}: ${reply.text.slice(0, 300)}`);
  assert.equal(reply.costMicros, expected.costMicros, where);
  if (String(reply.headers['content-type']).startsWith('text/event-stream')) {
    const reading = checkStream(wire, reply.text, { straight: true });
    assert.deepEqual([reading.ending, reading.text], ['success', expected.text], where);
  } else {
    assert.ok(reply.text.includes(expected.text), `${where}: ${reply.text}`);
  }
}

test('a fallback’s answer is not cached, because the cache stands for the first route', async () => {
  const cached = (reply: Reply) => reply.headers['x-service-cache'] ?? null;
  for (const stream of both) {
    const messages = [{ role: 'user', content: `cached ${stream}` }];
    const fields = { temperature: 0, stream, messages };
    two.play('chat', [answerStatus(500)], [second('chat')]);
    assert.deepEqual(servedBy(await ask('chat', fields)), ['second', '2']);
    two.play('chat', [first('chat')]);
    const reply = await ask('chat', fields);
    assert.deepEqual([cached(reply), ...servedBy(reply)], [null, 'first', '1']);
    assert.equal(cached(await ask('chat', fields)), 'hit');
  }
});
