// A real PgBouncer in transaction mode, in front of a test's PostgreSQL server. Debian and others
// package it as `pgbouncer`. With TOLLGATE_TEST_PGBOUNCER=2, every new test database is reached
// through one with two connections to the server.
//
//   const pgbouncer = await startPgBouncer(await createDatabase(), { poolSize: 3 });
//   … openDatabase(pgbouncer.url) …
//   await pgbouncer.restart();   // cuts all connections
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, closeSync, mkdtempSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from './until.ts';

export type PgBouncer = {
  /** The database's URL through the pooler. */
  readonly url: string;
  /** Returns the URL of another database of the same server through the pooler. */
  readonly urlOf: (databaseUrl: string) => string;
  /** Kills the pooler and starts it again. */
  readonly restart: () => Promise<void>;
};

type PgBouncerOptions = {
  /** Connections to the server for each database. */
  readonly poolSize?: number;
  readonly poolMode?: 'session' | 'transaction' | 'statement';
};

/** Debian's folder is not in every user's PATH. */
const env = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin` };
const port = 5432;
/** PgBouncer refuses to run as root. */
const nobody = 65_534;
const identity = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};

/** Starts a pooler that ends with this process, even if that is killed. */
export async function startPgBouncer(
  databaseUrl: string,
  options: PgBouncerOptions = {},
): Promise<PgBouncer> {
  const { status } = spawnSync('pgbouncer', ['--version'], { env });
  assert.equal(status, 0, 'PgBouncer is not installed: apt-get install pgbouncer');
  const folder = writeSettings(databaseUrl, options);
  endWithThisProcess(folder);
  let child = await startIn(folder);
  const urlOf = (url: string) => {
    const pooled = new URL(url);
    pooled.searchParams.set('host', folder);
    return pooled.href;
  };
  const restart = async () => {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    child = await startIn(folder);
  };
  return { url: urlOf(databaseUrl), urlOf, restart };
}

/** Returns a new folder with `pgbouncer.ini`, where the socket will be too. */
function writeSettings(
  databaseUrl: string,
  { poolSize = 3, poolMode = 'transaction' }: PgBouncerOptions,
): string {
  const { searchParams, username, password } = new URL(databaseUrl);
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-pgbouncer-'));
  writeFileSync(
    join(folder, 'pgbouncer.ini'),
    `[databases]
* = host=${searchParams.get('host')}

[pgbouncer]
unix_socket_dir = ${folder}
listen_port = ${port}
auth_type = scram-sha-256
auth_file = ${join(folder, 'users.txt')}
pidfile = ${join(folder, 'pid')}
pool_mode = ${poolMode}
default_pool_size = ${poolSize}
max_client_conn = 500
`,
  );
  writeFileSync(join(folder, 'users.txt'), `"${username}" "${password}"\n`);
  if (identity.uid !== undefined) chownSync(folder, identity.uid, identity.gid);
  return folder;
}

async function startIn(folder: string): Promise<ChildProcess> {
  const log = join(folder, 'log');
  const output = openSync(log, 'a');
  const child = spawn('pgbouncer', [join(folder, 'pgbouncer.ini')], {
    env,
    ...identity,
    stdio: ['ignore', output, output],
  });
  child.unref();
  closeSync(output);
  await until(() => accepts(join(folder, `.s.PGSQL.${port}`))).catch((cause: unknown) => {
    throw new Error(`PgBouncer did not start:\n${readFileSync(log, 'utf8')}`, { cause });
  });
  return child;
}

/** Starts a shell that waits until this process ends. */
function endWithThisProcess(folder: string): void {
  const script = 'cat > /dev/null; kill -KILL "$(cat "$1/pid")" 2> /dev/null; rm -rf "$1"';
  const guard = spawn('/bin/sh', ['-c', script, 'sh', folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  guard.unref();
  (guard.stdin as unknown as { unref: () => void }).unref();
}

function accepts(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
