// `tollgate move`: SQLite to PostgreSQL and back, whole, also when it is killed again and again.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { sqlitePathOf } from '../../src/db/database.ts';
import { answerContent } from '../support/answers.ts';
import { builtProgram, root } from '../support/built-program.ts';
import { endpoint } from '../support/endpoints.ts';
import { fillEveryTable } from '../support/every-table.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { startProgram } from '../support/program.ts';
import { createEmptyDatabase, databaseNameOf, postgresServer } from '../support/postgres.ts';
import { Random } from '../support/random.ts';
import { runCommand } from '../support/run-command.ts';
import type { RunningApp } from '../support/running-app.ts';
import { scaled } from '../support/volume.ts';

const chat = endpoint('chat');
const secret = 'the secret of the tests that move a database';

let gateway: TestGateway<RunningApp>;
let key: string;
let account: string;
const folder = mkdtempSync(join(tmpdir(), 'tollgate-move-'));
/** The books before any move; `original` has rows in every table that is not the ledger's too. */
const [plain, original] = [join(folder, 'plain.db'), join(folder, 'books.db')];

before(async () => {
  gateway = await startGateway({}, { env: { TOLLGATE_SECRET: secret } });
  gateway.upstream.on(
    chat.upstreamPath,
    answerContent('chat', { text: 'Hi', tokens: { input: 1_000, output: 100 } }),
  );
  ({ key, account } = await gateway.makeKey({ creditUsd: 5, dailyCapMicros: 4_000_000 as never }));
  for (let index = 0; index < 30; index += 1)
    assert.equal(
      (
        await gateway.post(chat.path, {
          key,
          body: chat.body({ temperature: 0, seed: index }),
          headers: { 'x-service-tags': `p=${index % 3}`, 'idempotency-key': `k${index}` },
        })
      ).status,
      200,
    );
  await gateway.program.terminate();
  const path = sqlitePathOf(gateway.program.databaseUrl);
  new DatabaseSync(path).exec('pragma wal_checkpoint(truncate)');
  for (const copy of [plain, original]) copyFileSync(path, copy);
  const empty = fillEveryTable(original);
  const written = ['holds', 'loss_days', 'payment_bookings', 'sealed_days'];
  assert.deepEqual(empty.toSorted(), written, 'tables that only a gateway may fill');
});
after(async () => {
  await gateway.program.start();
  await gateway.stop();
  rmSync(folder, { recursive: true });
});

const environment = (databaseUrl: string) => ({
  ...gateway.program.env,
  DATABASE_URL: databaseUrl,
});
const move = async (from: string, to: string) =>
  JSON.parse(await runCommand(['move', '--to', to, '--json'], environment(from))) as {
    readonly moved: readonly {
      readonly name: string;
      readonly rows: number;
      readonly micros: Record<string, string>;
    }[];
  };
const rowsOf = (moved: readonly { readonly rows: number }[]) =>
  moved.reduce((sum, { rows }) => sum + rows, 0);
const withoutPassword = (url: string) => url.replace(/:[^:/@]*@/, ':…@');
const freshFile = () => `sqlite:${join(mkdtempSync(join(folder, 'moved-')), 'books.db')}`;

/** All rows of a SQLite database as text, but for those that say that it was moved. */
function contentOf(url: string): string {
  const connection = new DatabaseSync(sqlitePathOf(url), { readOnly: true });
  const names = connection
    .prepare(
      `select name from sqlite_master where type = 'table' and name not like 'sqlite%' and name not like 'kysely%' order by name`,
    )
    .all();
  const tables = names.map(({ name }) => {
    const rows = connection
      .prepare(`select * from ${String(name)}`)
      .all()
      .map((row) => JSON.stringify(Object.values(row)))
      .filter((row) => !row.includes('"database.move"'));
    return `${String(name)}\n${rows.toSorted().join('\n')}`;
  });
  connection.close();
  return tables.join('\n\n');
}

