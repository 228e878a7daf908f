// Whatever goes wrong with an upstream, on every pair of formats: the client is told in its own format, is charged nothing, and never
// waits in vain. Before the first byte that is a status and a code, after it the format's own error event.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { streamFrames, wholeAnswer, type WireName } from '../support/answers.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import type { Reply } from '../support/http.ts';
import { pairModels, pairs, type Pair } from '../support/pairs.ts';
import { checkStream } from '../support/stream-rules.ts';
import {
  answerBytes,
  answerJson,
  answerSse,
  answerStatus,
  framesText,
  thenReset,
  type Script,
  type SseFrame,
} from '../support/upstream.ts';

const content = { text: 'one two three', tokens: { input: 5, output: 3 } };
const creditMicros = 5_000_000;

let gateway: TestGateway;
let key: string;
let account: string;

before(async () => {
  gateway = await startGateway({ models: pairModels, log: { level: 'error' } });
  ({ key, account } = await gateway.makeKey({ mode: 'live', creditUsd: creditMicros / 1_000_000 }));
});
after(() => gateway.stop());

/** What a failure becomes before the first byte. */
function codeOfStatus(status: number): readonly [status: number, code: string] {
  if ([400, 404, 413, 422].includes(status)) return [400, 'invalid_request'];
  if ([429, 503, 529].includes(status)) return [503, 'upstream_unavailable'];
  if ([408, 504].includes(status)) return [504, 'upstream_timeout'];
  return [502, 'upstream_error'];
}

for (const pair of pairs) {
  test(
    `${pair.name}: each status of the upstream from 400 to 529 is the right status and code`,
    { timeout: 60_000 },
    async () => {
      for (let status = 400; status <= 529; status++) {
        gateway.upstream.on(pair.upstreamPath, answerStatus(status, { body: errorBody(pair.upstream), retryAfter: '7' }));
        const reply = await ask(pair, { stream: status % 2 === 0 || status === 529 });
        const [expected, code] = codeOfStatus(status);
        assertRefused(reply, pair, { status: expected, code }, `upstream status ${status}`);
        if (expected === 503) assert.equal(reply.headers['retry-after'], '7');
        if (expected === 400) assert.match(reply.error.message, /the tool is unknown/);
      }
      await assertFree();
    },
  );
}

/** The error in the upstream's own shape. */
function errorBody(wire: WireName): object {
  const message = 'the tool is unknown';
  return wire === 'messages'
    ? { type: 'error', error: { type: 'invalid_request_error', message }, request_id: 'req_x' }
    : { error: { message, type: 'invalid_request_error', param: null, code: null } };
}

type Play = (pair: Pair) => Script;
const events = { headers: { 'content-type': 'text/event-stream' } };
const whole = ({ upstream }: Pair) => wholeAnswer(upstream, content);
const framesOf = ({ upstream }: Pair) => streamFrames(upstream, content);
const begun = (pair: Pair) => [...framesOf(pair).start, ...framesOf(pair).deltas.slice(0, 2)];
const withoutEnd = (pair: Pair, ...more: SseFrame[]) => answerSse([...begun(pair), ...more]);

/** A frame over the bound on one event: 33 MB without a line end. */
const endless = Buffer.alloc(33 * 1024 * 1024, 'x');
const oversized: Play = (pair) => async (response, request) => {
  await answerBytes(Buffer.concat([Buffer.from(framesText(begun(pair))), Buffer.from('data: "'), endless]))(response, request);
};

/** Before anything of the answer came: a status of its own. The second column: with `stream`. */
const beforeTheFirstByte: Readonly<Record<string, readonly [play: Play, stream: boolean]>> = {
  'an HTML page in place of a stream': [
    () => answerJson('<html>Sign in</html>', { headers: { 'content-type': 'text/html' } }),
    true,
  ],
  'an HTML page in place of JSON': [
    () => answerJson('<html>Sign in</html>', { headers: { 'content-type': 'text/html' } }),
    false,
  ],
  'an HTML page that is called a stream': [() => answerBytes(Buffer.from('<html>\n\n</html>\n\n')), true],
  'a whole answer in place of a stream': [(pair) => answerJson(whole(pair)), true],
  'a whole answer that is called a stream': [(pair) => answerJson(whole(pair), events), true],
  'a stream in place of a whole answer': [(pair) => answerSse([...begun(pair), ...framesOf(pair).end]), false],
  'a stream that is called JSON': [
    (pair) => answerSse([...begun(pair), ...framesOf(pair).end], { headers: { 'content-type': 'application/json' } }),
    false,
  ],
  'an empty body': [() => answerJson(''), false],
  'an empty stream': [() => answerSse([]), true],
  'a stream of comments': [() => answerSse([': hello\n\n', ': hello\n\n']), true],
  'an empty JSON object': [() => answerJson({}), false],
  'JSON that is cut off': [(pair) => answerJson(JSON.stringify(whole(pair)).slice(0, -5)), false],
  'a compressed answer': [(pair) => answerCompressed(JSON.stringify(whole(pair)), 'application/json'), false],
  'a compressed stream': [(pair) => answerCompressed(framesText(begun(pair)), 'text/event-stream'), true],
  'an error object under status 200': [({ upstream }) => answerJson(errorBody(upstream)), false],
  'an error object under status 200 in place of a stream': [({ upstream }) => answerJson(errorBody(upstream)), true],
  'garbage as the first frame': [() => answerSse(['data: {"no\n\n']), true],
  'half of a first frame': [() => answerBytes(Buffer.from('data: {"type":')), true],
  'bytes that are no text': [() => answerBytes(Buffer.from([0xff, 0xfe, 0x80, 0x0a, 0x0a, 0xc3, 0x0a, 0x0a])), true],
  'a reset after the head': [() => thenReset(''), true],
};

