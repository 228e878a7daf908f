// How upstream error statuses and first errors are reported, on every pair of formats, and invalid
// UTF-8. All other upstream failures are rows of fault-table.test.ts.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { streamFrames, type WireName } from '../support/answers.ts';
import { startGateway } from '../support/gateway.ts';
import type { Reply } from '../support/http.ts';
import { pairModels, pairs, type Pair } from '../support/pairs.ts';
import { checkStream } from '../support/stream-rules.ts';
import {
  answerBytes,
  answerJson,
  answerSse,
  answerStatus,
  framesText,
  type SseFrame,
} from '../support/upstream.ts';

const content = { text: 'one two three', tokens: { input: 5, output: 3 } };
const creditMicros = 5_000_000;

const gateway = await startGateway({ models: pairModels, log: { level: 'error' } });
const { key, account } = await gateway.makeKey({ creditUsd: creditMicros / 1_000_000 });
after(() => gateway.stop());

/** The error for a failure before the first byte. */
function codeOfStatus(status: number): readonly [status: number, code: string] {
  if ([400, 404, 410, 413, 422].includes(status)) return [400, 'invalid_request'];
  if ([429, 498, 503, 529].includes(status)) return [503, 'upstream_unavailable'];
  if ([408, 504].includes(status)) return [504, 'upstream_timeout'];
  return [502, 'upstream_error'];
}

const known = [400, 401, 404, 408, 410, 413, 422, 429, 498, 499, 500, 502, 503, 504, 529];
for (const pair of pairs) {
  // What a status means does not depend on the upstream's format.
  const statuses = pair.straight ? Array.from({ length: 130 }, (_, more) => 400 + more) : known;
  test(`${pair.name}: ${pair.straight ? 'each' : 'each kind of'} upstream status from 400 to 529 becomes the right status and code`, async () => {
    for (const status of statuses) {
      gateway.upstream.on(
        pair.upstreamPath,
        answerStatus(status, { body: errorBody(pair.upstream), retryAfter: '7' }),
      );
      const reply = await ask(pair, { stream: status % 2 === 0 || status === 529 });
      const [expected, code] = codeOfStatus(status);
      assertRefused(reply, pair, { status: expected, code }, `upstream status ${status}`);
      if (expected === 503) assert.equal(reply.headers['retry-after'], '7');
      if (expected === 400) assert.match(reply.error.message, /the tool is unknown/);
    }
    await assertFree();
  });
}

/** The error in the upstream's format. */
function errorBody(wire: WireName): object {
  const message = 'the tool is unknown';
  return wire === 'messages'
    ? { type: 'error', error: { type: 'invalid_request_error', message }, request_id: 'req_x' }
    : { error: { message, type: 'invalid_request_error', param: null, code: null } };
}

test('an error as the first event becomes the matching status', async () => {
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
  for (const pair of pairs) {
    gateway.upstream.on(pair.upstreamPath, answerSse([overloaded[pair.upstream]]));
    const reply = await ask(pair, { stream: true });
    assertRefused(reply, pair, { status: 503, code: 'upstream_unavailable' }, 'an error event');
  }
  await assertFree();
});

test('a host that breaks off behind `stop` without a word is asked again, and the break is free', async (t) => {
  const config = { models: pairModels, log: { level: 'error' }, retries: { max_attempts: 2 } };
  const retrying = await startGateway(config, { tuning: { backoffMs: 1 } });
  t.after(() => retrying.stop());
  const { key: creditKey } = await retrying.makeKey({ creditUsd: 5 });
  const choice = { index: 0, finish_reason: 'stop', native_finish_reason: 'network_error' };
  const usage = { prompt_tokens: 5, completion_tokens: 0, total_tokens: 5 };
  const message = { role: 'assistant', content: '' };
  const opened = { choices: [{ index: 0, delta: message, finish_reason: null }] };
  const broken = { choices: [{ ...choice, delta: { content: '' } }], usage };
  const { start, deltas, end } = streamFrames('chat', content);
  const brokenStream = answerSse([{ data: opened }, { data: broken }, { data: '[DONE]' }]);
  for (const pair of pairs.filter(({ upstream }) => upstream === 'chat')) {
    const send = (stream: boolean) =>
      retrying.post(pair.client.path, { key: creditKey, body: pair.body({ stream }) });
    retrying.upstream.on(pair.upstreamPath, brokenStream, answerSse([...start, ...deltas, ...end]));
    const streamed = await send(true);
    const read = checkStream(pair.client.name, streamed.text, { straight: true });
    assert.deepEqual([read.ending, read.text], ['success', content.text], pair.name);
    const asked = retrying.upstream.requests.length;
    retrying.upstream.on(
      pair.upstreamPath,
      answerJson({ choices: [{ ...choice, message }], usage }),
    );
    assertRefused(await send(false), pair, { status: 502, code: 'upstream_error' }, 'whole');
    assert.equal(retrying.upstream.requests.length, asked + 2, 'the whole answer was asked again');
  }
});

test('a whole answer that begins with a byte order mark is read', async () => {
  const credit = await gateway.makeKey({ creditUsd: 5 });
  for (const pair of pairs.filter(({ upstream }) => upstream === 'chat')) {
    const message = { role: 'assistant', content: content.text };
    const answer = { id: 'c', choices: [{ index: 0, message, finish_reason: 'stop' }] };
    gateway.upstream.on(pair.upstreamPath, (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(`\uFEFF${JSON.stringify(answer)}`);
    });
    const reply = await gateway.post(pair.client.path, { key: credit.key, body: pair.body({}) });
    assert.equal(reply.status, 200, reply.text);
    assert.ok(reply.text.includes(content.text), pair.name);
  }
});

test('invalid UTF-8 in an answer becomes a replacement character, and the answer goes on', async () => {
  const credit = await gateway.makeKey({ creditUsd: 5 });
  for (const pair of pairs) {
    const { start, deltas, end } = streamFrames(pair.upstream, content);
    const spoilt = framesText([...start, ...deltas, ...end]).replaceAll(' two', ' \xFFwo');
    gateway.upstream.on(
      pair.upstreamPath,
      answerBytes(Buffer.from(spoilt, 'latin1'), { sizes: [7] }),
    );
    const reply = await gateway.post(pair.client.path, {
      key: credit.key,
      body: pair.body({ stream: true }),
    });
    const { ending, text } = checkStream(pair.client.name, reply.text, { straight: true });
    assert.equal(ending, 'success', pair.name);
    assert.ok(text.includes('\uFFFDwo three'), `${pair.name}: ${text}`);
  }
});

function ask(pair: Pair, fields: object): Promise<Reply> {
  return gateway.post(pair.client.path, { key, body: pair.body(fields) });
}

function assertRefused(
  reply: Reply,
  pair: Pair,
  expected: { status: number; code: string },
  what: string,
): void {
  const where = `${pair.name}: ${what}: ${reply.text.slice(0, 300)}`;
  assert.equal(reply.status, expected.status, where);
  assert.match(String(reply.headers['content-type']), /^application\/json/, where);
  assert.equal(reply.error.code, expected.code, where);
  assert.equal(reply.json()['type'] === 'error', pair.client.name === 'messages', where);
  assert.equal(reply.costMicros, null, where);
}

/** No failure was charged, and nothing stays held. */
async function assertFree(): Promise<void> {
  await gateway.assertLeft(account, creditMicros);
}
