// An import that is killed again and again ends as one that is not: no balance twice, none lost.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { openDatabase } from '../../../src/db/database.ts';
import { verify } from '../../../src/domain/ledger/reports/verify.ts';
import { test } from '../../support/both-stores.ts';
import { builtProgram, root } from '../../support/built-program.ts';
import { makeForeign } from '../../support/foreign-samples.ts';
import { databaseFor } from '../../support/installation.ts';
import { Program } from '../../support/program.ts';
import { Random } from '../../support/random.ts';
import { scaled } from '../../support/volume.ts';
import { rowsOf } from '../../support/rows.ts';

const users = 400;
const each = Array.from({ length: users }, (_, index) => index + 1);
const sample = `
create table users (id bigint, username text, status bigint, quota bigint, "group" text);
insert into users values ${each.map((id) => `(${id}, 'u${id}', 1, ${id % 2 === 0 ? id : -id}, 'default')`).join(', ')};
create table tokens (id bigint, user_id bigint, "key" text, status bigint, name text, unlimited_quota numeric, subnet text, models text);
insert into tokens values ${each.map((id) => `(${id}, ${id}, 'KeyKeyKeyKeyKeyKeyKey${id}', 1, 't${id}', 1, '', '')`).join(', ')};
create table channels (id bigint, type bigint, "key" text, status bigint, name text, models text);
`;

test('killed at random moments, an import goes on where it was', async () => {
  const random = new Random('kills of an import');
  const program = new Program(await databaseFor({}));
  const source = await makeForeign('sqlite', sample);
  const argv = [builtProgram(), 'import', 'new-api', '--database', source, '--apply', '--json'];
  const options = { cwd: root, env: program.env };
  await promisify(execFile)(process.execPath, [builtProgram(), 'migrate'], options);
  const database = openDatabase(program.databaseUrl);
  const count = async () =>
    (await database.read.selectFrom('accounts').select('id').execute()).length;
  for (let kills = 0; kills < scaled(3, 10); kills += 1) {
    const child = spawn(process.execPath, argv, { ...options, stdio: 'ignore' });
    const ended = once(child, 'exit');
    const until = (await count()) + 1 + random.below(users / 8);
    while (child.exitCode === null && (await count()) < until) await setTimeout(2);
    child.kill('SIGKILL');
    await ended;
  }
  await promisify(execFile)(process.execPath, argv, { ...options, maxBuffer: 2 ** 26 });
  const ledgers = await rowsOf(database, 'ledgers', { mode: 'live' });
  assert.equal(ledgers.length, users);
  assert.deepEqual(
    ledgers.map(({ posted_micros: posted }) => posted).toSorted((one, other) => one - other),
    each.map((id) => (id % 2 === 0 ? 2 * id : -2 * id)).toSorted((one, other) => one - other),
  );
  const rows = await database.read.selectFrom('audit_log').select('action').execute();
  const actions = rows.map(({ action }) => action).toSorted();
  const twice = (action: string, times: number) => Array.from({ length: times }, () => action);
  assert.deepEqual(actions, [
    ...twice('account.credit', users / 2),
    ...twice('account.debit', users / 2),
    ...twice('account.import', users),
    ...twice('key.import', users),
  ]);
  assert.ok((await verify(database.read, [], { all: true })).ok);
  await database.close();
});
