// Sealed days: random histories are sealed at random moments, whatever the clock did, and verify
// from the seal as they do from the start; a sealed row that was changed is found.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { Database } from '../../src/db/database.ts';
import type { Command } from '../../src/domain/ledger/commands.ts';
import { verify } from '../../src/domain/ledger/reports/verify.ts';
import { sealNextDay, type Sealing } from '../../src/domain/ledger/seals/seal-day.ts';
import { createLedgers } from '../../src/domain/ledger/create-ledgers.ts';
import { micros } from '../../src/lib/money.ts';
import { creditOf, reserveOf, settleOf, startMs } from '../support/ledger/test-ledger.ts';
import type { Hooks } from '../support/file-hooks.ts';
import fc from '../support/property.ts';
import { scaled } from '../support/volume.ts';
import { assertVerifies, changeableBooks, kindsOf, select } from './books.ts';
import { anyCommand, holds, openTwoAccounts, withTags } from './any-commands.ts';
import { onEachStore, type StoreKind } from './stores.ts';

const dayMs = 86_400_000;
type Step =
  | { readonly kind: 'run'; readonly command: Command }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'seal' };

const tags = fc.subarray(['nightly', 'project=alpha', 'project=beta']);
const step = fc.oneof(
  { weight: 8, arbitrary: anyCommand(12, tags).map((command): Step => ({ kind: 'run', command })) },
  {
    weight: 4,
    arbitrary: fc
      .oneof(
        { weight: 6, arbitrary: fc.integer({ min: 0, max: 2 * dayMs }) },
        { weight: 1, arbitrary: fc.integer({ min: -3 * dayMs, max: 0 }) },
        { weight: 1, arbitrary: fc.constant(6 * dayMs) },
      )
      .map((ms): Step => ({ kind: 'wait', ms })),
  },
  { weight: 2, arbitrary: fc.constant<Step>({ kind: 'seal' }) },
);

/** Seals every day that ended before, and returns the results. */
async function sealAll(database: Database, closedMs: number): Promise<readonly Sealing[]> {
  const results: Sealing[] = [];
  for (;;) {
    const result = await sealNextDay(database, { closedMs, nowMs: closedMs });
    results.push(result);
    if (result.kind !== 'sealed') return results;
  }
}

const openBooks = (t: Hooks, store: StoreKind) => openTwoAccounts(t, store, startMs);

/** Three days with charges of which some have tags, an open hold and a loss; two of them sealed. */
async function openSealed(t: Hooks, store: StoreKind) {
  const { database, clock, books } = await openBooks(t, store);
  await books.run([creditOf('a0:live', 1_000), creditOf('a1:live', 1_000)]);
  await books.run([reserveOf({ ...holds[0], holdId: 'open' }, 7)]);
  for (let day = 0; day < 3; day++) {
    for (const of of holds) {
      const one = { ...of, holdId: `${of.holdId}-${day}` };
      const named = of.keyId === 'k1' ? [] : ['nightly', `of=${of.keyId}`];
      await books.run([reserveOf(one, 10), withTags(settleOf(one, 12), named)]);
    }
    clock.nowMs += dayMs;
  }
  const results = await sealAll(database, Date.UTC(2026, 10, 23));
  assert.deepEqual(kindsOf(results), ['sealed', 'sealed', 'up-to-date']);
  return { database, clock, books };
}

