// Free answers (of test keys and from the cache) are stored up to a number of bytes a day for each
// account. Charged answers are always stored.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import { endpoint } from '../support/endpoints.ts';
import { startGateway } from '../support/gateway.ts';
import { png } from '../support/images/local-image-provider.ts';
import { noise } from '../support/noise.ts';
import { TestClock } from '../support/test-clock.ts';
import { answerJson } from '../support/upstream.ts';

const chat = endpoint('chat');
const dayMs = 86_400_000;
/** Room for two of these answers, compressed. */
const freeBytes = 2_500;

const clock = new TestClock();
const gateway = await startGateway({ limits: { free_bytes_per_day: freeBytes } }, { clock });
const tokens = { input: 100, output: 20 };
gateway.answer(chat, { text: noise(1_200), tokens });
after(() => gateway.stop());

type Asked = { readonly key: string; readonly name: string; readonly fields?: object };

const ask = ({ key, name, fields }: Asked) =>
  gateway.post(chat.path, {
    key,
    body: chat.body({
      messages: [{ role: 'user', content: noise(1_200) }],
      max_tokens: 500,
      ...fields,
    }),
    headers: { 'idempotency-key': name },
  });

/** Sends each request, and then again. Returns which repeats got the stored answer. */
async function repeat(key: string, names: readonly string[], fields = {}): Promise<boolean[]> {
  const stored: boolean[] = [];
  for (const name of names) {
    const first = await ask({ key, name, fields });
    assert.equal(first.status, 200, first.text);
    const packed = deflateRawSync(first.text).length;
    assert.ok(packed > freeBytes / 3 && packed <= freeBytes / 2, `${packed}`);
  }
  for (const name of names) {
    const again = await ask({ key, name, fields });
    if (again.status !== 200) {
      assert.deepEqual([again.status, again.error.code], [409, 'idempotency_body_not_retained']);
      assert.match(again.error.message, /free_bytes_per_day/);
    }
    stored.push(again.status === 200);
  }
  return stored;
}

test('answers of test keys are stored up to the bytes of a day, for each account', async () => {
  const { key, account } = await gateway.makeKey();
  assert.deepEqual(await repeat(key, ['1', '2', '3']), [true, true, false]);
  const { key: second } = await gateway.makeKey({ account });
  assert.deepEqual(await repeat(second, ['1']), [false], 'another key of the account');
  const { key: other } = await gateway.makeKey();
  assert.deepEqual(await repeat(other, ['1', '2']), [true, true]);
  clock.jumpTo(clock.nowMs() + dayMs);
  assert.deepEqual(await repeat(key, ['4']), [true]);
});

test('cache hits are stored up to the same bytes, and charged answers always', async () => {
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  assert.deepEqual(await repeat(key, ['1', '2', '3', '4']), [true, true, true, true]);
  const cached = { temperature: 0, model: 'gpt-4.1-mini' };
  assert.equal((await ask({ key, name: 'paid', fields: cached })).costMicros! > 0, true);
  assert.deepEqual(await repeat(key, ['5', '6', '7'], cached), [true, true, false]);
  assert.deepEqual(await repeat(key, ['8']), [true]);
});

test('images of test keys are stored up to the same bytes, and further ones only sent as base64', async () => {
  const { key, account } = await gateway.makeKey();
  const draw = (fields = {}) =>
    gateway.post('/v1/images/generations', {
      key,
      body: {
        model: 'gpt-image-flare',
        prompt: 'a red fox',
        size: '64x64',
        output_format: 'webp',
        ...fields,
      },
    });
  let storedBytes = 0;
  let reply = await draw();
  for (; reply.status === 200; reply = await draw()) {
    const [{ url }] = reply.json<{ data: [{ url: string }] }>().data;
    storedBytes += (await (await fetch(url)).arrayBuffer()).byteLength;
    assert.ok(storedBytes <= freeBytes, `${storedBytes} bytes`);
  }
  assert.ok(storedBytes > 0);
  assert.deepEqual([reply.status, reply.error.code], [429, 'rate_limit_exceeded'], reply.text);
  assert.equal(reply.error.param, 'response_format');
  assert.match(reply.error.message, /b64_json/);
  const toMidnightMs = dayMs - (clock.nowMs() % dayMs);
  assert.equal(Number(reply.headers['retry-after']), Math.ceil(toMidnightMs / 1_000));
  assert.equal((await gateway.balance(account, 'test')).heldMicros, 0);
  const { data } = (await draw({ response_format: 'b64_json' })).json<{
    data: [{ b64_json: string }];
  }>();
  assert.ok(data[0].b64_json.length > 0);
  clock.jumpTo(clock.nowMs() + toMidnightMs);
  assert.equal((await draw()).status, 200);
});

test('images of live keys are always stored', async () => {
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  gateway.upstream.on(
    '/v1/images/generations',
    answerJson({ created: 1, data: [{ b64_json: png.toString('base64') }] }),
  );
  const images = Math.ceil(freeBytes / png.length) + 1;
  for (let count = 0; count < images; count++) {
    const reply = await gateway.post('/v1/images/generations', {
      key,
      body: { model: 'gpt-image-flare', prompt: `a red fox ${count}` },
    });
    assert.equal(reply.status, 200, reply.text);
  }
});
