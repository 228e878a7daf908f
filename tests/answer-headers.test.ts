// The shorter way of known requests (src/server/known/) names a request by the headers that its answer may depend on. Here the full way
// shows which headers it reads: a new one must be named as well, or be known to make no difference.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { IncomingMessage, Server, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createAccount } from '../src/accounts/manage-accounts.ts';
import { startApp } from '../src/app.ts';
import { loadConfig } from '../src/config/load.ts';
import { openDatabase } from '../src/db/database.ts';
import { digestKeyFrom } from '../src/keys/key-text.ts';
import { createKey } from '../src/keys/manage-keys.ts';
import { createLedgers } from '../src/ledger/create-ledgers.ts';
import { systemClock } from '../src/lib/clock.ts';
import { answerHeaderNames } from '../src/server/charged.ts';
import { endpoints } from './support/endpoints.ts';
import { send } from './support/http.ts';
import { createSecret, type Secret } from '../src/lib/secrets.ts';

/** A stored answer is sent as it is, so the address in the request makes no difference; nor does when its body is asked for. */
const withoutEffect = [
  'host',
  'expect',
  'upgrade',
  'connection',
  'accept-version',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
];

test('the full way reads no header that the shorter one does not name', async () => {
  const read = new Set<string>();
  // oxlint-disable-next-line typescript/unbound-method -- it is called on the server that it was taken from
  const { emit } = Server.prototype;
  Server.prototype.emit = function emitWatched(event: string | symbol, ...args: unknown[]): boolean {
    if (event === 'request' && args[0] instanceof IncomingMessage) watch(args[0], read);
    return Reflect.apply(emit, this, [event, ...args]) as boolean;
  };
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-headers-'));
  const config = loadConfig({ env: { PORT: '0', TOLLGATE_DATA_DIR: dataDir }, cwd: dataDir });
  const quiet = () => {};
  const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
  const secret = createSecret('a secret of these tests, long enough');
  const app = await startApp({ config, secrets: [secret], log, onLedgerFailure: quiet, clock: systemClock });
  try {
    const key = await makeTestKey(config.database.url, secret);
    for (const at of endpoints) {
      const body = at.body({ temperature: 0 });
      const tries: Record<string, string>[] = [{}, { 'idempotency-key': at.name }];
      for (const headers of tries) {
        for (let time = 0; time < 2; time++) {
          const reply = await send(`${app.url}${at.path}/`, { key, body, headers });
          assert.equal(reply.status, 200, reply.text);
        }
      }
    }
  } finally {
    Server.prototype.emit = emit;
    await app.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
  const named = answerHeaderNames('X-Service-Cache');
  assert.ok(read.has('authorization') && read.has('x-service-cache'), [...read].join(', '));
  assert.deepEqual(
    [...read].filter((name) => !named.includes(name) && !withoutEffect.includes(name)),
    [],
  );
});

async function makeTestKey(databaseUrl: string, secret: Secret): Promise<string> {
  const database = openDatabase(databaseUrl);
  const accountId = await createAccount(database, { name: 'Test' }, createLedgers);
  const made = await createKey(database, digestKeyFrom(secret), { accountId, mode: 'test' });
  await database.close();
  return made!.key;
}

function watch(request: IncomingMessage, read: Set<string>): void {
  const note = (name: string | symbol) => typeof name === 'string' && read.add(name);
  const headers = new Proxy(request.headers, {
    get(target, name) {
      note(name);
      return target[name as keyof IncomingHttpHeaders];
    },
    has(target, name) {
      note(name);
      return name in target;
    },
  });
  Object.defineProperty(request, 'headers', { value: headers });
}