/** What was changed, and the table and column where it is found. */
const tampering: Readonly<Record<string, { sql: string; problem: string }>> = {
  'a note that was changed': {
    sql: `update entries set note = 'x' where id = 'h0-0' and kind = 'reserve'`,
    problem: 'sealed_days entries_digest',
  },
  'an entry that was removed': {
    sql: `delete from entries where kind = 'credit' and id like 'play-%1'`,
    problem: 'sealed_days entries_digest',
  },
  'a charge whose model was changed': {
    sql: `update charges set model_name = 'x' where id = 'h0-0'`,
    problem: 'sealed_days charges_digest',
  },
  'a charge that was removed': {
    sql: `delete from charges where id = 'h2-1'`,
    problem: 'charges id',
  },
  'tags that moved to the next charge': {
    sql: `update charge_tags set charge_id = 'h1-0' where charge_id = 'h0-0'`,
    problem: 'sealed_days tags_digest',
  },
  'a tag that was changed together with its sums': {
    sql: `update charge_tags set tag = 'of=x' where charge_id = 'h0-0' and tag = 'of=k0';
      update tag_days set tag = 'of=x' where tag = 'of=k0' and day = '2026-11-21'`,
    problem: 'sealed_days tags_digest',
  },
  'a tag that was removed': {
    sql: `delete from charge_tags where charge_id = 'h2-1' and tag = 'nightly'`,
    problem: 'sealed_days tags_digest',
  },
  'a tag that was given to a charge without': {
    sql: `insert into charge_tags select ledger_id, 'x', created_at_ms, id from charges where id = 'h1-0'`,
    problem: 'sealed_days tags_digest',
  },
  'a charge that was inserted': {
    sql: `create temp table copy as select * from charges where id = 'h0-0'; update copy set id = 'z'; insert into charges select * from copy`,
    problem: 'charges id',
  },
};

