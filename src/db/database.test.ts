import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { sql } from 'kysely';
import { openDatabase } from './database.ts';
import { connectSqlite } from './sqlite/connection.ts';

const chargeColumns = `id, ledger_id, key_id, model_id, model_name, endpoint, provider, input_tokens, cache_read_tokens, cache_write_tokens, cache_write_1h_tokens, output_tokens, reasoning_tokens, usage_source, price_version, upstream_cost_micros, ending, streamed, cost_micros, loss_micros, hold_micros, created_at_ms`;

test('every connection uses a write-ahead log that is flushed at each commit', (t) => {
  const url = temporaryUrl(t);
  const connection = connectSqlite(url.slice('sqlite:'.length), { readOnly: false });
  t.after(() => connection.close());
  const settings = 'journal_mode synchronous foreign_keys busy_timeout recursive_triggers'
    .split(' ')
    .map((name) => Object.values(connection.prepare(`pragma ${name}`).get()!).at(0));
  assert.deepEqual(settings, ['wal', 2, 1, 5_000, 1]);
});

test('a missing folder is created, for its user only', (t) => {
  const url = temporaryUrl(t).replace('test.db', 'deep/down/test.db');
  const database = openDatabase(url);
  t.after(() => database.close());
  assert.equal(statSync(join(url.slice('sqlite:'.length), '..')).mode & 0o777, 0o700);
});

test('a folder that is a file is refused in one sentence that names it', () => {
  const folder = import.meta.filename;
  assert.throws(
    () => openDatabase(`sqlite:${folder}/tollgate.db`),
    (error: Error) =>
      error.name === 'DatabaseUnusable' &&
      error.message.includes(`cannot be opened: ${folder} is a file, not a folder. Correct that`),
  );
});

test('a database URL that is not understood is refused with an example', () => {
  for (const url of ['', 'sqlite:', 'sqlite::memory:', '/var/lib/x.db', 'mysql://localhost/x']) {
    assert.throws(
      () => openDatabase(url),
      /database\.url must be like "sqlite:\/path\/to\/tollgate\.db"/,
    );
  }
});

test('a charge cannot be replaced', async (t) => {
  const database = openDatabase(temporaryUrl(t));
  t.after(() => database.close());
  await database.migrate();
  const run = (statement: string) => sql.raw(statement).execute(database.write);
  await run(`insert into accounts (id, name, created_at_ms) values ('a', 'A', 0)`);
  await run(`insert into ledgers (id, account_id, mode) values ('a:live', 'a', 'live')`);
  const charge = `insert into charges (${chargeColumns})
      values ('c', 'a:live', 'k', 'm', 'M', 'chat', 'p', 1, 0, 0, 0, 1, 0, 'upstream', '0', 1, 'complete', 0, 5, 0, 5, 0)`;
  await run(charge);
  await assert.rejects(run(charge.replace('insert', 'insert or replace')), /append-only/);
});

function temporaryUrl(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-db-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return `sqlite:${join(folder, 'test.db')}`;
}
