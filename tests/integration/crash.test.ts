// Kills the program with -9 at random moments, many times, while it charges several clients. After
// each restart the books must be consistent: every complete answer charged once, and nothing still
// held. On PostgreSQL (TOLLGATE_TEST_DATABASE=postgres) holds are released when the killed
// process's lease ends. TOLLGATE_KILLS: how often.
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { after, test, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { openDatabase } from '../../src/db/database.ts';
import { ledgerIdOf } from '../../src/domain/ledger/commands.ts';
import { readBalance } from '../../src/domain/ledger/reports/queries.ts';
import { verify } from '../../src/domain/ledger/reports/verify.ts';
import { answerContent } from '../support/answers.ts';
import { endpoints, type Endpoint } from '../support/endpoints.ts';
import { TestGateway } from '../support/gateway.ts';
import { send, type Reply } from '../support/http.ts';
import { startProgram, type Program } from '../support/program.ts';
import { until } from '../support/until.ts';
import { scaled } from '../support/volume.ts';
import { startUpstream, type Script } from '../support/upstream.ts';

/** Two installations: while one restarts, the other serves. */
const installations = 2;
const killsEach = Math.ceil(Number(process.env['TOLLGATE_KILLS'] ?? scaled(2, 24)) / installations);
const isOnPostgres = process.env['TOLLGATE_TEST_DATABASE'] === 'postgres';
/** A limit for hangs only: longer than a killed process's lease. */
const hangMs = 180_000;
const creditUsd = 100;
const creditMicros = creditUsd * 1_000_000;

const steps = new EventEmitter();
const started: Installation[] = [];

const upstream = await startUpstream();
for (const endpoint of endpoints) upstream.on(endpoint.upstreamPath, answerAtSomeTime(endpoint));
for (let index = 0; index < installations; index++) started.push(await startInstallation());
after(async () => {
  for (const { program } of started) await program.stop();
  await upstream.close();
});

test(`the books are consistent after each of ${installations * killsEach} kills`, async (t) => {
  await Promise.all(started.map((installation) => killOverAndOver(installation)));
  // Waits until the killed process's holds are released.
  for (const installation of started)
    await until(async () => (await heldBy(installation)) === 0, hangMs);
  for (const installation of started) await compareWithUsage(installation, t);
});

type Installation = {
  readonly program: Program;
  readonly account: string;
  readonly key: string;
  /** The clients' record: complete answers, by request id, with the cost they were told. */
  readonly journal: Map<string, number>;
  /** Requests cut off by a kill. */
  cutOff: number;
};

async function startInstallation(): Promise<Installation> {
  const program = await startProgram({
    config: {
      providers: {
        openai: { kind: 'openai', base_url: `${upstream.url}/v1`, api_key: 'sk-upstream' },
        anthropic: { kind: 'anthropic', base_url: upstream.url, api_key: 'sk-upstream' },
      },
      limits: { requests_per_minute: null },
      log: { level: 'error' },
      server: { threads: 2 },
    },
  });
  const setup = new TestGateway(program, upstream);
  const { key, account } = await setup.makeKey({ mode: 'live', creditUsd });
  await setup.database.close();
  return { program, account, key, journal: new Map(), cutOff: 0 };
}

async function killOverAndOver(installation: Installation): Promise<void> {
  const { program } = installation;
  for (let kill = 1; kill <= killsEach; kill++) {
    const clients = [...endpoints, ...endpoints].map((endpoint, index) =>
      keepAsking(installation, endpoint, index < endpoints.length),
    );
    await Promise.race([
      delivered(installation, 1 + Math.floor(Math.random() * 6)),
      Promise.all(clients),
    ]);
    await stepsUpstream(Math.floor(Math.random() * 30));
    await program.kill();
    await Promise.all(clients);
    await program.start();
    await checkBooks(installation, `after kill ${kill}`);
  }
}

/** Waits for this many more complete answers. */
async function delivered({ journal }: Installation, count: number): Promise<void> {
  const wanted = journal.size + count;
  await until(() => journal.size >= wanted, hangMs);
}

/**
 * Waits until this many more requests begin or end at the upstream, to choose the moment of the
 * kill.
 */
async function stepsUpstream(count: number): Promise<void> {
  for (let step = 0; step < count; step++) await once(steps, 'step');
}

/** Reports the cost even when a stream's trailers are cut off. */
const wantsComments = { 'x-service-stream-comments': 'true' };

/** Sends requests until the program has ended. Records complete answers only. */
async function keepAsking(
  installation: Installation,
  endpoint: Endpoint,
  stream: boolean,
): Promise<void> {
  const { program, key, journal } = installation;
  for (;;) {
    let reply: Reply;
    try {
      reply = await send(program.url + endpoint.path, {
        key,
        headers: wantsComments,
        body: endpoint.body({ stream }),
      });
    } catch {
      // The connection broke: the program was killed during the answer, or before it.
      installation.cutOff++;
      return;
    }
    assert.equal(reply.status, 200, reply.text);
    const cost =
      /^: cost_micros=(\d+) /m.exec(reply.text)?.[1] ?? reply.headers['x-service-cost-micros'];
    assert.ok(typeof cost === 'string', `a complete answer without its cost:\n${reply.text}`);
    assert.ok(!journal.has(reply.requestId));
    journal.set(reply.requestId, Number(cost));
  }
}

/** Answers some requests at once and others slowly, so that a kill hits requests at every step. */
function answerAtSomeTime({ name }: Endpoint): Script {
  return async (response, request) => {
    steps.emit('step');
    const tokens = {
      input: 1 + Math.floor(Math.random() * 500),
      output: 1 + Math.floor(Math.random() * 100),
    };
    await setTimeout(Math.random() * 25);
    await answerContent(
      name,
      { text: 'one two three four five', tokens },
      { paceMs: Math.random() * 4 },
    )(response, request);
    steps.emit('step');
  };
}

async function heldBy({ program, account }: Installation): Promise<number> {
  const database = openDatabase(program.databaseUrl);
  try {
    return (await readBalance(database.read, ledgerIdOf(account, 'live')))!.heldMicros;
  } finally {
    await database.close();
  }
}

/**
 * Opened and closed for each check, so that no other process has the database open at a kill, and
 * the restart finds it as a crash leaves it.
 */
async function checkBooks(
  { program, account, journal }: Installation,
  where: string,
): Promise<void> {
  const database = openDatabase(program.databaseUrl);
  try {
    const balance = await readBalance(database.read, ledgerIdOf(account, 'live'));
    assert.ok(balance);
    if (!isOnPostgres) assert.equal(balance.heldMicros, 0, `${where}: nothing is held any more`);
    const charges = await database.read
      .selectFrom('charges')
      .select(['id', 'cost_micros'])
      .execute();
    const sum = charges.reduce((total, charge) => total + charge.cost_micros, 0);
    assert.equal(
      balance.postedMicros,
      creditMicros - sum,
      `${where}: the balance is the credit less the charges`,
    );
    const charged = new Map(charges.map((charge) => [charge.id, charge.cost_micros as number]));
    for (const [id, cost] of journal)
      assert.equal(charged.get(id), cost, `${where}: the charge of ${id}`);
    const expired = await database.read
      .selectFrom('entries')
      .select('loss_micros')
      .where('kind', '=', 'expire')
      .execute();
    for (const { loss_micros: loss } of expired)
      assert.ok(loss > 0, `${where}: what a killed request has cost is a loss`);
    const books = await verify(database.read);
    assert.ok(books.ok, `${where}: ${JSON.stringify(books)}`);
  } finally {
    await database.close();
  }
}

type UsageRecord = { readonly request_id: string; readonly cost_cents: number };

/** The same check through the API, as the account's owner sees it. */
async function compareWithUsage(
  { program, key, journal, cutOff }: Installation,
  t: TestContext,
): Promise<void> {
  const records: UsageRecord[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const page: Reply = await send(
      `${program.url}/v1/usage?limit=100&cursor=${encodeURIComponent(cursor)}`,
      { key },
    );
    const { data, next_cursor: next } = page.json<{
      data: UsageRecord[];
      next_cursor: string | null;
    }>();
    records.push(...data);
    cursor = next;
  }
  const ids = new Set(records.map((record) => record.request_id));
  assert.equal(ids.size, records.length, 'no request is charged twice');
  assert.deepEqual(
    [...journal.keys()].filter((id) => !ids.has(id)),
    [],
    'no delivered answer is without its charge',
  );
  const spent = records.reduce((sum, record) => sum + Math.round(record.cost_cents * 10_000), 0);
  const { balance_cents: balanceCents } = (await send(`${program.url}/v1/balance`, { key })).json<{
    balance_cents: number;
  }>();
  assert.equal(balanceCents, Math.floor((creditMicros - spent) / 10_000));
  assert.ok(
    journal.size >= killsEach,
    `only ${journal.size} answers were delivered: the kills came before anything ran`,
  );
  assert.ok(cutOff >= killsEach, 'every kill met open requests');
  t.diagnostic(
    `${killsEach} kills: ${journal.size} answers delivered whole, ${cutOff} cut off, ` +
      `${records.length - journal.size} charged but not completely delivered; 0 lost, 0 double, nothing held`,
  );
}
