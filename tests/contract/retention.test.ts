// Retention: the charges of old sealed days are exported and removed, and only then. Sums, balances
// and proofs stay.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import fsPromises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Database } from '../../src/db/database.ts';
import { listCharges } from '../../src/domain/ledger/reports/queries.ts';
import { report } from '../../src/domain/ledger/reports/report.ts';
import { verify } from '../../src/domain/ledger/reports/verify.ts';
import { look, type LookEvent } from '../../src/domain/ledger/seals/look.ts';
import { doubtMs } from '../../src/domain/ledger/seals/trusted-clock.ts';
import {
  addAccount,
  creditOf,
  reserveOf,
  settleOf,
  startMs,
} from '../support/ledger/test-ledger.ts';
import { mountSmallDisk, noSmallDisk } from '../support/small-disk.ts';
import { assertVerifies, select, typesOf } from './books.ts';
import { onEachStore, run, type StoreKind } from './stores.ts';

const dayMs = 86_400_000;
const killedLook = join(import.meta.dirname, '../support/ledger/killed-look.ts');
const chargesDays = 3;
const daysCharged = 6;
const holds = [
  { holdId: 'h0', ledgerId: 'a0:live', keyId: 'k0' },
  { holdId: 'h1', ledgerId: 'a1:live', keyId: 'k1' },
] as const;

/** Six days with two charges each, and a clock that is trusted, three hours after their end. */
async function openBooks(t: TestContext, store: StoreKind, note = 'x', moreCharges = 0) {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-export-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const database = await store.openDatabase(t);
  await addAccount(database, 'a0', ['k0']);
  await addAccount(database, 'a1', ['k1']);
  const clock = { nowMs: startMs };
  const books = store.openStore(t, database, { clock });
  await books.run([{ ...creditOf('a0:live', 10_000), note }, creditOf('a1:live', 1_000)]);
  const more = Array.from({ length: moreCharges }, (_, number) => {
    const one = { ...holds[0], holdId: `more-${number}` };
    return [reserveOf(one, 1), settleOf(one, 1)];
  });
  await books.run(more.flat());
  for (let day = 0; day < daysCharged; day++) {
    const commands = holds.flatMap((of) => {
      const one = { ...of, holdId: `${of.holdId}-${day}` };
      return [reserveOf(one, 10), { ...settleOf(one, 12), tags: ['nightly', `day=${day}`] }];
    });
    await books.run(commands);
    clock.nowMs += dayMs;
  }
  clock.nowMs += 3 * 3_600_000;
  await run(database, `update sealing set trusted_ms = ${clock.nowMs}`);
  const lookOnce = async ({
    owner = 'one',
    exportFolder = folder,
    keptDays = chargesDays,
    pause = async () => {},
  } = {}) => {
    const events: LookEvent[] = [];
    await look({
      database,
      owner,
      retention: { chargesDays: keptDays, exportFolder },
      tell: (event) => events.push(event),
      nowMs: () => clock.nowMs,
      pause,
    });
    return events;
  };
  const countCharges = async () => (await select(database, 'select id from charges')).length;
  return { database, books, clock, folder, lookOnce, countCharges };
}

type Books = Awaited<ReturnType<typeof openBooks>>;

const kindsOf = (events: readonly LookEvent[]) => [...new Set(events.map(({ kind }) => kind))];
/** The newest seal is of day 6; days 1 to 3 are 3 or more days older. */
const removedDays = 3;
const firstDay = '2026-11-21';
const lastRemovedDay = '2026-11-23';

/** Leaves the newest removed day as a kill in its removal does: with one of its charges. */
async function removeHalf(
  store: StoreKind,
  database: Database,
  lookOnce: Books['lookOnce'],
  change = 'id = id',
): Promise<void> {
  await store.execute(database, 'create table kept as select * from charges');
  await lookOnce();
  const on = store.name === 'PostgreSQL' ? ' on sealed_days' : '';
  await store.execute(
    database,
    `drop trigger sealed_days_refuse_mark${on}; update sealed_days set removed_at_ms = null where day = '${lastRemovedDay}';
     update kept set ${change} where id = 'h0-2'; insert into charges select * from kept where id = 'h0-2'`,
  );
}