onEachStore((store) => {
  test('random histories that are sealed at random moments verify from the seal and from the start', async (t) => {
    const property = fc.asyncProperty(
      fc.array(step, { maxLength: 60, size: 'max' }),
      async (steps) => {
        const { database, clock, books } = await openBooks(t, store);
        let sealed = 0;
        for (const one of [...steps, { kind: 'seal' } as const]) {
          if (one.kind === 'wait') clock.nowMs = Math.max(clock.nowMs + one.ms, startMs);
          else if (one.kind === 'run') await books.run([one.command]);
          else {
            const results = await sealAll(database, clock.nowMs - 2 * 3_600_000);
            assert.equal(results.at(-1)!.kind, 'up-to-date', JSON.stringify(results.at(-1)));
            sealed += results.length - 1;
            const quick = await verify(database.read);
            const whole = await verify(database.read, [], { all: true });
            assert.ok(quick.ok && whole.ok, JSON.stringify([quick, whole]));
            const { sealedDay, ...counts } = quick;
            assert.deepEqual(counts, whole);
            assert.equal(sealedDay !== undefined, sealed > 0);
          }
        }
        await database.close();
      },
    );
    await fc.assert(property, { numRuns: scaled(6, 100) });
  });

  test('no entry is dated into a sealed day, even if the clock goes back', async (t) => {
    const { database, clock, books } = await openSealed(t, store);
    clock.nowMs = startMs - 5 * dayMs;
    await books.run([creditOf('a0:test', 5)]);
    await database.write.transaction().execute(async (transaction) => {
      await transaction
        .insertInto('accounts')
        .values({ id: 'late', name: 'late', created_at_ms: clock.nowMs })
        .execute();
      await createLedgers(transaction, { accountId: 'late', nowMs: clock.nowMs });
    });
    const times = `select created_at_ms from entries where id in ('credit-a0:test-5', 'play-late')`;
    const midnight = Date.UTC(2026, 10, 23);
    assert.deepEqual(await select(database, times), [[midnight], [midnight]]);
  });

  const isShared = store.dialect === 'postgres';
  test('a sign-up under way while its day is sealed is covered', { skip: !isShared }, async (t) => {
    const { database } = await openSealed(t, store);
    const midnight = Date.UTC(2026, 10, 24);
    // A gateway whose clock is hours behind.
    const create = (id: string, end: () => Promise<void>) =>
      database.write.transaction().execute(async (transaction) => {
        await transaction
          .insertInto('accounts')
          .values({ id, name: id, created_at_ms: midnight - 1 })
          .execute();
        await createLedgers(transaction, { accountId: id, nowMs: midnight - 1 });
        await end();
      });
    const [created, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const first = create('first', () => {
      created.resolve();
      return gate.promise;
    });
    await created.promise;
    await create('second', () => Promise.resolve());
    const sealing = sealNextDay(database, { closedMs: midnight, nowMs: midnight });
    await Promise.race([sealing, setTimeout(1_000)]);
    gate.resolve();
    await first;
    assert.equal((await sealing).kind, 'sealed');
    await assertVerifies(database);
  });

  test('a charge while its day is sealed is dated after it, even if the clock goes back', async (t) => {
    const { database, clock, books } = await openSealed(t, store);
    const midnight = Date.UTC(2026, 10, 24);
    let isCharged = false;
    const charge = async () => {
      isCharged = true;
      clock.nowMs = midnight - 1;
      const one = { ...holds[0], holdId: 'during' };
      await books.run([reserveOf(one, 10), settleOf(one, 12)]);
    };
    // The journal was read, and the seal is not stored yet.
    const read = database.read.withPlugin({
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        if (!isCharged && Object.hasOwn(result.rows[0] ?? {}, 'requests')) await charge();
        return result;
      },
    });
    const times = { closedMs: midnight, nowMs: midnight };
    assert.equal((await sealNextDay({ ...database, read }, times)).kind, 'sealed');
    assert.ok(isCharged);
    const [next] = await sealAll(database, midnight + dayMs);
    assert.equal(next?.kind === 'sealed' && next.seal.charges, 1);
    await assertVerifies(database);
  });

  test('a day is sealed after every batch that began before', { skip: !isShared }, async (t) => {
    const { database } = await openSealed(t, store);
    const midnight = Date.UTC(2026, 10, 24);
    const ended: string[] = [];
    const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const batch = database.write.transaction().execute(async (transaction) => {
      const ledger = transaction.selectFrom('ledgers').select('id').where('id', '=', 'a0:live');
      await ledger.forUpdate().execute();
      begun.resolve();
      await gate.promise;
      ended.push('batch');
    });
    await begun.promise;
    const sealing = sealNextDay(database, { closedMs: midnight, nowMs: midnight }).then(
      ({ kind }) => ended.push(kind),
    );
    await Promise.race([sealing, setTimeout(1_000)]);
    gate.resolve();
    await Promise.all([batch, sealing]);
    assert.deepEqual(ended, ['batch', 'sealed']);
  });

  test('an entry of the sealed day that stands far behind may still be uncovered', async (t) => {
    const { database, clock, books } = await openBooks(t, store);
    await books.run([creditOf('a0:live', 1_000), creditOf('a1:live', 1_000)]);
    const early = { ...holds[0], holdId: 'early' };
    await books.run([reserveOf(early, 10), settleOf(early, 12)]);
    // More than the pages after which a day is taken to end.
    const midnight = Date.UTC(2026, 10, 22);
    clock.nowMs = midnight + 1_000;
    for (let part = 0; part < 15; part++) {
      const commands = Array.from({ length: 400 }, (_, number): readonly Command[] => {
        const holdId = `ahead-${part}-${number}`;
        return [
          reserveOf({ ...holds[2], holdId }, 1),
          { type: 'release', holdId, lossMicros: micros(0), isCausedByAccount: false },
        ];
      });
      await books.run(commands.flat());
    }
    clock.nowMs = midnight - 1_000;
    const late = { ...holds[0], holdId: 'late' };
    await books.run([reserveOf(late, 10)]);
    clock.nowMs = midnight + 5_000;
    await books.run([settleOf(late, 10)]);
    const [result] = await sealAll(database, midnight);
    assert.equal(result?.kind === 'sealed' && result.seal.charges, 1);
    await assertVerifies(database);
    const [next] = await sealAll(database, midnight + dayMs);
    assert.equal(next!.kind, 'sealed');
    await assertVerifies(database);
  });

  test('a ledger that is dated a year ahead does not stop the seals of the others', async (t) => {
    const { database, clock, books } = await openBooks(t, store);
    clock.nowMs = startMs + 365 * dayMs;
    await books.run([creditOf('a1:live', 50)]);
    clock.nowMs = startMs;
    await books.run([creditOf('a0:live', 100)]);
    for (let day = 0; day < 3; day++) {
      const one = { ...holds[0], holdId: `d${day}` };
      const ahead = { ...holds[2], holdId: `a${day}` };
      await books.run([
        reserveOf(one, 5),
        settleOf(one, 5),
        reserveOf(ahead, 5),
        settleOf(ahead, 5),
      ]);
      clock.nowMs += dayMs;
    }
    const results = await sealAll(database, Date.UTC(2026, 10, 24));
    assert.deepEqual(
      results.flatMap((result) => (result.kind === 'sealed' ? [result.seal.charges] : [])),
      [1, 1, 1],
    );
    await assertVerifies(database);
  });

  test('thousands of entries that are dated a year ahead do not stop the first seal', async (t) => {
    const { database, clock, books } = await openBooks(t, store);
    await store.execute(
      database,
      `${store.withoutGuards}; delete from entries where kind = 'credit'; update ledgers set posted_micros = 0, last_entry_at_ms = 0`,
    );
    clock.nowMs = startMs + 365 * dayMs;
    const credits = Array.from({ length: 2_500 }, (_, index) =>
      creditOf('a1:live', 1, `ahead-${index}`),
    );
    await books.run(credits);
    clock.nowMs = startMs;
    await books.run([creditOf('a0:live', 100)]);
    const results = await sealAll(database, Date.UTC(2026, 10, 23));
    assert.deepEqual(
      results.flatMap((result) => (result.kind === 'sealed' ? [result.seal.entries] : [])),
      [1, 0],
    );
    await assertVerifies(database);
  });

  const lookAfter = changeableBooks(
    store,
    async (hooks) => (await openSealed(hooks, store)).database,
  );
  for (const [name, { sql, problem }] of Object.entries(tampering)) {
    test(`verify --all finds ${name} in a sealed day`, async () => {
      const result = await lookAfter(sql, ({ read }) => verify(read, [], { all: true }));
      assert.ok(!result.ok, 'nothing was found');
      assert.equal(`${result.problem.table} ${result.problem.column}`, problem);
    });
  }

  const current: Readonly<Record<string, string>> = {
    ledgers: `update ledgers set posted_micros = posted_micros + 1 where id = 'a0:live'`,
    key_windows: `update key_windows set settled_micros = 0 where kind = 'month'`,
    holds: `delete from holds`,
    charge_days: `update charge_days set cost_micros = 0 where day = '2026-11-23'`,
    entries: `update entries set available_micros = 0 where id = 'h0-2' and kind = 'settle'`,
    charges: `delete from charges where id = 'h0-2'`,
    sealed_days: `update sealed_days set state = '{}' where state is not null`,
  };
  for (const [table, sql] of Object.entries(current)) {
    test(`verify from the seal finds a change of ${table} after it`, async () => {
      await lookAfter('select 1', assertVerifies);
      const result = await lookAfter(sql, ({ read }) => verify(read));
      assert.equal(result.ok ? null : result.problem.table, table);
    });
  }

  test('a seal cannot be changed or removed', async (t) => {
    const { database } = await openSealed(t, store);
    for (const change of [`update sealed_days set digest = ''`, 'delete from sealed_days'])
      await assert.rejects(store.execute(database, change), /append-only/);
    await assert.rejects(store.execute(database, 'delete from charges'), /append-only/);
  });

  for (const state of ['null', `'{}'`]) {
    test(`nothing is sealed from a state that was replaced by ${state}, and the problem names it`, async () => {
      const change = `update sealed_days set state = ${state} where state is not null`;
      const [result] = await lookAfter(change, (database) =>
        sealAll(database, Date.UTC(2026, 10, 24)),
      );
      assert.ok(result?.kind === 'refused', result?.kind);
      const { table, id, column } = result.problem;
      assert.deepEqual([table, id, column], ['sealed_days', '2026-11-22', 'state']);
    });
  }

  test('a seal that lost the digest of its tags is found', async (t) => {
    const { database } = await openSealed(t, store);
    const on = store.dialect === 'sqlite' ? '' : ' on sealed_days';
    await store.execute(
      database,
      `drop trigger sealed_days_refuse_update${on}; update sealed_days set tags_digest = ''`,
    );
    const result = await verify(database.read);
    assert.equal(result.ok ? null : result.problem.column, 'digest');
  });

  test('any change of the tags of a sealed day is found', async () => {
    const charge = fc.constantFrom('h0-0', 'h1-0', 'h2-0', 'h0-1', 'h1-1', 'h2-1');
    const names = fc.subarray(['nightly', 'of=k0', 'of=k2', 'x']);
    await fc.assert(
      fc.asyncProperty(charge, names, async (id, named) => {
        const given = named.map(
          (tag) => `
          insert into charge_tags select ledger_id, '${tag}', created_at_ms, id from charges
          where id = '${id}'`,
        );
        const before = await lookAfter('select 1', (database) => readTags(database, id));
        const change = [`delete from charge_tags where charge_id = '${id}'`, ...given].join('; ');
        const result = await lookAfter(change, ({ read }) => verify(read, [], { all: true }));
        const isSame = JSON.stringify(before) === JSON.stringify(named.toSorted());
        assert.equal(result.ok ? null : result.problem.column, isSame ? null : 'tags_digest');
      }),
      { numRuns: scaled(8, 50) },
    );
  });

  async function readTags({ read }: Database, id: string): Promise<readonly string[]> {
    const query = read.selectFrom('charge_tags').select('tag').where('charge_id', '=', id);
    return (await query.orderBy('tag').execute()).map(({ tag }) => tag);
  }

  const disagreements: readonly string[] = [
    `update tag_days set cost_micros = cost_micros + 1 where day = '2026-11-22'`,
    `delete from charge_tags where charge_id = 'h0-1'`,
    `update charge_days set cost_micros = cost_micros + 1 where day = '2026-11-22'`,
    `update charges set cost_micros = cost_micros + 1 where id = 'h0-1'`,
    `delete from charges where id = 'h0-1'`,
    `update entries set posted_delta_micros = 0 where id = 'h0-1' and kind = 'settle'`,
    `create temp table copy as select * from charges where id = 'h0-1'; update copy set id = 'z'; insert into charges select * from copy`,
  ];
  const sealAfter = changeableBooks(store, async (hooks) => {
    const { database, clock, books } = await openBooks(hooks, store);
    await books.run([creditOf('a0:live', 1_000)]);
    for (let day = 0; day < 3; day++) {
      const one = { ...holds[0], holdId: `h0-${day}` };
      await books.run([reserveOf(one, 10), withTags(settleOf(one, 12), ['nightly'])]);
      clock.nowMs += dayMs;
    }
    const on = store.dialect === 'sqlite' ? '' : ' on sealed_days';
    await store.execute(database, `drop trigger sealed_days_refuse_delete${on}`);
    return database;
  });
  for (const sql of disagreements) {
    test(`a day that does not agree is not sealed, nor a later one: ${sql.slice(0, 60)}`, async () => {
      const results = await sealAfter(sql, async (database) => {
        const sealed = await sealAll(database, startMs + 3 * dayMs);
        await database.write.deleteFrom('sealed_days').execute();
        return sealed;
      });
      assert.deepEqual(kindsOf(results), ['sealed', 'refused']);
      const [, refused] = results;
      assert.equal(refused?.kind === 'refused' && refused.day, '2026-11-22');
    });
  }

  test('of two gateways that seal at once, one does, and the books verify', async (t) => {
    const { database, clock } = await openSealed(t, store);
    const times = { closedMs: clock.nowMs, nowMs: clock.nowMs };
    const results = await Promise.all([sealNextDay(database, times), sealNextDay(database, times)]);
    assert.equal(results.filter(({ kind }) => kind === 'sealed').length, 1);
    await assertVerifies(database);
  });
});
