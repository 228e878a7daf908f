// Agents repeat a 402 or a 429 several times (Codex five). Such refusals must cost nothing: no write,
// no call of a provider.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { endpoint } from '../support/endpoints.ts';
import { startGateway } from '../support/gateway.ts';
import { ResponsesSocket } from '../support/responses-socket.ts';
import { TestClock } from '../support/test-clock.ts';

const at = endpoint('responses');
const repeats = 6;
// A clock that stands still, so that nothing is written by the way.
const gateway = await startGateway({}, { clock: new TestClock() });
after(() => gateway.stop());

/** SQLite's count of the commits of other connections. */
async function commits(): Promise<number> {
  const { rows } = await sql<{ data_version: number }>`PRAGMA data_version`.execute(
    gateway.database.read,
  );
  return rows[0]!.data_version;
}

test('the count sees a charged request', async () => {
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  gateway.answer(at, { text: 'Hi', tokens: { input: 10, output: 2 } });
  const before = await commits();
  assert.equal((await gateway.ask(at, key)).status, 200);
  assert.notEqual(await commits(), before);
});

for (const [status, code, options] of [
  [402, 'insufficient_balance', { creditUsd: 0.000001 }],
  [429, 'key_daily_limit_reached', { creditUsd: 5, dailyCapMicros: 1n }],
  [429, 'rate_limit_exceeded', { creditUsd: 5, requestsPerMinute: 0 }],
] as const)
  test(`${code}: a refusal that is repeated over HTTP and WebSocket writes nothing`, async () => {
    const { key } = await gateway.makeKey({ mode: 'live', ...options } as object);
    const refuse = async () => {
      const reply = await gateway.ask(at, key, { stream: true });
      assert.deepEqual([reply.status, reply.error.code], [status, code]);
    };
    await refuse();
    const socket = await ResponsesSocket.open(gateway.url, { key });
    const sent = gateway.upstream.requests.length;
    const before = await commits();
    for (let attempt = 0; attempt < repeats; attempt++) await refuse();
    for (let attempt = 0; attempt < repeats; attempt++) {
      const frame = await socket.create(at.body());
      assert.deepEqual([frame.status, frame.error!.code], [status, code]);
    }
    assert.equal(await commits(), before);
    assert.equal(gateway.upstream.requests.length, sent);
    await socket.close();
  });