test('there and back, every row of every table is the same, and the source is untouched', async () => {
  const bytes = readFileSync(original);
  const there = await createEmptyDatabase();
  const { moved } = await move(`sqlite:${original}`, there);
  assert.ok(moved.length > 50);
  const entries = moved.find(({ name }) => name === 'entries')!;
  assert.ok(entries.rows > 60);
  assert.ok(bytes.equals(readFileSync(original)));
  const back = freshFile();
  const [again, first] = [(await move(there, back)).moved, moved].map(
    (tables) => new Map(tables.map(({ name, ...table }) => [name, table])),
  );
  const audited = first!.get('audit_log')!;
  first!.set('audit_log', { ...audited, rows: audited.rows + 1 });
  assert.deepEqual(again, first);
  const log = new DatabaseSync(sqlitePathOf(back), { readOnly: true });
  const notes = log
    .prepare(
      `select actor_name, subject, after from audit_log where action = 'database.move' order by created_at_ms`,
    )
    .all();
  log.close();
  assert.deepEqual(
    notes.map((note) => [note['actor_name'], JSON.parse(String(note['after'])) as object]),
    [
      ['tollgate move', { from: `sqlite:${original}`, rows: rowsOf(moved) }],
      ['tollgate move', { from: withoutPassword(there), rows: rowsOf(moved) + 1 }],
    ],
  );
  assert.deepEqual(
    notes.map(({ subject }) => subject),
    [withoutPassword(there), back],
  );
  assert.equal(contentOf(back), contentOf(`sqlite:${original}`));
});

test('the gateway goes on there: the key works, its spending counts, sealed answers are served again', async () => {
  const there = await createEmptyDatabase();
  await move(`sqlite:${plain}`, there);
  const usual = gateway.program.env;
  gateway.program.env = environment(there);
  try {
    await gateway.program.start();
    const sent = gateway.upstream.requests.length;
    const again = await gateway.post(chat.path, {
      key,
      body: chat.body({ temperature: 0, seed: 3 }),
      headers: { 'x-service-tags': 'p=0', 'idempotency-key': 'k3' },
    });
    assert.equal(again.status, 200);
    assert.equal(
      gateway.upstream.requests.length,
      sent,
      'the answer was kept, sealed, in the database',
    );
    assert.equal(
      (await gateway.post(chat.path, { key, body: chat.body({ seed: 99 }) })).status,
      200,
    );
    const newKey = await gateway.program.createKey({ account, mode: 'live' });
    assert.equal((await gateway.get('/v1/balance', { key: newKey.key })).status, 200);
    // A gateway that runs refuses the move back.
    await assert.rejects(move(there, freshFile()), /a gateway uses this database/);
    await gateway.program.terminate();
    const verified = JSON.parse(
      await runCommand(['verify', '--all', '--json'], gateway.program.env),
    ) as { ok: boolean };
    assert.ok(verified.ok);
  } finally {
    await gateway.program.terminate();
    gateway.program.env = usual;
  }
});

test('a move is refused into data, into another move, within one kind, and beside a gateway', async () => {
  const there = await createEmptyDatabase();
  await move(`sqlite:${original}`, there);
  await assert.rejects(move(`sqlite:${original}`, there), /The target has data/);
  await assert.rejects(move(there, `sqlite:${original}`), /The target has data/);
  for (const to of [freshFile(), 'postgres://me:secret@127.0.0.1:port/books'])
    await assert.rejects(move(`sqlite:${original}`, to), /must name a PostgreSQL database/);
  const nowhere = 'postgres://me:secret@127.0.0.1:1/books';
  await assert.rejects(move(`sqlite:${original}`, nowhere), /PostgreSQL cannot be reached at/);
  for (const to of [there, 'mysql://tollgate@127.0.0.1/books', 'sqlite:', 'sqlite::memory:'])
    await assert.rejects(move(there, to), /must name a SQLite file/);
  await assert.rejects(move(freshFile(), there), /there is no database at/);
  const running = await startProgram({ env: { TOLLGATE_SECRET: secret } });
  await assert.rejects(
    move(running.databaseUrl, await createEmptyDatabase()),
    /already serves the database/,
  );
  await running.stop();
  const another = freshFile();
  await runCommand(['migrate'], environment(another));
  await assert.rejects(move(another, await createEmptyDatabase()), /nothing to move/);
});

