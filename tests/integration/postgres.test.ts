// Several gateways on one PostgreSQL database: what one of them does, the others know; what happens to one of them, or to the server,
// costs nobody a microdollar.
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { verify } from '../../src/ledger/verify.ts';
import { answerContent } from '../support/answers.ts';
import { startBalancer, type Replica } from '../support/balancer.ts';
import { endpoint, endpoints } from '../support/endpoints.ts';
import type { TestGateway } from '../support/gateway.ts';
import { send, type Reply } from '../support/http.ts';
import { createDatabase, databaseNameOf, startPostgres } from '../support/postgres.ts';
import { startProgram, type Program } from '../support/program.ts';
import { startReplicaPrograms, type Replicas } from '../support/replicas.ts';
import { until } from '../support/until.ts';
import type { Script } from '../support/upstream.ts';

const chat = endpoint('chat');
/** A request that uses all of its 200 tokens costs 20 cents, and its input nothing: the hold is the charge. */
const prices = { input: 0, output: 1_000 };
const priceMicros = 200_000;
const dollar = 1_000_000;
const creditUsd = 1_000;

// Side by side, since most of their time is waiting.
void describe('gateways on one database', { concurrency: true }, () => {
  test(
    'of 500 clients of three gateways on a balance for 100 requests, exactly 100 are served',
    { timeout: 120_000 },
    async (t) => {
      const { replicas, setup } = await startModels(t, { count: 3 });
      const { key, account } = await setup.makeKey({ mode: 'live', creditUsd: 20 });
      const body = { ...chat.body(), model: 'priced' };
      const replies = await Promise.all(
        Array.from({ length: 500 }, (_, index) => send(replicas[index % 3]!.url + chat.path, { key, body })),
      );
      const served = replies.filter(({ status }) => status === 200);
      assert.equal(served.length, 100);
      assert.equal(replies.filter(({ status }) => status === 402).length, 400);
      assert.ok(served.every(({ costMicros }) => costMicros === priceMicros));
      const { postedMicros, heldMicros } = await setup.balance(account);
      assert.deepEqual([postedMicros, heldMicros], [0, 0]);
    },
  );

  test(
    'what one gateway is told of keys and accounts, the others follow within five seconds',
    { timeout: 120_000 },
    async (t) => {
      const { replicas, setup } = await startModels(t, { count: 2 });
      const { id, key, account } = await setup.makeKey({ mode: 'live', creditUsd: 5 });
      const ask = async () => {
        const body = { ...chat.body(), model: 'priced', max_completion_tokens: 1 };
        return Promise.all(replicas.map(({ url }) => send(url + chat.path, { key, body })));
      };
      for (const reply of await ask()) assert.equal(reply.status, 200, reply.text);

      await setup.database.write
        .updateTable('accounts')
        .set({ price_multiplier_ppm: 500_000 })
        .where('id', '=', account)
        .execute();
      await within5s(ask, (reply) => reply.costMicros === 500);
      await replicas[0]!.cli('keys', 'update', id, '--daily-cap-usd', '0');
      await within5s(ask, (reply) => reply.status === 429);
      await replicas[1]!.cli('keys', 'revoke', id);
      await within5s(ask, (reply) => reply.status === 401);
    },
  );

  test('three rolling restarts behind a load balancer lose no request and charge none twice', { timeout: 180_000 }, async (t) => {
    const server = { shutdown_delay_ms: 500 };
    const { replicas, setup, upstream } = await startModels(t, { count: 2, server });
    for (const { upstreamPath, name } of endpoints) upstream.on(upstreamPath, answerAtSomeTime(name, { paceMsMax: 200 }));
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
    assert.equal((await setup.balance(load.account)).heldMicros, 0);
    // Everything that was sent was answered: a charge beyond the answers would be one that was made twice.
    assert.equal(await load.compare(), load.journal.size);
    t.diagnostic(
      `6 restarts: ${load.journal.size} requests, all answered whole, 0 lost, 0 double, ${balancer.sentAgain()} refused and sent again`,
    );
  });

  test(
    'the server is restarted, crashes, and cuts connections under load: nothing is charged wrongly',
    { timeout: 240_000 },
    async (t) => {
      const server = await startPostgres();
      const { replicas, setup } = await startModels(t, { count: 2, databaseUrl: await server.createDatabase() });
      const load = await startLoad(replicas, setup);
      for (let round = 0; round < 4; round++) {
        await load.answers(20);
        for (let cut = 0; cut < 5; cut++) {
          await setTimeout(Math.random() * 40);
          await server.cutConnections(databaseNameOf(setup.database.url));
        }
        await load.answers(20);
        const restarted = server.restart(round % 2 === 0 ? 'fast' : 'immediate', 600);
        if (round === 0) await becomes(replicas[0]!, 503);
        await restarted;
        await becomes(replicas[0]!, 200);
      }
      await load.answers(20);
      await load.stop();
      assert.equal((await setup.balance(load.account)).heldMicros, 0);
      await load.compare();
      t.diagnostic(
        `4 restarts and 20 cuts: ${load.journal.size} answers delivered, ${load.refused()} refused with 503, 0 lost, 0 double, 0 held`,
      );
    },
  );
});