/** SQL that inserts a changed copy of a charge. */
const copyCharge = (id: string, change: string) =>
  `create temp table copy as select * from charges where id = '${id}';
   update copy set ${change}; insert into charges select * from copy`;

/** Counts what is flushed through node:fs/promises. */
function watchFlushes(t: TestContext) {
  const open = fsPromises.open;
  const paths: string[] = [];
  let failing: string | null = null;
  t.after(() => {
    fsPromises.open = open;
    syncBuiltinESMExports();
  });
  fsPromises.open = async (...args) => {
    paths.push(String(args[0]));
    if (args[0] === failing) throw new Error('killed');
    return open(...args);
  };
  syncBuiltinESMExports();
  return {
    count: (path: string) => paths.filter((one) => one === path).length,
    fail: (path: string) => (failing = path),
    clear: () => {
      failing = null;
      paths.length = 0;
    },
  };
}

/** Leaves what a kill before the first removal does: the days sealed, and the file of the first. */
async function sealAndWriteFirst(t: TestContext, { folder, lookOnce }: Books): Promise<string> {
  const flushed = watchFlushes(t);
  flushed.fail(folder);
  await lookOnce();
  flushed.clear();
  return join(folder, `tollgate-${firstDay}.jsonl.gz`);
}

function linesOf(path: string): readonly Readonly<Record<string, unknown>>[] {
  const text = gunzipSync(readFileSync(path)).toString().trim();
  return text.split('\n').map((line) => JSON.parse(line) as Record<string, unknown>);
}

