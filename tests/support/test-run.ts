// Shared by the test files of a run. The runner loads this module (`--test-global-setup`): it
// chooses the random seed, and starts a PostgreSQL server when a test process first asks for it. A
// test file run alone has its own seed and server.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { OwnPostgresServer } from './postgres.ts';
import { seed } from './random.ts';

/** The URL at which test processes ask the runner for the server. */
const runVariable = 'TOLLGATE_TEST_RUN';

let server: Promise<OwnPostgresServer> | null = null;

/** The runner calls it before the first test file. */
export async function globalSetup(): Promise<void> {
  console.error(`Random numbers of this run: TOLLGATE_TEST_SEED=${seed}`);
  process.env['TOLLGATE_TEST_SEED'] = String(seed);
  // Test files load faster from a compile cache.
  process.env['NODE_COMPILE_CACHE'] ??= join(
    import.meta.dirname,
    '..',
    '..',
    'node_modules',
    '.cache',
    'tollgate-tests',
  );
  // Every user of the machine can reach the port, so the path is a secret.
  const path = `/${randomUUID()}`;
  const listener = createServer((request, response) => {
    if (request.url !== path) return response.writeHead(404).end();
    openSharedFolder().then(
      (folder) => response.end(folder),
      (error: Error) => response.writeHead(500).end(error.stack),
    );
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  listener.unref();
  process.env[runVariable] = `http://127.0.0.1:${(listener.address() as AddressInfo).port}${path}`;
}

async function openSharedFolder(): Promise<string> {
  server ??= import('./postgres.ts').then(({ startPostgres }) => startPostgres());
  const { folder, dropAbandoned } = await server;
  // When a test file begins, another may have ended.
  dropAbandoned().catch(console.error);
  return folder;
}

/** Returns the folder of the run's PostgreSQL server; null for a test file run alone. */
export async function sharedPostgresFolder(): Promise<string | null> {
  const url = process.env[runVariable];
  if (url === undefined) return null;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { agent: false }, resolve).once('error', reject);
  });
  const answer = await text(response);
  assert.equal(response.statusCode, 200, `the test run could not start PostgreSQL:\n${answer}`);
  return answer;
}
