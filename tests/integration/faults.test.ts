// Failures of the gateway itself: a request that cannot be recorded is not reported as a success,
// and nothing stays held.
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { answerContent } from '../support/answers.ts';
import { endpoints } from '../support/endpoints.ts';
import { startGateway } from '../support/gateway.ts';

const gateway = await startGateway();
for (const { name, upstreamPath } of endpoints) {
  gateway.upstream.on(
    upstreamPath,
    answerContent(name, { text: 'one two', tokens: { input: 5, output: 2 } }),
  );
}
after(() => gateway.stop());

test('a charge that cannot be written is a 500 or a stream that is cut off, and is not charged', async () => {
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const database = new DatabaseSync(`${gateway.program.dataDir}/tollgate.db`, { timeout: 60_000 });
  database.exec(
    "create trigger refuse before insert on charges begin select raise(abort, 'refused'); end",
  );
  try {
    for (const { path, body } of endpoints) {
      const whole = await gateway.post(path, { key, body: body() });
      assert.equal(whole.status, 500);
      assert.equal(whole.error.code, 'internal_error');
      await assert.rejects(gateway.post(path, { key, body: body({ stream: true }) }), /aborted/);
    }
  } finally {
    database.exec('drop trigger refuse');
    database.close();
  }
  const { heldMicros, postedMicros } = await gateway.balance(account);
  assert.deepEqual([heldMicros, postedMicros], [0, 5_000_000]);
});