for (const [name, [play, stream]] of Object.entries(beforeTheFirstByte)) {
  test(`${name}: a status that says so, on every pair`, { timeout: 30_000 }, async () => {
    for (const pair of pairs) {
      gateway.upstream.on(pair.upstreamPath, play(pair));
      assertRefused(await ask(pair, { stream }), pair, { status: 502, code: 'upstream_error' }, name);
    }
    await assertFree();
  });
}

test('an error as the first event is a status, and the one that its words mean', { timeout: 30_000 }, async () => {
  const overloaded: Readonly<Record<WireName, SseFrame>> = {
    messages: { event: 'error', data: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } } },
    chat: { data: { error: { message: 'Overloaded', code: 529 } } },
    responses: { event: 'error', data: { type: 'error', sequence_number: 0, code: 'rate_limit_exceeded', message: 'Slow' } },
  };
  for (const pair of pairs) {
    gateway.upstream.on(pair.upstreamPath, answerSse([overloaded[pair.upstream]]));
    const reply = await ask(pair, { stream: true });
    assertRefused(reply, pair, { status: 503, code: 'upstream_unavailable' }, 'an error event');
  }
  await assertFree();
});

/** After the answer has begun. */
const afterTheFirstByte: Readonly<Record<string, Play>> = {
  'a stream that just ends': (pair) => withoutEnd(pair),
  'a stream that ends after its start': (pair) => answerSse(framesOf(pair).start),
  'a frame of garbage': (pair) => withoutEnd(pair, 'data: {"no\n\n', ...framesOf(pair).end),
  'half of a frame': (pair) => withoutEnd(pair, 'data: {"choices":[{"del'),
  'a frame without an end': oversized,
  'bytes that are no text': (pair) =>
    answerBytes(Buffer.concat([Buffer.from(framesText(begun(pair))), Buffer.from([0xff, 0xc3])])),
  'an HTML page in the middle': (pair) => withoutEnd(pair, '<html>\n<h1>502</h1>\n\n'),
  'a reset': (pair) => thenReset(framesText(begun(pair))),
  'an error event': (pair) =>
    withoutEnd(
      pair,
      pair.upstream === 'chat'
        ? { data: { error: { message: 'Boom', code: 500 } } }
        : { event: 'error', data: { type: 'error', sequence_number: 9, error: { type: 'api_error', message: 'Boom' } } },
    ),
};

for (const [name, play] of Object.entries(afterTheFirstByte)) {
  test(`${name}: the format's own error event, on every pair`, { timeout: 60_000 }, async () => {
    for (const pair of pairs) {
      gateway.upstream.on(pair.upstreamPath, play(pair));
      const reply = await ask(pair, { stream: true });
      const where = `${pair.name}: ${name}`;
      // On some pairs nothing of the start is worth a frame; then it is a status all the same.
      if (reply.status !== 200) assertRefused(reply, pair, { status: 502, code: 'upstream_error' }, name);
      else assertEnded(reply, pair, where);
    }
    await assertFree();
  });
}

test('a character that is no UTF-8 inside an answer is shown as such, and the answer goes on', { timeout: 30_000 }, async () => {
  const credit = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  for (const pair of pairs) {
    const { start, deltas, end } = framesOf(pair);
    const spoilt = framesText([...start, ...deltas, ...end]).replaceAll(' two', ' \xFFwo');
    gateway.upstream.on(pair.upstreamPath, answerBytes(Buffer.from(spoilt, 'latin1'), { sizes: [7] }));
    const reply = await gateway.post(pair.client.path, { key: credit.key, body: pair.body({ stream: true }) });
    const { ending, text } = checkStream(pair.client.name, reply.text, { straight: true });
    assert.equal(ending, 'success', pair.name);
    assert.ok(text.includes('\uFFFDwo three'), `${pair.name}: ${text}`);
  }
});

function ask(pair: Pair, fields: object): Promise<Reply> {
  return gateway.post(pair.client.path, { key, body: pair.body(fields) });
}

function assertRefused(reply: Reply, pair: Pair, expected: { status: number; code: string }, what: string): void {
  const where = `${pair.name}: ${what}: ${reply.text.slice(0, 300)}`;
  assert.equal(reply.status, expected.status, where);
  assert.match(String(reply.headers['content-type']), /^application\/json/, where);
  assert.equal(reply.error.code, expected.code, where);
  assert.equal(reply.json()['type'] === 'error', pair.client.name === 'messages', where);
  assert.equal(reply.costMicros, null, where);
}

function assertEnded(reply: Reply, { client, straight }: Pair, where: string): void {
  const { ending } = checkStream(client.name, reply.text, { straight });
  assert.equal(ending, 'error', where);
  assert.equal(reply.costMicros, null, where);
  assert.match(reply.text, /upstream_error/, where);
}

/** No failure has cost anything, and nothing stays held. */
async function assertFree(): Promise<void> {
  const { availableMicros, heldMicros } = await gateway.balance(account);
  assert.deepEqual([availableMicros, heldMicros], [creditMicros, 0]);
}

function answerCompressed(text: string, type: string): Script {
  return (response) => {
    response.writeHead(200, { 'content-type': type, 'content-encoding': 'gzip' });
    response.end(gzipSync(text));
  };
}
