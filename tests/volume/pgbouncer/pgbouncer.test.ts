// Tollgate behind a real PgBouncer in transaction mode, with fewer connections to the server than
// one gateway opens. `npm run test:all -- pgbouncer` also runs other files through it.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { Client } from 'pg';
import { DatabaseUnusable } from '../../../src/db/database-error.ts';
import { openDatabase } from '../../../src/db/database.ts';
import { migrations } from '../../../src/db/migrations/list.ts';
import { connectPool } from '../../../src/db/postgres/pool.ts';
import { ledgerPool } from '../../../src/domain/ledger/postgres/ledger.ts';
import { endpoint } from '../../support/endpoints.ts';
import { send } from '../../support/http.ts';
import { startPgBouncer } from '../../support/pgbouncer.ts';
import { databaseNameOf, postgresServer } from '../../support/postgres.ts';
import { answerAtSomeTime, pricedModel, startLoad } from '../../support/replica-load.ts';
import { startReplicaPrograms } from '../../support/replicas.ts';
import { until } from '../../support/until.ts';

const chat = endpoint('chat');
const poolSize = 3;
/** Limits for hangs only. */
const hangMs = 180_000;
const timeout = 300_000;

test(
  'two gateways share three connections: charges, commands, a revoked key, a kill and a pooler restart',
  { timeout },
  async (t) => {
    const server = await postgresServer();
    const direct = await server.createEmptyDatabase();
    const pooler = await startPgBouncer(direct, { poolSize });
    const { replicas, setup, upstream } = await startReplicaPrograms(t, {
      count: 2,
      config: { models: { priced: pricedModel } },
      databaseUrl: pooler.url,
    });
    const [first, second] = [replicas[0]!, replicas[1]!];
    answerAtSomeTime(upstream);
    const load = await startLoad(replicas, setup, { clients: 12 });
    await load.answers(60);
    const sessions = await server.query(
      `select pid from pg_stat_activity where datname = '${databaseNameOf(direct)}'`,
    );
    assert.ok(sessions.length <= poolSize, `${sessions.length} connections to the server`);

    const { id, key } = await first.createKey({ mode: 'live', creditUsd: 5 });
    const ask = () =>
      Promise.all(
        replicas.map(
          async ({ url }) => (await send(url + chat.path, { key, body: chat.body() })).status,
        ),
      );
    assert.deepEqual(await ask(), [200, 200]);
    await second.cli('keys', 'revoke', id);
    await until(async () => (await ask()).every((status) => status === 401));
    await first.verify();

    await second.kill();
    await load.answers(20);
    await second.start();
    await load.answers(20);
    await pooler.restart();
    await load.answers(40);
    await load.stop();
    await until(async () => (await setup.balance(load.account)).heldMicros === 0, hangMs);
    await load.compare();
    await second.verify();
    t.diagnostic(
      `${load.journal.size} answers delivered, ${load.refused()} refused with 503, 0 lost, 0 double, 0 held`,
    );
  },
);

test('a transaction that could not begin leaves its connection with all settings', async (t) => {
  const server = await postgresServer();
  const { url } = await startPgBouncer(await server.createEmptyDatabase(), { poolSize: 1 });
  const pool = connectPool(url, { max: 1, isReadOnly: true, statementTimeoutMs: 3_000 });
  t.after(() => pool.end());
  const client = await pool.connect();
  await assert.rejects(client.query('begin nonsense'), { code: '42601' });
  const { rows } = await client.query(
    `select current_setting('statement_timeout') as timeout, current_setting('transaction_read_only') as read_only`,
  );
  client.release();
  assert.deepEqual(rows, [{ timeout: '3s', read_only: 'on' }]);
});

test('a statement that ran outside its transaction is not reported as failed', async (t) => {
  const server = await postgresServer();
  const { url } = await startPgBouncer(await server.createEmptyDatabase(), { poolSize: 1 });
  const other = connectPool(url, { max: 1, statementTimeoutMs: 3_000 });
  t.after(() => other.end());
  await other.query('create table written (id int)');
  // Its `set local` is a syntax error, so that `begin` fails and the insert does not.
  const pool = connectPool(url, { max: 1, statementTimeoutMs: 3_000, settings: { 'a b': 1 } });
  t.after(() => pool.end());
  await assert.rejects(
    pool.query('insert into written values (1)'),
    /whether the statement was committed is unknown/,
  );
  assert.deepEqual((await other.query('select id from written')).rows, [{ id: 1 }]);
});

