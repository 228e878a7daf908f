// Our own faults, and requests that led to some: what cannot be recorded is not told as a success, and nothing stays held.
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import { answerContent } from '../support/answers.ts';
import { endpoints } from '../support/endpoints.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;

before(async () => {
  gateway = await startGateway();
  for (const { name, upstreamPath } of endpoints) {
    gateway.upstream.on(upstreamPath, answerContent(name, { text: 'one two', tokens: { input: 5, output: 2 } }));
  }
});
after(() => gateway.stop());

test('a charge that cannot be written is a 500 or a stream that is cut off, and is not charged', async () => {
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const database = new DatabaseSync(`${gateway.program.dataDir}/tollgate.db`, { timeout: 60_000 });
  database.exec("create trigger refuse before insert on charges begin select raise(abort, 'refused'); end");
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

test('fields of any name can be ignored: the header that lists them stays valid and short', async () => {
  const { key } = await gateway.makeKey();
  const [, chat] = endpoints;
  for (const stream of [false, true]) {
    const odd = await gateway.post(chat!.path, { key, body: chat!.body({ stream, 'a\r\nb: c': 1, ключ: 1 }) });
    assert.equal(odd.status, 200);
    assert.equal(odd.headers['x-service-ignored'], 'a%0D%0Ab%3A%20c, %D0%BA%D0%BB%D1%8E%D1%87');
  }
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`field${index}`, 1]));
  const reply = await gateway.post(chat!.path, { key, body: chat!.body(many) });
  assert.match(String(reply.headers['x-service-ignored']), /^field0, .*, and \d+ more$/);
});
