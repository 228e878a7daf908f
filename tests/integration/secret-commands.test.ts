// `tollgate secret` beside a gateway: the file in the data folder is rotated, used and retired, and
// backups are restored across a rotation.
import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { loadSecrets } from '../../src/config/secret.ts';
import { openDatabase } from '../../src/db/database.ts';
import { DatabaseUnusable } from '../../src/db/database-error.ts';
import { send } from '../support/http.ts';
import { createDatabase } from '../support/postgres.ts';
import { whileRefusingAuditRows } from '../support/refused-audit.ts';
import type { Installation } from '../support/installation.ts';
import { startRunningApp, type RunningApp } from '../support/running-app.ts';
import { until } from '../support/until.ts';

type Rotated = { readonly rotated: boolean; readonly current: string; readonly previous?: string };
type Status = {
  readonly current: string;
  readonly keys: readonly string[];
  readonly in_use: boolean;
  readonly ending: readonly string[];
};

const idsOf = (program: Installation) =>
  loadSecrets(program.env, program.dataDir, { isShared: false }).map(({ id }) => id);
const statusOf = async ({ url }: Installation, key: string) =>
  (await send(`${url}/v1/balance`, { key })).status;

test('the file is rotated beside a running gateway, which accepts both secrets after a restart until the old one is retired', async (t) => {
  const program = await start(t);
  const path = join(program.dataDir, 'secret');
  const old = await program.createKey();
  const [first] = idsOf(program);
  const rotated = await program.cli<Rotated>('secret', 'rotate');
  assert.deepEqual(idsOf(program), [rotated.current, first]);
  assert.deepEqual(rotated, { rotated: true, current: idsOf(program)[0], previous: first });
  assert.equal(statSync(path).mode & 0o777, 0o600);

  assert.equal(
    await statusOf(program, old.key),
    200,
    'a running gateway keeps the secrets that it read',
  );
  const made = await program.createKey();
  assert.equal(await statusOf(program, made.key), 401, 'and does not know the new secret');
  assert.partialDeepStrictEqual(await program.cli<Status>('secret', 'status'), {
    in_use: false,
    ending: [first],
  });
  await assert.rejects(program.cli('secret', 'retire'), /no gateway has started with \w{8} yet/);

  await program.terminate();
  await program.start();
  assert.deepEqual(
    [await statusOf(program, made.key), await statusOf(program, old.key)],
    [200, 200],
  );
  // The first test key was never used.
  await until(async () => (await program.cli<Status>('secret', 'status')).keys.length === 1);
  await assert.rejects(
    program.cli('secret', 'retire'),
    /1 API keys were not used since the rotation/,
  );
  await assert.rejects(
    program.cli('secret', 'retire'),
    /sessions, replays, kept bodies and links to images from before the rotation work until 20/,
  );
  await program.cli('secret', 'retire', '--force');
  assert.deepEqual(idsOf(program), [rotated.current]);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  await program.terminate();
  await program.start();
  assert.deepEqual(
    [await statusOf(program, made.key), await statusOf(program, old.key)],
    [200, 200],
  );
  assert.deepEqual(await program.cli('secret', 'retire'), {
    retired: [],
    lost: [],
    current: rotated.current,
  });

  assert.deepEqual(await auditOf(program), [
    ['secret.rotate', { key_id: first }, { key_id: rotated.current }],
    ['secret.retire', { key_id: first }, { key_id: rotated.current }],
  ]);
});

