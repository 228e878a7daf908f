// The database of every old version works in this one: nothing is lost, and it charges on.
// tests/databases/README.md says how the databases were made.
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { appliedMigrations } from '../../src/db/migrate.ts';
import { formerNames, migrations } from '../../src/db/migrations/list.ts';
import { compareBookings } from '../../src/domain/billing/compare-bookings.ts';
import { verify } from '../../src/domain/ledger/reports/verify.ts';
import type { Manifest, OldKey } from '../databases/manifest.ts';
import { versions } from '../databases/versions.ts';
import { answerContent } from '../support/answers.ts';
import { endpoint } from '../support/endpoints.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { send } from '../support/http.ts';
import { copyOldDatabase, manifestOf, schemaOf } from '../support/old-database.ts';
import { createDatabase } from '../support/postgres.ts';
import { openTestDatabase } from '../support/ledger/test-ledger.ts';
import { TestClock } from '../support/test-clock.ts';
import type { StoreName } from '../support/test-store.ts';
import { until } from '../support/until.ts';
import { scaled } from '../support/volume.ts';

/** In `npm test`: the oldest, one with users, one with the last before sealed days, and a name
 * that changed. */
const few = ['0003-web-searches', '0010-sign-in', '0018-card-fees', '0019-smaller-rows'];
const chosen = scaled(
  versions.filter(({ name }) => few.includes(name)),
  versions,
);
const chat = endpoint('chat');
const minuteMs = 60_000;

for (const { name, stores } of chosen) {
  void describe(`a database whose newest migration is ${name}`, () => {
    for (const store of stores)
      test(`works in this version with its data, on ${store}`, (t) => worksHere(t, name, store));
  });
}

async function worksHere(t: TestContext, version: string, store: StoreName): Promise<void> {
  const manifest = manifestOf(version, store);
  const databaseUrl = await copyOldDatabase(t, version, store);
  const clock = new TestClock(manifest.madeAtMs + 30 * minuteMs);
  const gateway = await startGateway(
    {},
    { databaseUrl, clock, env: { TOLLGATE_SECRET: manifest.secret } },
  );
  try {
    const { database } = gateway;
    await isMigrated(t, database, store);
    await hasItsBooks(gateway, manifest, clock);
    for (const key of manifest.keys) await keyIsAsItWas(gateway, key);
    if (manifest.user) await signsIn(gateway, manifest.user);

    const before = await rowsOf(database);
    await gateway.program.terminate();
    await gateway.program.start();
    assert.deepEqual(await rowsOf(database), before, 'after another start');
    assert.deepEqual(await database.migrate(), []);
  } finally {
    await gateway.stop();
  }
}

/**
 * Migrations were edited before the first release: databases from before have foreign keys that
 * new ones do not need, and an index that answers the same question more slowly.
 */
const harmless = /^constraint \w+\.\w+_(ledger|price)_id_fkey:|^index accounts_purged:/;

async function isMigrated(t: TestContext, database: Database, store: StoreName): Promise<void> {
  const applied = await appliedMigrations(database.write);
  assert.deepEqual(
    applied.map((name) => formerNames[name] ?? name).toSorted(),
    Object.keys(migrations[store]),
  );
  const fresh =
    store === 'sqlite' ? await openTestDatabase(t) : openDatabase(await createDatabase());
  if (store === 'postgres') t.after(() => fresh.close());
  const [here, wanted] = [await schemaOf(database), await schemaOf(fresh)];
  const differences = [...here.symmetricDifference(wanted)];
  assert.deepEqual(
    differences.filter((line) => !harmless.test(line)),
    [],
    'differs from a new database',
  );
}

async function hasItsBooks(
  { database }: TestGateway,
  { ledgers, holds }: Manifest,
  clock: TestClock,
): Promise<void> {
  assert.equal(holds.count, 1);
  await until(async () => {
    await clock.advance(1_000);
    const open = await database.read.selectFrom('holds').select('id').execute();
    return open.length === 0;
  });
  const found = await database.read
    .selectFrom('ledgers')
    .select(['id', 'posted_micros', 'held_micros'])
    .orderBy('id')
    .execute();
  assert.deepEqual(
    found.map((row) => ({ ...row })),
    ledgers.map(({ id, postedMicros }) => ({ id, posted_micros: postedMicros, held_micros: 0 })),
  );
  for (const { id, charges, chargedMicros } of ledgers)
    assert.deepEqual(await chargesOf(database, id), { charges, chargedMicros });
  const books = await verify(database.read, [compareBookings], { all: true });
  assert.ok(books.ok, JSON.stringify(books));
}

async function chargesOf({ read }: Database, ledgerId: string) {
  const rows = await read
    .selectFrom('charges')
    .select('cost_micros')
    .where('ledger_id', '=', ledgerId)
    .execute();
  return {
    charges: rows.length,
    chargedMicros: rows.reduce((sum, { cost_micros: micros }) => sum + micros, 0),
  };
}

const statuses = { works: 200, revoked: 401, disabled: 401, 'without-money': 402 } as const;

async function keyIsAsItWas(gateway: TestGateway, { key, account, mode, state }: OldKey) {
  const { upstream, url, database } = gateway;
  upstream.on(
    chat.upstreamPath,
    answerContent('chat', { text: 'new', tokens: { input: 1_000, output: 100 } }),
  );
  const ledgerId = `${account}:${mode}`;
  const before = await chargesOf(database, ledgerId);
  const reply = await send(url + chat.path, { key, body: chat.body() });
  assert.equal(reply.status, statuses[state], `${state}: ${reply.text}`);
  const after = await chargesOf(database, ledgerId);
  const cost = reply.costMicros ?? 0;
  assert.equal(cost > 0, state === 'works');
  assert.deepEqual(after, {
    charges: before.charges + (state === 'works' ? 1 : 0),
    chargedMicros: before.chargedMicros + cost,
  });
}

async function signsIn({ url }: TestGateway, user: NonNullable<Manifest['user']>): Promise<void> {
  const reply = await send(`${url}/dashboard-api/auth/sign-in`, {
    headers: { origin: url },
    body: user,
  });
  assert.deepEqual([reply.status, reply.json()], [200, { next: 'done' }]);
}

/** What a start must not change. */
async function rowsOf({ read }: Database) {
  return {
    ledgers: await read.selectFrom('ledgers').selectAll().orderBy('id').execute(),
    entries: await read.selectFrom('entries').selectAll().orderBy('seq').execute(),
    charges: await read.selectFrom('charges').selectAll().orderBy('id').execute(),
    keys: await read.selectFrom('api_keys').selectAll().orderBy('id').execute(),
    accounts: await read.selectFrom('accounts').selectAll().orderBy('id').execute(),
    users: await read.selectFrom('users').selectAll().orderBy('id').execute(),
  };
}
