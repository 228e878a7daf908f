// A backup of the books taken under load, and a gateway that continues from it.
import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { connectSqlite } from '../../src/db/sqlite/connection.ts';
import { loadSecrets } from '../../src/config/secret.ts';
import { readLastBackup } from '../../src/management/changes/backups.ts';
import { answerContent } from '../support/answers.ts';
import { endpoint } from '../support/endpoints.ts';
import { startGateway, startGatewayProgram, type TestGateway } from '../support/gateway.ts';
import { ok } from '../support/http.ts';
import { createDatabase } from '../support/postgres.ts';
import { startProgram } from '../support/program.ts';
import { startRunningApp } from '../support/running-app.ts';
import { until } from '../support/until.ts';

const chat = endpoint('chat');
/** gpt-6-luna: 100 × $0.1 + 20 × $0.5 a million. */
const costMicros = 20;

test(
  'a backup under load contains every charge reported before it began, verifies, and serves',
  { timeout: 120_000 },
  async (t) => {
    const gateway = await start(t, startGatewayProgram);
    const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
    const load = chargeOn(gateway, key);
    await load.charges(50);
    const before = load.count();
    const file = join(folderFor(t), 'books.db');
    const backup = await gateway.program.cli<{ file: string; bytes: number }>('backup', file);
    const [secret] = loadSecrets(gateway.program.env, gateway.program.dataDir, { isShared: false });
    assert.deepEqual(backup, { file, bytes: statSync(file).size, secret_ids: [secret.id] });
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const recordedMs = await readLastBackup(gateway.database.read);
    assert.ok(recordedMs !== null, 'the backup is recorded');
    assert.deepEqual(await gateway.program.cli('backup', '--done'), { recorded: true });
    assert.ok((await readLastBackup(gateway.database.read))! > recordedMs);
    // The commands may have taken all of a busy machine: the gateway still serves.
    await load.charges(before + 1);
    await load.stop();
    await gateway.program.terminate();

    const restored = await restore(t, file, join(gateway.program.dataDir, 'secret'));
    await restored.verify();
    const reply = await fetch(`${restored.url}/v1/balance`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const { balance_cents: cents } = (await reply.json()) as { balance_cents: number };
    assert.ok(
      cents <= Math.floor((5_000_000 - before * costMicros) / 10_000),
      'a reported charge is missing',
    );
    const accounts = await restored.cli<{ id: string; live_available_micros: number }[]>(
      'accounts',
      'list',
    );
    const available = accounts.find(({ id }) => id === account)!.live_available_micros;
    assert.equal(
      (5_000_000 - available) % costMicros,
      0,
      'nothing is held by the requests that ran then',
    );
    t.diagnostic(
      `${before} charges before, ${(5_000_000 - available) / costMicros} in the copy, ${load.count()} in the end`,
    );
  },
);

test('verify --all and a backup notice damaged pages of every table and index', async (t) => {
  const gateway = await start(t);
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const headers = { 'idempotency-key': 'order-1' };
  await ok(gateway.post(chat.path, { key, headers, body: chat.body() }));
  const { program } = gateway;
  await program.terminate();
  const path = join(program.dataDir, 'tollgate.db');
  const whole = `${path}.whole`;
  const connection = connectSqlite(path, { readOnly: false });
  connection.exec('pragma wal_checkpoint(truncate)');
  const { page_size: pageSize } = connection.prepare('pragma page_size').get() as {
    page_size: number;
  };
  const parts = connection
    .prepare('select name, tbl_name, rootpage from sqlite_master where rootpage > 0')
    .all() as { name: string; tbl_name: string; rootpage: number }[];
  connection.close();
  copyFileSync(path, whole);
  assert.deepEqual((await program.cli<{ ok: boolean }>('verify', '--all')).ok, true);

  const chosen = parts.filter(({ tbl_name: table }) =>
    /^(api_keys|idempotent_responses|charges)$/.test(table),
  );
  assert.ok(chosen.length > 6);
  for (const { name, rootpage } of chosen) {
    const bytes = readFileSync(whole);
    bytes.fill(0x5a, (rootpage - 1) * pageSize, rootpage * pageSize);
    writeFileSync(path, bytes);
    for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
    const { code, stderr } = await program.cli('verify', '--all').then(
      () => ({ code: 0, stderr: '' }),
      (error: { code: number; stderr: string }) => error,
    );
    assert.equal(code, 1, name);
    assert.match(stderr, /^tollgate: .*damaged/, name);
  }
  await assert.rejects(program.cli('backup', join(folderFor(t), 'books.db')), /damaged/);
  copyFileSync(whole, path);
});

test('a backup names a file, or is only recorded', async (t) => {
  const gateway = await start(t);
  await assert.rejects(gateway.program.cli('backup'), /name the new file, or record/);
  const file = join(folderFor(t), 'books.db');
  await assert.rejects(gateway.program.cli('backup', file, '--done'), /--done makes no backup/);
  assert.ok(!existsSync(file));
  assert.equal(await readLastBackup(gateway.database.read), null);
});

test('a backup overwrites no file and leaves no partial file', async (t) => {
  const gateway = await start(t);
  const folder = folderFor(t);
  const file = join(folder, 'books.db');
  writeFileSync(file, 'precious');
  await assert.rejects(
    gateway.program.cli('backup', file),
    /books\.db already exists; name a new file/,
  );
  assert.equal(statSync(file).size, 'precious'.length);
  await assert.rejects(
    gateway.program.cli('backup', join(folder, 'absent', 'books.db')),
    /tollgate: The backup cannot be written: the folder \S+absent does not exist\. Name a file/,
  );
  assert.ok(!existsSync(join(folder, 'absent')));
});

test('on PostgreSQL the backup command refuses and names pg_dump', async (t) => {
  const program = await startRunningApp({ databaseUrl: await createDatabase() });
  t.after(() => program.stop());
  await assert.rejects(
    program.cli('backup', join(folderFor(t), 'books.db')),
    /pg_dump --format=custom --file=<file> "\$DATABASE_URL"/,
  );
});

async function start(
  t: TestContext,
  begin: typeof startGateway | typeof startGatewayProgram = startGateway,
): Promise<TestGateway> {
  const gateway = await begin({ log: { level: 'error' } });
  t.after(() => gateway.stop());
  const content = { text: 'one two', tokens: { input: 100, output: 20 } };
  gateway.upstream.on(chat.upstreamPath, answerContent('chat', content));
  return gateway;
}

function chargeOn(gateway: TestGateway, key: string) {
  const state = { count: 0, isOver: false };
  const clients = Array.from({ length: 8 }, async () => {
    while (!state.isOver) {
      const reply = await gateway.post(chat.path, { key, body: chat.body() });
      // A busy machine overloads the gateway, which then refuses requests for free.
      if (reply.status === 503) continue;
      assert.equal(reply.costMicros, costMicros, reply.text);
      state.count += 1;
    }
  });
  return {
    count: () => state.count,
    charges: async (count: number) => {
      await until(() => state.count >= count);
    },
    stop: async () => {
      state.isOver = true;
      await Promise.all(clients);
    },
  };
}

/**
 * As in docs/operations.md: copy the file and the secret into the data folder of a stopped program.
 */
async function restore(t: TestContext, file: string, secret: string) {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-restored-'));
  copyFileSync(file, join(dataDir, 'tollgate.db'));
  copyFileSync(secret, join(dataDir, 'secret'));
  const program = await startProgram({ env: { TOLLGATE_DATA_DIR: dataDir } });
  t.after(() => program.stop().finally(() => rmSync(dataDir, { recursive: true })));
  return program;
}

function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-backup-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
