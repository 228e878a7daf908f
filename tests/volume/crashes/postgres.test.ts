// Several gateways on one PostgreSQL database, restarted one after the other, and the server restarted beneath them: no request is lost
// that a load balancer could save, and nothing is charged wrongly.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startBalancer } from '../../support/balancer.ts';
import { send } from '../../support/http.ts';
import { databaseNameOf, startPostgres } from '../../support/postgres.ts';
import { answerAtSomeTime, pricedModel, startLoad } from '../../support/replica-load.ts';
import { startReplicaPrograms } from '../../support/replicas.ts';
import { until } from '../../support/until.ts';

const models = { priced: pricedModel };
/** Only ends a hang. */
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
  // Everything that was sent was answered: a charge beyond the answers would be one that was made twice.
  assert.equal(await load.compare(), load.journal.size);
  t.diagnostic(
    `6 restarts: ${load.journal.size} requests, all answered whole, 0 lost, 0 double, ${balancer.sentAgain()} refused and sent again`,
  );
});

test('a server that is restarted, crashes, and cuts connections under load: nothing is charged wrongly', async (t) => {
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