test('a backup made before a rotation is restored with its secret, which may stand beside the current one', async (t) => {
  const program = await start(t);
  const { key } = await program.createKey();
  const folder = folderFor(t);
  const [file, secret] = [join(folder, 'books.db'), join(folder, 'secret')];
  const { secret_ids: needed } = await program.cli<{ secret_ids: string[] }>('backup', file);
  assert.deepEqual(needed, idsOf(program));
  copyFileSync(join(program.dataDir, 'secret'), secret);
  await program.cli('secret', 'rotate');
  await program.terminate();
  await program.start();
  await program.cli('secret', 'retire', '--force');
  await program.terminate();

  for (const suffix of ['', '-wal', '-shm'])
    rmSync(join(program.dataDir, `tollgate.db${suffix}`), { force: true });
  copyFileSync(file, join(program.dataDir, 'tollgate.db'));
  const needs = new RegExp(`^This database needs the secret with the key id ${needed[0]}; given: `);
  await assert.rejects(program.start(), (error) => {
    // Printed as a sentence without a stack: start-on-sqlite.test.ts.
    assert.ok(error instanceof DatabaseUnusable);
    assert.match(error.message, needs);
    return true;
  });
  program.env = { ...program.env, TOLLGATE_SECRETS_ACCEPTED: readFileSync(secret, 'utf8') };
  await program.start();
  assert.equal(await statusOf(program, key), 200);
});

test('a forced retirement keeps saved settings whose secret is there, and removes those of a lost one', async (t) => {
  const program = await start(t);
  const versionOf = async () =>
    (await program.cli<{ readonly version: number }>('settings', 'show')).version;
  await program.cli('settings', 'set', 'pricing.markup', '2');
  await program.terminate();
  await program.cli('secret', 'rotate');
  await program.cli('secret', 'retire', '--force');
  await program.start();
  assert.equal(await versionOf(), 1);

  await program.terminate();
  writeFileSync(join(program.dataDir, 'secret'), `${'another secret '.repeat(4)}\n`);
  await assert.rejects(program.start(), /needs the secret with the key id/);
  const { lost } = await program.cli<{ readonly lost: string[] }>('secret', 'retire', '--force');
  assert.ok(lost.includes('saved settings of 1 versions are not under the current secret'));
  await program.start();
  assert.equal(await versionOf(), 0);
});

test('a secret from the environment is not changed: the command says what to do', async (t) => {
  const program = await start(t, { databaseUrl: await createDatabase() });
  const rotated = await program.cli<Rotated>('secret', 'rotate');
  assert.deepEqual(rotated, { rotated: false, current: idsOf(program)[0] });
  assert.deepEqual(await program.cli('secret', 'retire'), {
    retired: [],
    lost: [],
    current: rotated.current,
  });
});

test('nothing is rotated when the new secret cannot be written', async (t) => {
  const program = await start(t);
  const before = readFileSync(join(program.dataDir, 'secret'), 'utf8');
  await program.terminate();
  writeFileSync(join(program.dataDir, 'secret'), 'short\n');
  await assert.rejects(program.cli('secret', 'rotate'), /must be a random text of at least 32/);
  assert.equal(readFileSync(join(program.dataDir, 'secret'), 'utf8'), 'short\n');
  writeFileSync(join(program.dataDir, 'secret'), before);
});

test('nothing is rotated or retired without its audit row', async (t) => {
  const program = await start(t);
  const database = openDatabase(program.databaseUrl);
  t.after(() => database.close());
  const [first] = idsOf(program);
  await whileRefusingAuditRows(database, () => assert.rejects(program.cli('secret', 'rotate')));
  assert.deepEqual(idsOf(program), [first]);
  const { current } = await program.cli<Rotated>('secret', 'rotate');
  await whileRefusingAuditRows(database, () =>
    assert.rejects(program.cli('secret', 'retire', '--force')),
  );
  assert.deepEqual(idsOf(program), [current, first]);
});

async function start(
  t: TestContext,
  options: Parameters<typeof startRunningApp>[0] = {},
): Promise<RunningApp> {
  const program = await startRunningApp(options);
  t.after(() => program.stop());
  return program;
}

/** The audit log's entries about secrets, oldest first. */
async function auditOf(program: Installation) {
  const database = openDatabase(program.databaseUrl);
  const rows = await database.read
    .selectFrom('audit_log')
    .selectAll()
    .where('subject', '=', 'secret')
    .orderBy('id')
    .execute();
  await database.close();
  const read = (text: string | null): unknown => text && JSON.parse(text);
  return rows.map(({ action, before, after }) => [action, read(before), read(after)]);
}

function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-secrets-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
