// Several gateways on one PostgreSQL database, restarted in turn, and the server restarted under
// them: no request is lost that a load balancer could save, and all charges are right.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startBalancer } from '../../support/balancer.ts';
import { send } from '../../support/http.ts';
import { databaseNameOf, startPostgres } from '../../support/postgres.ts';
import { answerAtSomeTime, pricedModel, startLoad } from '../../support/replica-load.ts';
import { startReplicaPrograms } from '../../support/replicas.ts';
import { until } from '../../support/until.ts';

const models = { priced: pricedModel };
/** A limit for hangs only. */
const hangMs = 120_000;

test('three rolling restarts behind a load balancer lose no request and charge none twice', async (t) => {
  const config = { models, server: { shutdown_delay_ms: 500 } };
  const { replicas, setup, upstream } = await startReplicaPrograms(t, { count: 2, config });
  answerAtSomeTime(upstream, { paceMsMax: 200 });
  const balancer = await startBalancer(t, replicas);
  await balancer.hasReady(2);
  const load = await startLoad([balancer], setup, { clients: 24 });
  for (const replica of [...replicas, ...replicas, ...replicas]) {
    await load.answers(50);
    assert.equal(await replica.terminate(), 0);
    await balancer.hasReady(1);
    await replica.start();
    await balancer.hasReady(2);
  }
  await load.answers(50);
  await load.stop();
  assert.deepEqual([load.failed(), load.refused(), balancer.brokenOff()], [0, 0, 0]);
  // Every request was answered, so a charge without an answer would be a duplicate.
  assert.equal(await load.compare(), load.journal.size);
  t.diagnostic(
    `6 restarts: ${load.journal.size} requests, all answered whole, 0 lost, 0 double, ${balancer.sentAgain()} refused and sent again`,
  );
});

test('server restarts, crashes and cut connections under load cause no wrong charge', async (t) => {
  const server = await startPostgres();
  const options = { count: 2, config: { models }, databaseUrl: await server.createDatabase() };
  const { replicas, setup, upstream } = await startReplicaPrograms(t, options);
  answerAtSomeTime(upstream);
  const load = await startLoad(replicas, setup);
  const readiness = async () => (await send(`${replicas[0]!.url}/readyz`)).status;
  for (let round = 0; round < 4; round++) {
    await load.answers(20);
    for (let cut = 0; cut < 5; cut++) {
      await load.answers(1 + Math.floor(Math.random() * 4));
      await server.cutConnections(databaseNameOf(setup.database.url));
    }
    await load.answers(20);
    await server.restart(round % 2 === 0 ? 'fast' : 'immediate', async () => {
      await until(async () => (await readiness()) === 503, hangMs);
    });
    await until(async () => (await readiness()) === 200, hangMs);
  }
  await load.answers(20);
  await load.stop();
  await load.compare();
  t.diagnostic(
    `4 restarts and 20 cuts: ${load.journal.size} answers delivered, ${load.refused()} refused with 503, 0 lost, 0 double, 0 held`,
  );
});