test('a gateway on a shared database does not start without the secret that all of them share', async () => {
  const starting = startProgram({ databaseUrl: await createDatabase(), env: { TOLLGATE_SECRET: '' } });
  await assert.rejects(starting, /tollgate: TOLLGATE_SECRET must be set with a database that several machines share/);
});

/** With a model whose hold is its charge. */
async function startModels(
  t: TestContext,
  { server, ...options }: { count: number; databaseUrl?: string; server?: object },
): Promise<Replicas<Program>> {
  const model = { routes: [{ provider: 'openai', model: 'm' }], prices, max_input_tokens: 1_000, max_output_tokens: 200 };
  const started = await startReplicaPrograms(t, { ...options, config: { models: { priced: model }, ...(server && { server }) } });
  for (const { upstreamPath, name } of endpoints) started.upstream.on(upstreamPath, answerAtSomeTime(name));
  return started;
}

/** Clients of every format, streaming and not, each on one gateway after the other; and what they were told that they pay. */
async function startLoad(replicas: readonly Replica[], setup: TestGateway, { clients: clientCount = 6 } = {}) {
  const { key, account } = await setup.makeKey({ mode: 'live', creditUsd });
  const journal = new Map<string, number>();
  const state = { isOver: false, failed: 0, refused: 0 };
  const clients = Array.from({ length: clientCount }, async (_, client) => {
    const { path, body } = endpoints[client % endpoints.length]!;
    for (let turn = client; !state.isOver; turn++) {
      const { url } = replicas[turn % replicas.length]!;
      const reply = await send(url + path, { key, body: body({ stream: client % 2 === 0 }) }).catch((error: unknown) => error);
      if (reply instanceof Error) {
        state.failed += 1;
        await setTimeout(20);
      } else if ((reply as Reply).status === 503) {
        state.refused += 1;
        await setTimeout(20);
      } else note(journal, reply as Reply);
    }
  });
  return {
    key,
    account,
    journal,
    failed: () => state.failed,
    refused: () => state.refused,
    /** Until so many more answers have come whole. */
    answers: async (count: number) => {
      const wanted = journal.size + count;
      await until(() => journal.size >= wanted, 60_000);
    },
    stop: async () => {
      state.isOver = true;
      await Promise.all(clients);
    },
    compare: () => compare({ setup, account, journal }),
  };
}

function note(journal: Map<string, number>, reply: Reply): void {
  assert.equal(reply.status, 200, reply.text);
  const cost = /^: cost_micros=(\d+) /m.exec(reply.text)?.[1] ?? reply.headers['x-service-cost-micros'];
  // A stream that could not be charged ends with an error, and is free.
  if (cost === undefined && /upstream_unavailable|internal_error/.test(reply.text)) return;
  assert.ok(typeof cost === 'string', `a complete answer without its cost:\n${reply.text}`);
  assert.ok(!journal.has(reply.requestId));
  journal.set(reply.requestId, Number(cost));
}

type Compared = { readonly setup: TestGateway; readonly account: string; readonly journal: ReadonlyMap<string, number> };

/**
 * Every answer that was delivered is charged once, at what its client was told, and the balance is the credit less the charges. Returns how
 * many charges there are.
 */
async function compare({ setup, account, journal }: Compared): Promise<number> {
  const charges = await setup.database.read
    .selectFrom('charges')
    .select(['id', 'cost_micros'])
    .where('ledger_id', '=', `${account}:live`)
    .execute();
  const charged = new Map(charges.map((charge) => [charge.id, charge.cost_micros as number]));
  for (const [id, cost] of journal) assert.equal(charged.get(id), cost, `the charge of ${id}`);
  const spent = charges.reduce((sum, charge) => sum + charge.cost_micros, 0);
  assert.equal((await setup.balance(account)).postedMicros, creditUsd * dollar - spent);
  const books = await verify(setup.database.read);
  assert.ok(books.ok, JSON.stringify(books));
  return charges.length;
}

function answerAtSomeTime(name: (typeof endpoints)[number]['name'], { paceMsMax = 4 } = {}): Script {
  return async (response, request) => {
    const { model, max_completion_tokens: limit } = request.body as { model?: string; max_completion_tokens?: number };
    const tokens =
      model === 'm' ? { input: 5, output: limit ?? 200 } : { input: 1 + Math.floor(Math.random() * 500), output: 50 };
    await setTimeout(Math.random() * 20);
    await answerContent(
      name,
      { text: 'one two three four five', tokens },
      { paceMs: Math.random() * paceMsMax },
    )(response, request);
  };
}

async function within5s(ask: () => Promise<readonly Reply[]>, isExpected: (reply: Reply) => boolean): Promise<void> {
  await until(async () => (await ask()).every(isExpected), 5_000);
}

async function becomes({ url }: Program, status: number): Promise<void> {
  await until(async () => (await send(`${url}/readyz`).catch(() => null))?.status === status);
}
