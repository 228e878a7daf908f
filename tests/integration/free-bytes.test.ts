// Free answers (of test keys and from the cache) are stored for retries, up to a number of bytes a
// day for each account. Charged answers are always stored.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { answerContent } from '../support/answers.ts';
import { endpoint } from '../support/endpoints.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { TestClock } from '../support/test-clock.ts';

const chat = endpoint('chat');
const dayMs = 86_400_000;
/** Room for two of these answers. */
const freeBytes = 2_000;
let clock: TestClock;
let gateway: TestGateway;

before(async () => {
  clock = new TestClock();
  gateway = await startGateway({ idempotency: { free_bytes_per_day: freeBytes } }, { clock });
  const tokens = { input: 100, output: 20 };
  gateway.upstream.on(chat.upstreamPath, answerContent('chat', { text: 'x'.repeat(500), tokens }));
});
after(() => gateway.stop());

type Asked = { readonly key: string; readonly name: string; readonly fields?: object };

const ask = ({ key, name, fields }: Asked) =>
  gateway.post(chat.path, {
    key,
    body: chat.body({
      messages: [{ role: 'user', content: 'x'.repeat(500) }],
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
    assert.ok(first.text.length > freeBytes / 3 && first.text.length <= freeBytes / 2);
  }
  for (const name of names) {
    const again = await ask({ key, name, fields });
    if (again.status !== 200) {
      assert.deepEqual([again.status, again.error.code], [422, 'idempotency_body_not_retained']);
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