test('migrations that start together run once, and leave no lock in a session', async (t) => {
  const server = await postgresServer();
  const direct = await server.createEmptyDatabase();
  const { url } = await startPgBouncer(direct, { poolSize: 2 });
  const databases = Array.from({ length: 4 }, () => openDatabase(url));
  t.after(async () => {
    for (const database of databases) await database.close();
  });
  const ran = await Promise.all(databases.map((database) => database.migrate()));
  assert.deepEqual(ran.flat().toSorted(), Object.keys(migrations.postgres));
  assert.deepEqual(await databases[0]!.migrate(), []);
  const locks = `select pid from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = '${databaseNameOf(direct)}')`;
  assert.deepEqual(await server.query(locks), []);
});

test('settings hold for every transaction, and none stays in a session that others share', async (t) => {
  const server = await postgresServer();
  const direct = await server.createDatabase();
  const alter = `alter database ${databaseNameOf(direct)} set`;
  await server.query(`${alter} synchronous_commit = off`);
  await server.query(`${alter} default_transaction_isolation = serializable`);
  const { url } = await startPgBouncer(direct, { poolSize: 1 });
  const ledger = endWithTest(t, ledgerPool(url));
  const statementTimeoutMs = 100;
  const reading = endWithTest(
    t,
    connectPool(url, { max: 2, isReadOnly: true, statementTimeoutMs }),
  );
  const show = `select current_setting('synchronous_commit') as commits, current_setting('statement_timeout') as timeout,
    current_setting('idle_in_transaction_session_timeout') as idle, current_setting('enable_seqscan') as scans,
    current_setting('transaction_isolation') as isolation`;
  const prepared = { name: 'shown', text: `${show} where $1`, values: [true] };
  const isolation = 'read committed';
  const inLedger = { commits: 'on', timeout: '5s', idle: '5s', scans: 'off', isolation };

  assert.deepEqual((await ledger.query(prepared)).rows, [inLedger]);
  assert.deepEqual((await reading.query(show)).rows, [
    { ...inLedger, timeout: '100ms', scans: 'on' },
  ]);
  await assert.rejects(reading.query('create table forbidden ()'), /read-only transaction/);
  await assert.rejects(reading.query('select pg_sleep(60)'), /statement timeout/);

  const other = new Client({ connectionString: url });
  await other.connect();
  t.after(() => other.end());
  const untouched = {
    commits: 'off',
    timeout: '0',
    idle: '0',
    scans: 'on',
    isolation: 'serializable',
  };
  assert.deepEqual((await other.query(show)).rows, [untouched]);
  assert.deepEqual((await other.query('select name from pg_prepared_statements')).rows, []);
});

test('a statement whose commit fails is reported as failed', async (t) => {
  const { url } = await startPgBouncer(await (await postgresServer()).createDatabase());
  const pool = endWithTest(t, connectPool(url, { max: 2, statementTimeoutMs: 1_000 }));
  await pool.query('create table pairs (id int unique deferrable initially deferred)');
  await assert.rejects(pool.query('insert into pairs values (1), (1)'), /duplicate key/);
  assert.deepEqual((await pool.query('select * from pairs')).rows, []);
  const client = await pool.connect();
  await client.query('begin');
  await client.query('insert into pairs values ($1)', [2]);
  await client.query('rollback');
  client.release();
  await pool.query('insert into pairs values ($1)', [3]);
  assert.deepEqual((await pool.query('select * from pairs')).rows, [{ id: 3 }]);
});

test('what cannot work through a pooler is reported at the start with a remedy', async () => {
  const direct = await (await postgresServer()).createDatabase();
  const pooler = await startPgBouncer(direct);
  const byStatement = await startPgBouncer(direct, { poolMode: 'statement' });
  const mistakes: readonly (readonly [string, RegExp])[] = [
    [byStatement.url, /statement mode, which has no transactions\. Set pool_mode = transaction/],
    [`${pooler.url}&options=-c%20search_path%3Dx`, /refuses options in database\.url\. Remove it/],
    [pooler.url.replace('/books_', '/absent_'), /has no database absent_\w+\. Check \[databases\]/],
    [pooler.url.replace('//tollgate:', '//nobody:'), /refused the user nobody\. Check the user/],
  ];
  for (const [url, expected] of mistakes) {
    const database = openDatabase(url);
    const error: unknown = await database.migrate().catch((reason: unknown) => reason);
    await database.close();
    assert.ok(error instanceof DatabaseUnusable, `${url}: ${String(error)}`);
    assert.match(error.message, expected);
  }
});

function endWithTest<Ends extends { readonly end: () => Promise<void> }>(
  t: TestContext,
  pool: Ends,
): Ends {
  t.after(() => pool.end());
  return pool;
}
