// Several gateways on one PostgreSQL database: a change on one takes effect on all.
// `contract/postgres` cuts the ledger's connections and restarts the server;
// `npm run test:all -- crashes` does so under gateways.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoint } from '../support/endpoints.ts';
import { hooksOfFile } from '../support/file-hooks.ts';
import { send, type Reply } from '../support/http.ts';
import { createDatabase } from '../support/postgres.ts';
import { startProgram } from '../support/program.ts';
import { answerAtSomeTime, pricedModel } from '../support/replica-load.ts';
import { startReplicas } from '../support/replicas.ts';
import { TestClock } from '../support/test-clock.ts';
import { until, whileTimePasses } from '../support/until.ts';

const chat = endpoint('chat');
const clock = new TestClock();
const config = { models: { priced: pricedModel } };
const hooks = hooksOfFile();
const { replicas, setup, upstream } = await startReplicas(hooks, { count: 3, config, clock });
answerAtSomeTime(upstream);
/** The cost of a request that uses all of its tokens. */
const priceMicros = 200_000;

test('of 500 clients of three gateways on a balance for 100 requests, exactly 100 are served', async () => {
  const { key, account } = await setup.makeKey({ mode: 'live', creditUsd: 20 });
  const body = { ...chat.body(), model: 'priced' };
  const asked = Array.from({ length: 500 }, (_, index) =>
    send(replicas[index % 3]!.url + chat.path, { key, body }),
  );
  const replies = await whileTimePasses(clock, Promise.all(asked));
  const served = replies.filter(({ status }) => status === 200);
  assert.equal(served.length, 100);
  assert.equal(replies.filter(({ status }) => status === 402).length, 400);
  assert.ok(served.every(({ costMicros }) => costMicros === priceMicros));
  await setup.assertLeft(account, 0);
});

test('a change of a key or account on one gateway takes effect on the others within five seconds', async () => {
  const { id, key, account } = await setup.makeKey({ mode: 'live', creditUsd: 5 });
  const ask = async () => {
    const body = { ...chat.body(), model: 'priced', max_completion_tokens: 1 };
    return Promise.all(replicas.map(({ url }) => send(url + chat.path, { key, body })));
  };
  const follow = async (isExpected: (reply: Reply) => boolean) => {
    await clock.advance(5_000);
    await until(async () => (await ask()).every(isExpected));
  };
  for (const reply of await ask()) assert.equal(reply.status, 200, reply.text);

  await setup.database.write
    .updateTable('accounts')
    .set({ price_multiplier_ppm: 500_000 })
    .where('id', '=', account)
    .execute();
  await follow((reply) => reply.costMicros === 500);
  await replicas[0]!.cli('keys', 'update', id, '--daily-cap-usd', '0');
  await follow((reply) => reply.status === 429);
  await replicas[1]!.cli('keys', 'revoke', id);
  await follow((reply) => reply.status === 401);
});

test('a gateway on a shared database does not start without the shared secret', async () => {
  const starting = startProgram({
    databaseUrl: await createDatabase(),
    env: { TOLLGATE_SECRET: '' },
  });
  await assert.rejects(
    starting,
    /tollgate: TOLLGATE_SECRET must be set with a database that several machines share/,
  );
});
