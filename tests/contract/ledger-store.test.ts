// Guarantees of a store beyond the core: commands of a batch fail independently, and leases release
// holds of dead processes.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { type Micros, micros, zeroMicros } from '../../src/lib/money.ts';
import type { Expire } from '../../src/domain/ledger/core.ts';
import {
  addAccount,
  budgetOf,
  creditOf,
  extendOf,
  giveKeys,
  reserveOf,
  settleOf,
  startMs,
} from '../support/ledger/test-ledger.ts';
import { listCharges, readBalance } from '../../src/domain/ledger/reports/queries.ts';
import { verify } from '../../src/domain/ledger/reports/verify.ts';
import { assertVerifies, holdOf, select, typesOf } from './books.ts';
import { onEachStore, type StoreKind } from './stores.ts';

const ledgerId = 'acc:live';

onEachStore((store) => {
  test('a command that cannot be run fails alone; the rest of its batch is written', async (t) => {
    const { database, open } = await openBooks(t, store);
    const badKey = reserveOf({ ...holdOf('b'), keyId: 'nobody' }, 1);
    const badAmount = { ...reserveOf(holdOf('c'), 1), amountMicros: 0.5 as Micros };
    const below = { ...settleOf(holdOf('a'), 1), costMicros: micros(-1) };
    const tooMuch = creditOf(ledgerId, Number.MAX_SAFE_INTEGER);
    const replies = await open('run_1').run([
      creditOf(ledgerId, 100),
      reserveOf(holdOf('a'), 30),
      badKey,
      badAmount,
      below,
      tooMuch,
      settleOf(holdOf('a'), 20),
    ]);
    assert.deepEqual(typesOf(replies), [
      'credited',
      'held',
      'rejected',
      'rejected',
      'rejected',
      'balance-too-large',
      'charged',
    ]);
    assert.equal((await readBalance(database.read, ledgerId))?.availableMicros, 80);
    await assertVerifies(database);
  });

  test('several gateways at once hold no more than the budget of a member', async (t) => {
    const { database, open } = await openBooks(t, store);
    await giveKeys(database.write, { ledgerId, memberId: 'm', keyIds: ['k', 'k2'] });
    const gateways = ['run_1', 'run_2', 'run_3'].map(open);
    await gateways[0]!.run([creditOf(ledgerId, 100_000)]);
    const budget = budgetOf('m', { daily: 500, monthly: 400 });
    const placed = await Promise.all(
      gateways.map(async (books, gateway) => {
        let held = 0;
        for (let batch = 0; batch < 20; batch++) {
          const replies = await books.run(
            ['k', 'k2', 'k'].map((keyId, index) => ({
              ...reserveOf({ ...holdOf(`${gateway}-${batch}-${index}`), keyId }, 7),
              ...budget,
              owner: `run_${gateway + 1}`,
            })),
          );
          held += replies.filter(({ type }) => type === 'held').length;
        }
        return held;
      }),
    );
    const held = placed.reduce((sum, count) => sum + count, 0);
    assert.equal(held, Math.floor(400 / 7), 'as many as fit, and not one more');
    await assertVerifies(database);
  });

  test('texts with any characters are stored unchanged', async (t) => {
    const { database, open } = await openBooks(t, store);
    const texts = [
      '"',
      '\\',
      '\\"',
      'a,b',
      '{}',
      'null',
      'NULL',
      '',
      ' ',
      '\n\t',
      `'; drop table charges; --`,
      'été 🦔',
    ];
    await open('run_1').run([
      creditOf(ledgerId, 100),
      ...texts.map((text, index) => ({
        ...creditOf(ledgerId, 1),
        entryId: `c${index}`,
        note: text,
      })),
      ...texts.map((_, index) => reserveOf(holdOf(`h${index}`), 1)),
    ]);
    await open('run_1').run(
      texts.map((modelName, index) => {
        const settle = settleOf(holdOf(`h${index}`), 1);
        return { ...settle, record: { ...settle.record, modelName } };
      }),
    );
    const { charges } = await listCharges(database.read, { ledgerId, limit: 100, cursor: null });
    assert.deepEqual(
      new Map(charges.map(({ id, modelName }) => [id, modelName])),
      new Map(texts.map((text, index) => [`h${index}`, text])),
    );
    const notes = `select note from entries where ledger_id = '${ledgerId}' and kind = 'credit'`;
    assert.deepEqual(
      (await select(database, `${notes} order by seq`)).slice(1),
      texts.map((text) => [text]),
    );
  });

  test('a hold cannot be extended or charged on another ledger, while it is open or later', async (t) => {
    const { database, open } = await openBooks(t, store);
    await addAccount(database, 'bcc', ['l']);
    const books = open('run_1');
    const wrong = { ...holdOf('a'), ledgerId: 'bcc:live' } as const;
    await books.run([
      creditOf(ledgerId, 100),
      creditOf('bcc:live', 100),
      reserveOf(holdOf('a'), 10),
    ]);
    const tryBoth = async () =>
      (await books.run([extendOf(wrong, 1, 5), settleOf(wrong, 5)])).map(({ type }) => type);
    assert.deepEqual(await tryBoth(), ['unknown-hold', 'unknown-hold']);
    await books.run([{ type: 'expire', holdId: 'a', ownerEndedAtMs: null }]);
    assert.deepEqual(await tryBoth(), ['already-resolved', 'unknown-hold']);
    assert.deepEqual(
      await books.run([
        settleOf(holdOf('a'), 5),
        { type: 'release', holdId: 'a', lossMicros: zeroMicros },
      ]),
      [
        { type: 'charged', chargedMicros: 5, lossMicros: 0, availableMicros: 95 },
        { type: 'already-resolved' },
      ],
    );
    assert.equal((await readBalance(database.read, 'bcc:live'))?.availableMicros, 100);
    await assertVerifies(database);
  });

  test('a batch may be empty, and may name unknown ledgers and holds', async (t) => {
    const { open } = await openBooks(t, store);
    const books = open('run_1');
    assert.deepEqual(await books.run([]), []);
    const unknown = { holdId: 'x', ledgerId: 'nobody:live', keyId: 'k' } as const;
    const expire: Expire = { type: 'expire', holdId: 'x', ownerEndedAtMs: null };
    const replies = await books.run([
      reserveOf(unknown, 1),
      settleOf(unknown, 1),
      creditOf('nobody:live', 1),
      expire,
    ]);
    assert.deepEqual(typesOf(replies), [
      'unknown-ledger',
      'unknown-hold',
      'unknown-ledger',
      'unknown-hold',
    ]);
  });

  test('two processes that write the same ledgers in opposite orders lose nothing and never deadlock', async (t) => {
    const { database, open } = await openBooks(t, store);
    await addAccount(database, 'bcc', ['l']);
    const processes = [open('run_1'), open('run_2'), open('run_3')];
    const rounds = Array.from({ length: 40 }, (_, round) =>
      processes.map((books, index) => {
        const credits = (['acc:live', 'bcc:live'] as const).map((id) =>
          creditOf(id, 1, `c-${round}-${index}-${id}`),
        );
        return books.run(index % 2 === 0 ? credits : credits.toReversed());
      }),
    );
    const replies = (await Promise.all(rounds.flat())).flat();
    assert.ok(replies.every(({ type }) => type === 'credited'));
    for (const id of ['acc:live', 'bcc:live'] as const) {
      assert.equal((await readBalance(database.read, id))?.postedMicros, 120);
    }
    await assertVerifies(database);
  });

  test('a command that two processes send at once runs once', async (t) => {
    const { database, open } = await openBooks(t, store);
    const processes = [open('run_1'), open('run_2'), open('run_3')];
    for (let round = 0; round < 30; round++) {
      const batch = [
        creditOf(ledgerId, 10, `c${round}`),
        reserveOf(holdOf(`h${round}`), 5),
        settleOf(holdOf(`h${round}`), 3),
      ];
      const replies = await Promise.all(processes.map((books) => books.run(batch)));
      assert.deepEqual(replies[1], replies[0]);
      assert.deepEqual(replies[2], replies[0]);
    }
    assert.equal((await readBalance(database.read, ledgerId))?.postedMicros, 30 * 7);
    assert.deepEqual(await verify(database.read), {
      ok: true,
      ledgers: 2,
      entries: 91,
      charges: 30,
      uncollectedMicros: 0,
      failedMicros: 0,
    });
  });

  test('holds of a process with an expired lease are released within a minute; those of a live process stay', async (t) => {
    const { open, clock, held, database } = await openBooks(t, store);
    const [quiet, lively] = [open('run_quiet'), open('run_lively')];
    const likelyCost = { atOnceMicros: micros(3), perSecondMicros: micros(10) };
    await quiet.run([
      creditOf(ledgerId, 100),
      { ...reserveOf(holdOf('a'), 10), likelyCost, owner: 'run_quiet' },
    ]);
    await lively.run([{ ...reserveOf(holdOf('b'), 20), owner: 'run_lively' }]);
    for (let seconds = 0; (await lively.sweep()) === 0; seconds += 10) {
      assert.equal(await held(), 30);
      assert.ok(seconds < 60, 'still held after a minute');
      clock.nowMs += 10_000;
    }
    assert.ok(clock.nowMs - startMs >= 40_000, 'given back before the lease ended');
    assert.equal(await held(), 20);
    // It renewed its lease at the start, but not a second later, so its end is estimated halfway
    // between.
    const expired = `select id, loss_micros from entries where kind = 'expire'`;
    assert.deepEqual(await select(database, expired), [['a', 8]]);
    // The silent process returns: its late settlement is charged from what is available, and it may
    // place holds again.
    const [charged, reserved] = await quiet.run([
      settleOf(holdOf('a'), 10),
      { ...reserveOf(holdOf('c'), 5), owner: 'run_quiet' },
    ]);
    assert.deepEqual(
      [charged, reserved?.type],
      [{ type: 'charged', chargedMicros: 10, lossMicros: 0, availableMicros: 70 }, 'held'],
    );
    assert.equal(await lively.sweep(), 0);
  });

  test('holds of a closed ledger can be released at once by another process', async (t) => {
    const { open, held } = await openBooks(t, store);
    const [first, second] = [open('run_first'), open('run_second')];
    await second.sweep();
    await first.run([
      creditOf(ledgerId, 100),
      { ...reserveOf(holdOf('a'), 10), owner: 'run_first' },
    ]);
    assert.equal(await second.sweep(), 0);
    await first.close();
    assert.equal(await second.sweep(), 1);
    assert.equal(await held(), 0);
  });

  test('batches renew the lease too, so that no hold is ever placed without one', async (t) => {
    const { open, clock } = await openBooks(t, store);
    const [sleeper, other] = [open('run_1'), open('run_2')];
    const sweepTwice = async () => (await other.sweep()) + (await other.sweep());
    await sleeper.run([creditOf(ledgerId, 100)]);
    clock.nowMs += 3_600_000;
    await sweepTwice();
    assert.equal((await sleeper.run([reserveOf(holdOf('a'), 10)]))[0]!.type, 'held');
    assert.equal(await sweepTwice(), 0);
    // Rolled back with its transaction, the renewal is repeated.
    clock.nowMs += 3_600_000;
    await sleeper.run([{ ...creditOf(ledgerId, 1), amountMicros: micros(-1) }]);
    await sleeper.run([reserveOf(holdOf('b'), 10)]);
    assert.equal(await sweepTwice(), 0);
  });

  test('a settlement that comes after its hold expired and its key was taken over books its loss once', async (t) => {
    const { open, clock, database } = await openBooks(t, store);
    const [quiet, lively] = [open('run_quiet'), open('run_lively')];
    const likelyCost = { atOnceMicros: micros(3), perSecondMicros: micros(1) };
    await quiet.run([
      creditOf(ledgerId, 100),
      { ...reserveOf(holdOf('a'), 10), likelyCost, owner: 'run_quiet' },
    ]);
    for (let swept = 0; swept === 0; swept = await lively.sweep()) clock.nowMs += 10_000;
    const settle = settleOf(holdOf('a'), 10);
    const stored = { keyDigest: 'taken', fingerprint: '', keptForMs: 1 } as never;
    const late = { ...settle, record: { ...settle.record, upstreamCostMicros: micros(9) }, stored };
    assert.deepEqual(await quiet.run([late]), [{ type: 'superseded' }]);
    const books = await verify(database.read);
    assert.equal(books.ok && books.failedMicros, 9);
  });

  test('the likely cost of each hold of a killed process is booked, for any number of holds and any sweeper', async (t) => {
    const { open, clock, held, database } = await openBooks(t, store);
    const [quiet, ...sweepers] = [open('run_quiet'), open('run_1'), open('run_2'), open('run_3')];
    // More holds than one sweep releases.
    const count = 1_100;
    const likelyCost = { atOnceMicros: micros(3), perSecondMicros: micros(10) };
    const reserves = Array.from({ length: count }, (_, index) => ({
      ...reserveOf(holdOf(`h${index}`), 10),
      likelyCost,
      owner: 'run_quiet',
    }));
    await quiet.run([creditOf(ledgerId, 100_000), ...reserves]);
    while ((await held()) !== 0) {
      clock.nowMs += 10_000;
      await Promise.all(sweepers.map((sweeper) => sweeper.sweep()));
    }
    const books = await verify(database.read);
    assert.equal(books.ok && books.failedMicros, count * 8);
    assert.deepEqual(
      await select(
        database,
        `select owner from hold_owners where owner <> 'batches' order by owner`,
      ),
      [['run_1'], ['run_2'], ['run_3']],
    );
  });
});

async function openBooks(t: TestContext, store: StoreKind) {
  const database = await store.openDatabase(t);
  await addAccount(database, 'acc', ['k', 'k2']);
  const clock = { nowMs: startMs };
  return {
    database,
    clock,
    held: async () => (await readBalance(database.read, ledgerId))?.heldMicros,
    /** Opens the store like another process. */
    open: (owner: string) => store.openStore(t, database, { owner, clock }),
  };
}