onEachStore((store) => {
  test('charges of old days are exported and removed; sums, balances and later charges stay', async (t) => {
    const books = await openBooks(t, store);
    const { database, folder, lookOnce, countCharges } = books;
    const query = { by: 'day', mode: 'live', fromMs: 0, toMs: startMs * 2 } as const;
    const before = await report(database.read, query);
    const events = await lookOnce();
    assert.deepEqual(kindsOf(events), ['sealed', 'removed', 'done']);
    assert.equal(await countCharges(), 2 * (daysCharged - removedDays));
    assert.deepEqual(await report(database.read, query), before);
    await assertVerifies(books.database);
    // The tags go with their charges; their sums stay.
    const left = await select(database, 'select tag from charge_tags');
    assert.equal(left.length, 2 * 2 * (daysCharged - removedDays));
    assert.equal((await select(database, 'select tag from tag_days')).length, 2 * 2 * daysCharged);

    const files = readdirSync(folder).toSorted();
    assert.equal(files.length, removedDays);
    assert.equal(files[0], `tollgate-${firstDay}.jsonl.gz`);
    const [head, ...rows] = linesOf(join(folder, files[1]!));
    const columns = head!['charge_columns'] as string[];
    const charges = rows.flatMap((row) => (row['charge'] ? [row['charge'] as unknown[]] : []));
    assert.deepEqual(
      charges.map((row) => [row[columns.indexOf('id')], row[columns.indexOf('cost_micros')]]),
      [
        ['h0-1', 12],
        ['h1-1', 12],
      ],
    );
    const tags = rows.flatMap((row) => (row['tags'] ? [row['tags']] : []));
    assert.deepEqual(head!['tag_columns'], ['charge_id', 'tags']);
    assert.deepEqual(tags, [
      ['h0-1', ['day=1', 'nightly']],
      ['h1-1', ['day=1', 'nightly']],
    ]);
    assert.equal(rows.length, 8);

    const all = { ledgerId: 'a0:live', limit: 100, cursor: null } as const;
    const page = await listCharges(database.read, all);
    assert.deepEqual(page.charges.at(-1)?.id, `h0-${removedDays}`);
    assert.equal(page.next, null);
    assert.deepEqual(kindsOf(await lookOnce()), ['done']);
  });

  test('a file whose tags or head are others, or that was cut off, removes nothing, and the next look reads it again', async (t) => {
    const books = await openBooks(t, store);
    const path = await sealAndWriteFirst(t, books);
    const whole = readFileSync(path);
    const text = gunzipSync(whole).toString();
    for (const changed of [
      text.replace('"nightly"', '"weekly"'),
      text.replace(/\{"tags".*\n/, ''),
      text.replace(/^.*/, '{}'),
    ]) {
      assert.notEqual(changed, text);
      writeFileSync(path, gzipSync(changed));
      const kinds = kindsOf(await books.lookOnce());
      assert.deepEqual(kinds, ['not-removed', 'done'], changed.slice(0, 200));
    }
    // Larger than what a stream reads at once.
    const head = text.split('\n', 1)[0];
    const long = gzipSync(`${head}\n{"entry":"${randomBytes(200_000).toString('base64')}"}\n`);
    writeFileSync(path, long.subarray(0, long.length / 2));
    assert.deepEqual(kindsOf(await books.lookOnce()), ['not-exported', 'done']);
    assert.equal(await books.countCharges(), 2 * daysCharged);
    writeFileSync(path, whole);
    assert.deepEqual(kindsOf(await books.lookOnce()), ['removed', 'done']);
  });

  test('after a removal its marks are final, no page by key reads the days, and a changed sum by tag is found', async (t) => {
    const { database, lookOnce } = await openBooks(t, store);
    await lookOnce();
    for (const [day, change] of [
      ['2026-11-22', 'removed_at_ms = null'],
      ['2026-11-22', 'removing_since_ms = 1'],
      ['2026-11-24', 'removing_since_ms = 1, removed_at_ms = 1'],
      ['2026-11-25', 'removing_since_ms = 1'],
    ])
      await assert.rejects(
        async () =>
          store.execute(database, `update sealed_days set ${change} where day = '${day}'`),
        /append-only/,
      );

    await run(database, `update tag_days set requests = 2 where day = '${firstDay}'`);
    const result = await verify(database.read, [], { all: true });
    assert.equal(result.ok ? null : result.problem.column, 'sums_digest');

    // However many charges a removed day had.
    await run(
      database,
      `update charge_days set requests = 1000000 where day <= '${lastRemovedDay}'`,
    );
    let statements = 0;
    const read = database.read.withPlugin({
      transformQuery: ({ node }) => {
        statements += 1;
        return node;
      },
      transformResult: ({ result: rows }) => Promise.resolve(rows),
    });
    const filter = { ledgerId: 'a0:live', keyId: 'k0', limit: 100, cursor: null } as const;
    const { charges, next } = await listCharges(read, filter);
    assert.deepEqual([charges.length, next], [daysCharged - removedDays, null]);
    assert.ok(statements <= 3, `${statements} statements`);

    const started = `update sealed_days set removing_since_ms = 1 where day = '2026-11-24'`;
    await store.execute(database, started);
  });

  test('a request goes on beside a look, and the books verify', async (t) => {
    const books = await openBooks(t, store);
    const done = books.lookOnce();
    for (let number = 0; number < 30; number++) {
      const one = { ...holds[0], holdId: `beside-${number}` };
      const replies = await books.books.run([reserveOf(one, 1), settleOf(one, 1)]);
      assert.deepEqual(typesOf(replies), ['held', 'charged']);
    }
    assert.deepEqual(kindsOf(await done), ['sealed', 'removed', 'done']);
    await assertVerifies(books.database);
  });

  test('a gateway that is killed between export and removal, or while it removes, loses nothing', async (t) => {
    const books = await openBooks(t, store);
    const { database, folder, lookOnce, countCharges } = books;
    await removeHalf(store, database, lookOnce);
    const read = (name: string) => readFileSync(join(folder, name)).toString('base64');
    const files = readdirSync(folder).map((name) => [name, read(name)]);
    await assertVerifies(books.database);
    assert.deepEqual(kindsOf(await lookOnce()), ['removed', 'done']);
    assert.equal(await countCharges(), 2 * (daysCharged - removedDays));
    assert.deepEqual(
      readdirSync(folder).map((name) => [name, read(name)]),
      files,
    );
    await assertVerifies(books.database);
  });

  test('a file that differs is not overwritten, and its day stays', async (t) => {
    const books = await openBooks(t, store);
    const path = join(books.folder, `tollgate-${firstDay}.jsonl.gz`);
    const other = await openBooks(t, store);
    await other.lookOnce();
    const differing = readFileSync(join(other.folder, `tollgate-2026-11-22.jsonl.gz`));
    writeFileSync(path, differing);
    const events = await books.lookOnce();
    assert.deepEqual(kindsOf(events), ['sealed', 'not-removed', 'done']);
    assert.equal(await books.countCharges(), 2 * daysCharged);
    assert.deepEqual(readFileSync(path), differing);
    // Not even a file: it cannot be read.
    writeFileSync(path, 'not gzip');
    assert.deepEqual(kindsOf(await books.lookOnce()), ['not-exported', 'done']);
    assert.equal(readFileSync(path, 'utf8'), 'not gzip');
  });

  test('while the disk of the exports is full, nothing is removed; then the next look does it', async (t) => {
    const disk = mountSmallDisk();
    if (!disk) return t.skip(noSmallDisk);
    t.after(disk.unmount);
    const books = await openBooks(t, store);
    const exportFolder = join(disk.folder, 'exports');
    mkdirSync(exportFolder);
    disk.fill();
    assert.deepEqual(kindsOf(await books.lookOnce({ exportFolder })), [
      'sealed',
      'not-exported',
      'done',
    ]);
    assert.equal(await books.countCharges(), 2 * daysCharged);
    disk.free();
    assert.deepEqual(kindsOf(await books.lookOnce({ exportFolder })), ['removed', 'done']);
    assert.equal(readdirSync(exportFolder).length, removedDays);
    await assertVerifies(books.database);
  });

  const tampering = {
    'a sealed charge that was changed': `update charges set model_name = 'x' where id = 'h0-1'`,
    'a sealed charge that is gone': `delete from charges where id = 'h0-1'`,
    'a charge that nobody booked': copyCharge('h0-1', `id = 'z'`),
  };
  for (const [name, sql] of Object.entries(tampering)) {
    test(`${name} stops the removal of its day and of later ones`, async (t) => {
      const { database, folder, lookOnce, countCharges } = await openBooks(t, store);
      // Nothing is removed by this look: the folder is a file.
      const blocked = join(folder, 'file');
      writeFileSync(blocked, '');
      assert.deepEqual(kindsOf(await lookOnce({ exportFolder: blocked })), [
        'sealed',
        'not-exported',
        'done',
      ]);
      await store.execute(database, `${store.withoutGuards}; ${sql}`);
      const count = await countCharges();
      const events = await lookOnce();
      assert.deepEqual(
        events.map(({ kind }) => kind),
        ['removed', 'not-removed', 'done'],
      );
      assert.equal(await countCharges(), count - 2);
    });
  }

  test('two gateways that look at once remove each charge after its export; one whose turn it is not tells how far days are sealed', async (t) => {
    const { database, clock, lookOnce } = await openBooks(t, store);
    const all = await Promise.all([lookOnce({ owner: 'one' }), lookOnce({ owner: 'two' })]);
    assert.equal(all.flat().filter(({ kind }) => kind === 'removed').length, removedDays);
    assert.equal(all.flat().filter(({ kind }) => kind === 'sealed').length, daysCharged);
    await assertVerifies(database);
    const until = `claimed_until_ms = ${clock.nowMs + 60_000}`;
    await run(database, `update sealing set owner = 'two', ${until}`);
    const sealedUntilMs = Math.floor(clock.nowMs / dayMs) * dayMs;
    assert.deepEqual(await lookOnce(), [{ kind: 'skipped', sealedUntilMs }]);
  });

  test("a seal's state that was replaced is restored, and the next day is sealed", async (t) => {
    const books = await openBooks(t, store);
    const { database, clock, lookOnce } = books;
    await lookOnce();
    const query = database.read.selectFrom('sealed_days').select(['day', 'state']);
    const readSeal = async () => ({
      ...(await query.orderBy('day', 'desc').limit(1).executeTakeFirstOrThrow()),
    });
    for (const state of ['null', `'{}'`]) {
      const { day, state: before } = await readSeal();
      await run(database, `update sealed_days set state = ${state} where day = '${day}'`);
      assert.deepEqual((await lookOnce())[0], { kind: 'state-restored', day }, state);
      assert.deepEqual(await readSeal(), { day, state: before });
      clock.nowMs += dayMs;
      await run(database, `update sealing set trusted_ms = ${clock.nowMs}`);
      assert.deepEqual(kindsOf(await lookOnce()), ['sealed', 'removed', 'done']);
    }
    await assertVerifies(books.database);
  });

  test('a state is not restored from a sealed day that was changed', async (t) => {
    const { database, lookOnce } = await openBooks(t, store);
    await lookOnce();
    await store.execute(
      database,
      `${store.withoutGuards}; update entries set note = 'x' where id = 'h0-0' and kind = 'reserve';
       update sealed_days set state = null where state is not null`,
    );
    const query = database.read.selectFrom('sealed_days').select('state');
    assert.deepEqual(kindsOf(await lookOnce()), ['done']);
    assert.ok((await query.execute()).every((seal) => seal.state === null));
  });

  test('a clock that jumps ahead closes and removes nothing until it went on for many hours', async (t) => {
    const { clock, lookOnce, countCharges } = await openBooks(t, store);
    const rightMs = clock.nowMs;
    clock.nowMs += 3 * dayMs;
    const doubted = await lookOnce();
    assert.deepEqual(kindsOf(doubted), ['clock-doubted', 'done']);
    assert.ok(!('time' in doubted[0]!), 'the log line has a time of its own');
    clock.nowMs = rightMs;
    assert.deepEqual(kindsOf(await lookOnce()), ['sealed', 'removed', 'done']);
    const count = await countCharges();
    clock.nowMs += 3 * dayMs;
    for (let waitedMs = 0; waitedMs < doubtMs; waitedMs += 3_600_000) {
      assert.deepEqual(kindsOf(await lookOnce()), ['clock-doubted', 'done']);
      clock.nowMs += 3_600_000;
    }
    assert.equal(await countCharges(), count);
    assert.ok(kindsOf(await lookOnce()).includes('sealed'));
  });

  const overriding = store.name === 'PostgreSQL' ? 'overriding system value' : '';
  const unsealed = {
    'a charge that was dated into a sealed day later': {
      keptDays: 1_000,
      sql: `create temp table late as select * from entries where id = 'h0-0' and kind in ('reserve', 'settle');
       update late set id = 'late', seq = seq + 1000000; insert into entries ${overriding} select * from late;
       ${copyCharge('h0-0', `id = 'late'`)}`,
    },
    'a charge that nobody booked, from before the first sealed day,': {
      keptDays: 39,
      sql: copyCharge('h0-4', `id = 'late', created_at_ms = created_at_ms - ${20 * dayMs}`),
    },
  };
  for (const [name, { keptDays, sql }] of Object.entries(unsealed)) {
    test(`${name} is in no file and stays`, async (t) => {
      const { database, lookOnce } = await openBooks(t, store);
      await lookOnce({ keptDays });
      await store.execute(database, sql);
      assert.deepEqual(kindsOf(await lookOnce()), ['not-removed', 'done']);
      const late = await select(database, `select id from charges where id = 'late'`);
      assert.equal(late.length, 1);
    });
  }

  test('line separators within a text do not end a line of the file', async (t) => {
    const { books, lookOnce } = await openBooks(t, store, 'a\u2028b\u2029c\rd\u0085e');
    assert.ok(books);
    assert.deepEqual(kindsOf(await lookOnce()), ['sealed', 'removed', 'done']);
  });

  test('a file that was linked before a kill is flushed with its folder before the removal', async (t) => {
    const { lookOnce, folder } = await openBooks(t, store);
    const flushed = watchFlushes(t);
    flushed.fail(folder);
    assert.deepEqual(kindsOf(await lookOnce()), ['sealed', 'not-exported', 'done']);
    flushed.clear();
    assert.deepEqual(kindsOf(await lookOnce()), ['removed', 'done']);
    assert.equal(flushed.count(folder), removedDays);
    assert.equal(flushed.count(join(folder, `tollgate-${firstDay}.jsonl.gz`)), 1);
  });

  test('a folder that is missing is not made', async (t) => {
    const { lookOnce, folder } = await openBooks(t, store);
    const exportFolder = join(folder, 'unmounted');
    assert.deepEqual(kindsOf(await lookOnce({ exportFolder })), ['sealed', 'not-exported', 'done']);
    assert.deepEqual(readdirSync(folder), []);
  });

  test('a day half removed is not ended on a host that lacks the file, and is ended after charges are kept for longer', async (t) => {
    const { database, folder, lookOnce, countCharges } = await openBooks(t, store);
    await removeHalf(store, database, lookOnce);
    const [event] = await lookOnce({ exportFolder: join(folder, 'other') });
    assert.equal(event?.kind, 'not-exported');
    assert.deepEqual(kindsOf(await lookOnce({ keptDays: 1_000 })), ['removed', 'done']);
    assert.equal(await countCharges(), 2 * (daysCharged - removedDays));
  });

  test('verify tells how far charges were removed, and finds one that was put back', async (t) => {
    const { database, lookOnce } = await openBooks(t, store);
    await store.execute(database, 'create table kept as select * from charges');
    await lookOnce();
    const whole = await verify(database.read);
    assert.ok(whole.ok);
    assert.equal(whole.removedDay, lastRemovedDay);
    await store.execute(database, `insert into charges select * from kept where id = 'h0-0'`);
    for (const all of [false, true]) {
      const found = await verify(database.read, [], { all });
      assert.ok(!found.ok);
      assert.equal(found.problem.id, 'h0-0');
    }
  });

  test('verify compares the charges that are left of a day being removed with their entries', async (t) => {
    const { database, lookOnce } = await openBooks(t, store);
    await removeHalf(store, database, lookOnce, 'cost_micros = 999');
    const found = await verify(database.read, [], { all: true });
    assert.ok(!found.ok);
    assert.equal(found.problem.id, 'h0-2');
  });

  test('between two steps of a removal the ledger writes', async (t) => {
    const { books, lookOnce, countCharges } = await openBooks(t, store, 'x', 600);
    let charged = 0;
    const pause = async () => {
      const one = { ...holds[0], holdId: `between-${(charged += 1)}` };
      await books.run([reserveOf(one, 1), settleOf(one, 1)]);
    };
    assert.deepEqual(kindsOf(await lookOnce({ pause })), ['sealed', 'removed', 'done']);
    assert.equal(charged, 1);
    assert.equal(await countCharges(), 2 * (daysCharged - removedDays) + 1);
  });

  test('a process killed anywhere in a removal leaves each charge in the database or in a file', async (t) => {
    const { database, clock, folder, lookOnce, countCharges } = await openBooks(t, store, 'x', 600);
    await lookOnce({ keptDays: 1_000 });
    const all = await database.read.selectFrom('charges').select('id').execute();
    const signals: unknown[] = [];
    // A call of the clock more each time, until a look ends.
    for (const killAt of ['4', '5', 'pause', '6', '7', '8', '9']) {
      const args = [killedLook, database.url, folder, clock.nowMs, chargesDays, killAt].map(String);
      signals.push(spawnSync(process.execPath, args).signal);
      const left = await database.read.selectFrom('charges').select('id').execute();
      const kept = new Set(left.map(({ id }) => id));
      const exported = readdirSync(folder)
        .filter((name) => name.endsWith('.gz'))
        .map((name) => gunzipSync(readFileSync(join(folder, name))).toString())
        .join('');
      const lost = all.filter(({ id }) => !kept.has(id) && !exported.includes(`"charge":["${id}"`));
      assert.deepEqual(lost, []);
    }
    assert.ok(signals.filter((signal) => signal === 'SIGKILL').length >= 6);
    await lookOnce();
    assert.equal(await countCharges(), 2 * (daysCharged - removedDays));
    await assertVerifies(database);
  });
});