test('killed again and again, it ends whole; meanwhile nothing opens the target', async () => {
  const program = builtProgram();
  const random = new Random('kills of a move');
  const [there, back] = [await createEmptyDatabase(), freshFile()];
  const run = promisify(execFile);
  for (const [from, to] of [
    [`sqlite:${original}`, there],
    [there, back],
  ] as const) {
    const argv = [program, 'move', '--to', to];
    for (let kills = 0; kills < scaled(3, 50); kills += 1) {
      const child = spawn(process.execPath, argv, { cwd: root, env: environment(from) });
      const ended = once(child, 'exit');
      // It tells each table that is copied, of some fifty.
      let lines = random.below(45);
      child.stderr.on('data', (text: Buffer) => {
        lines -= text.toString().split('\n').length - 1;
        if (lines < 0) child.kill('SIGKILL');
      });
      const [, signal] = (await ended) as [number | null, string | null];
      assert.equal(signal, 'SIGKILL');
    }
    const open = [program, 'migrate'];
    await assert.rejects(
      run(process.execPath, open, { cwd: root, env: environment(to) }),
      /being moved into this one/,
    );
    await run(process.execPath, argv, { cwd: root, env: environment(from) });
    await run(process.execPath, open, { cwd: root, env: environment(to) });
  }
  assert.equal(contentOf(back), contentOf(`sqlite:${original}`));
});

test('a table that the target does not know stays behind', async () => {
  const copy = freshFile();
  copyFileSync(plain, sqlitePathOf(copy));
  const old = new DatabaseSync(sqlitePathOf(copy));
  old.exec('create table recent_errors (id text primary key) strict');
  old.exec(`insert into recent_errors values ('old')`);
  old.close();
  const { moved } = await move(copy, await createEmptyDatabase());
  assert.deepEqual(
    moved.filter(({ name }) => ['entries', 'recent_errors'].includes(name)).map(({ name }) => name),
    ['entries'],
  );
});

test('a source that changes during the move is noticed, and so is a row that differs', async () => {
  const copy = freshFile();
  copyFileSync(plain, sqlitePathOf(copy));
  const there = await createEmptyDatabase();
  const { query } = await postgresServer();
  await move(copy, there);
  // As if the move had stopped before its end, and the source was used since.
  const [first] = await query(
    'select id from accounts order by created_at_ms, id limit 1',
    databaseNameOf(there),
  );
  const mark = `9999-move-of-${String(first!['id'])}-needs-9999`;
  await query(`insert into kysely_migration values ('${mark}', 'x')`, databaseNameOf(there));
  await assert.rejects(
    runCommand(['accounts', 'list'], environment(there)),
    /Another database is being moved into this one/,
  );
  await query(
    `update accounts set name = 'changed' where id = '${account}'`,
    databaseNameOf(there),
  );
  await assert.rejects(move(copy, there), /accounts differs/);
  await query(`update accounts set name = 'Test' where id = '${account}'`, databaseNameOf(there));
  await runCommand(['accounts', 'credit', account, '--usd', '1'], environment(copy));
  await assert.rejects(move(copy, there), /was changed during the move, or since an earlier try/);
  const other = freshFile();
  copyFileSync(plain, sqlitePathOf(other));
  const changed = new DatabaseSync(sqlitePathOf(other));
  changed.exec(`update accounts set created_at_ms = 1 where id = '${account}'`);
  changed.close();
  await assert.rejects(move(other, there), /a part of another database/);
});
