// The start on an existing SQLite file: an unusable file is refused with a sentence and a remedy, a
// file that another gateway serves is left alone, and new files are readable only by their user.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { Program, startProgram } from '../support/program.ts';
import { mountSmallDisk, noSmallDisk } from '../support/small-disk.ts';

const config = { log: { level: 'fatal' } };

test('a damaged file, or one that is not a database, is refused with one sentence and a remedy', async (t) => {
  const program = notStarted(t);
  writeFileSync(join(program.dataDir, 'tollgate.db'), 'This was a database once.'.repeat(1_000));
  await isRefused(
    program,
    /tollgate\.db is damaged or not a SQLite database\. Move it, .* away and restore a backup/,
  );
});

test('commands that report on the books refuse a folder without any, and make none', async (t) => {
  const program = notStarted(t);
  for (const command of ['verify', 'report', 'secret status', 'secret rotate', 'secret retire'])
    await assert.rejects(
      program.cli(...command.split(' ')),
      /tollgate: there is no database at \S+tollgate\.db; TOLLGATE_DATA_DIR or database\.url must/,
      command,
    );
  assert.deepEqual(readdirSync(program.dataDir), ['tollgate.yaml']);
});

test('an empty file is refused, because its data is lost', async (t) => {
  const program = notStarted(t);
  const path = join(program.dataDir, 'tollgate.db');
  writeFileSync(path, '');
  await isRefused(
    program,
    /tollgate\.db is an empty file: its content is lost\. Put a backup in its place .*; for a new/,
  );
  assert.equal(statSync(path).size, 0, 'left as it was');
  rmSync(path);
  await program.start();
  await program.terminate();
  for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
  truncateSync(path);
  await isRefused(program, /is an empty file/);
});

test('a read-only or full file system is reported in one sentence; the start works when it is fixed', async (t) => {
  const disk = mountSmallDisk();
  if (!disk) return t.skip(noSmallDisk);
  const remount = (how: 'ro' | 'rw') =>
    execFileSync('mount', ['-o', `remount,${how}`, disk.folder]);
  const program = new Program({
    config,
    databaseUrl: `sqlite:${join(disk.folder, 'tollgate.db')}`,
  });
  t.after(async () => {
    await program.stop().finally(disk.unmount);
  });
  disk.fill();
  await isRefused(program, /tollgate\.db is full or failing\. Free space on it|ENOSPC/);
  disk.free();
  await program.start();
  await program.terminate();
  remount('ro');
  await isRefused(
    program,
    /tollgate\.db cannot be written\. Check that this user .* not mounted read-only|is on a read-only file system/,
  );
  remount('rw');
  disk.fill();
  await isRefused(
    program,
    /The disk of the database .*tollgate\.db is full or failing\. Free space on it/,
  );
  disk.free();
  await program.start();
});

test("a second gateway on one file is refused with the first one's process id; commands still work; a kill frees the file", async (t) => {
  const first = await startProgram({ config });
  const env = { TOLLGATE_SECRET: readFileSync(join(first.dataDir, 'secret'), 'utf8').trim() };
  const second = new Program({
    config,
    env,
    databaseUrl: first.databaseUrl.replace('tollgate.db', 'link.db'),
  });
  symlinkSync(join(first.dataDir, 'tollgate.db'), join(first.dataDir, 'link.db'));
  t.after(async () => {
    await second.terminate();
    rmSync(second.dataDir, { recursive: true });
    await first.stop();
  });
  const refusal = `The process ${first.pid} already serves the database .*, and only one gateway can\\. Stop that one, or`;
  await isRefused(second, new RegExp(refusal));
  await first.cli('accounts', 'create', '--name', 'beside');
  await first.verify();
  await first.cli('backup', join(first.dataDir, 'copy.db'));
  await first.kill();
  await second.start();
  await assert.rejects(
    first.start(),
    new RegExp(`The process ${second.pid} already serves the database`),
  );
  assert.equal(await second.terminate(), 0);
  await first.start();
});

test("the database, SQLite's files beside it, and a backup are readable only by their user", async (t) => {
  // The folder may be readable by others: `database.url` is the operator's choice.
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-open-'));
  mkdirSync(join(folder, 'open'), { mode: 0o755 });
  const program = await startProgram({
    config,
    databaseUrl: `sqlite:${join(folder, 'open', 'tollgate.db')}`,
  });
  t.after(() => program.stop().finally(() => rmSync(folder, { recursive: true })));
  await program.cli('backup', join(folder, 'copy.db'));
  const files = ['', '-wal', '-shm', '-serving'].map((suffix) =>
    join(folder, 'open', `tollgate.db${suffix}`),
  );
  for (const file of [...files, join(folder, 'copy.db')])
    assert.equal(statSync(file).mode & 0o777, 0o600, file);
});

function notStarted(t: TestContext): Program {
  const program = new Program({ config });
  t.after(async () => {
    await program.terminate();
    rmSync(program.dataDir, { recursive: true });
  });
  return program;
}

/** Only one sentence is printed: no stack, no second line. */
async function isRefused(program: Program, sentence: RegExp): Promise<void> {
  await assert.rejects(program.start(), sentence);
  assert.match(program.output, /^tollgate: [^\n]+\n$/);
}
