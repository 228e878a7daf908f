// Filters, daily sums, spending and statements, on both databases, compared with the charges and
// entries themselves.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import {
  type DailySumsQuery,
  firstChargedDay,
  sumDays,
  sumRange,
} from '../../src/domain/ledger/reports/daily-sums.ts';
import {
  addAccount,
  creditOf,
  record,
  reserveOf,
  settleOf,
  startMs,
} from '../support/ledger/test-ledger.ts';
import { readChargesForPrices } from '../../src/domain/ledger/reports/charges-for-prices.ts';
import {
  type ChargeFilter,
  listCharges,
  readBalance,
} from '../../src/domain/ledger/reports/queries.ts';
import { readKeySpending, readSpending } from '../../src/domain/ledger/reports/spending.ts';
import { listStatement, type StatementLine } from '../../src/domain/ledger/reports/statement.ts';
import type { UsageCursor } from '../../src/domain/ledger/reports/usage-cursor.ts';
import { micros } from '../../src/lib/money.ts';
import { assertVerifies } from './books.ts';
import { planOf } from './plan.ts';
import { onEachStore, type StoreKind } from './stores.ts';

const ledgerId = 'acc:live';
const dayMs = 86_400_000;
const days = ['2026-11-21', '2026-11-22', '2026-11-23'];
const keys = ['k', 'l'];
const models = ['m', 'n'];
const endpoints = ['chat', 'images'];

/**
 * Two charges for each day, key, model and endpoint, with different prices; every third is cut off.
 */
async function openBooks(t: TestContext, store: StoreKind) {
  const database = await store.openDatabase(t);
  await addAccount(database, 'acc', keys);
  await addAccount(database, 'other', ['o']);
  const clock = { nowMs: startMs };
  const books = store.openStore(t, database, { clock });
  await books.run([creditOf(ledgerId, 1_000_000), creditOf('other:live', 1_000)]);
  const asked = { holdId: 'o', ledgerId: 'other:live', keyId: 'o' } as const;
  await books.run([reserveOf(asked, 7), settleOf(asked, 7)]);
  let made = 0;
  for (const day of days) {
    for (const keyId of keys) {
      for (const modelId of models) {
        for (const endpoint of endpoints) {
          const hold = (id: string) => ({ holdId: id, ledgerId, keyId }) as const;
          const charge = (id: string) => ({
            ...settleOf(hold(id), 100 + made),
            record: {
              ...record,
              modelId,
              endpoint,
              images: 1,
              durationMs: made % 5 === 0 ? null : made * 100,
              ending: made % 3 === 0 ? ('cut-off' as const) : record.ending,
            },
          });
          for (let count = 0; count < 2; count++) {
            made += 1;
            clock.nowMs = Date.parse(day) + 12 * 3_600_000 + made * 1_000;
            // Both in one batch; the second costs more than its hold.
            await books.run([reserveOf(hold(`c${made}`), 90), charge(`c${made}`)]);
          }
        }
      }
    }
  }
  const charges = (await listCharges(database.read, { ledgerId, limit: 100, cursor: null }))
    .charges;
  assert.equal(charges.length, 48);
  return { database, books, clock, charges };
}

onEachStore((store) => {
  test('sums of some accounts by day are read from the rows of these accounts alone', async (t) => {
    const { database } = await openBooks(t, store);
    const of = { mode: 'live' } as const;
    const query = { of, fromDay: days[0]!, toDay: days[2]!, by: 'account', ids: ['acc'] } as const;
    assert.deepEqual(
      (await sumDays(database.read, query)).map(({ day, group }) => [day, group]),
      days.map((day) => [day, 'acc']),
    );
    const plan = await planOf(database, store, (read) => sumDays(read, query));
    // PostgreSQL chooses the index by how many rows there are.
    assert.match(plan, /\(ledger_id=\? AND day>|\(ledger_id = /);
  });

  test('the day of the first charge is looked up for each ledger, not found among all charges', async (t) => {
    const { database } = await openBooks(t, store);
    for (const [of, day] of [
      [{ ledgerId }, days[0]],
      [{ mode: 'live' }, days[0]],
      [{ ledgerId: 'acc:test' }, null],
      [{ mode: 'test' }, null],
    ] as const) {
      assert.equal(await firstChargedDay(database.read, of), day);
      const plan = await planOf(database, store, (read) => firstChargedDay(read, of));
      const lookUp = /SEARCH \S+ .*ledger_id=|charge_days_pkey .*\n.*Index Cond: .*ledger_id = /;
      assert.match(plan, lookUp);
    }
  });

  test('charges are read to be priced again newest first, in spans, by the index of each ledger', async (t) => {
    const { database, charges, clock } = await openBooks(t, store);
    const times = [...charges.map(({ createdAtMs }) => createdAtMs), startMs].toSorted(
      (a, b) => b - a,
    );
    for (const [fromMs, max] of [
      [startMs - 1, 100],
      [times[20]!, 100],
      [startMs - 1, 20],
    ] as const) {
      const asked = { fromMs, toMs: clock.nowMs, max };
      const read = await readChargesForPrices(database.read, asked);
      const newest = times.filter((time) => time > fromMs).slice(0, max);
      assert.deepEqual(
        read.map(({ charge }) => charge.createdAtMs),
        newest,
      );
      const plan = await planOf(database, store, (db) => readChargesForPrices(db, asked));
      assert.doesNotMatch(plan, /SCAN charges/);
    }
  });

  test('each filter, and all of them combined, finds the right charges page by page', async (t) => {
    const { database, charges } = await openBooks(t, store);
    const noon = Date.parse(`${days[1]}T12:00:00Z`);
    const filters: readonly ChargeFilter[] = [
      {},
      { keyId: 'k' },
      { modelId: 'n' },
      { endpoint: 'images' },
      { ending: 'cut-off' },
      { ending: 'complete' },
      { fromMs: noon, toMs: noon + dayMs },
      { fromMs: charges[20]!.createdAtMs, toMs: charges[10]!.createdAtMs },
      { keyId: 'l', modelId: 'm', endpoint: 'chat', ending: 'complete', fromMs: noon },
      { keyId: 'k', ending: 'cut-off', toMs: noon },
      { keyId: 'nobody' },
      { costMinMicros: 141 },
      { costMinMicros: 1_000 },
      { costMinMicros: 105, costMaxMicros: 130, keyId: 'k' },
      { durationMinMs: 2_000, costMaxMicros: 140 },
    ];
    for (const filter of filters) {
      const { fromMs = 0, toMs = Infinity, ...rest } = filter;
      const { costMinMicros = 0, costMaxMicros = Infinity, durationMinMs = -1, ...fields } = rest;
      const wanted = charges.filter(
        (charge) =>
          charge.createdAtMs >= fromMs &&
          charge.createdAtMs < toMs &&
          charge.costMicros >= costMinMicros &&
          charge.costMicros <= costMaxMicros &&
          (charge.durationMs ?? -1) >= durationMinMs &&
          Object.entries(fields).every(
            ([name, value]) => charge[name as keyof typeof charge] === value,
          ),
      );
      assert.ok(
        wanted.length < charges.length || filter === filters[0],
        'a filter removed nothing',
      );
      for (const limit of [1, 3, 100]) {
        assert.deepEqual(
          await readAll(database, filter, limit),
          wanted,
          `${JSON.stringify(filter)} by ${limit}`,
        );
      }
    }
  });

  test('daily sums equal their charges in every breakdown', async (t) => {
    const { database, charges } = await openBooks(t, store);
    const query = {
      of: { ledgerId },
      fromDay: days[0]!,
      toDay: days[2]!,
      by: 'none',
    } satisfies DailySumsQuery;
    const groupOf = {
      none: () => '',
      model: 'modelId',
      key: 'keyId',
      account: () => 'acc',
      member: () => '',
    } as const;
    for (const [by, group] of Object.entries(groupOf) as [
      DailySumsQuery['by'],
      (typeof groupOf)['model' | 'none'],
    ][]) {
      const names = [
        ...new Set(charges.map((charge) => (typeof group === 'string' ? charge[group] : group()))),
      ].toSorted();
      const sums = await sumDays(database.read, { ...query, by, ids: names });
      const whole = await sumRange(database.read, { ...query, by }, { ids: names });
      const requests = (rows: readonly { readonly requests: number }[]) =>
        rows.reduce((sum, row) => sum + row.requests, 0);
      assert.deepEqual([whole.length, requests(whole)], [names.length, requests(sums)]);
      assert.deepEqual(
        sums.map((sum) => `${sum.day} ${sum.group}`),
        days.flatMap((day) => names.map((name) => `${day} ${name}`)),
      );
      for (const sum of sums) {
        const of = charges.filter(
          (charge) =>
            new Date(charge.createdAtMs).toISOString().startsWith(sum.day) &&
            (typeof group !== 'string' || charge[group] === sum.group),
        );
        const total = (pick: (charge: (typeof of)[number]) => number) =>
          of.reduce((added, charge) => added + pick(charge), 0);
        const { day: _, group: __, ...numbers } = sum;
        assert.deepEqual(numbers, {
          requests: of.length,
          inputTokens: 100 * of.length,
          outputTokens: 10 * of.length,
          images: of.length,
          costMicros: total((charge) => charge.costMicros),
          upstreamCostMicros: of.length,
          lossMicros: total((charge) => charge.lossMicros),
        });
      }
    }
  });

  test('sums support filters, a range of days, one ledger or a whole mode', async (t) => {
    const { database, charges } = await openBooks(t, store);
    const range = { fromDay: days[0]!, toDay: days[2]!, by: 'none' } as const;
    const requests = async (query: Partial<DailySumsQuery>) =>
      (await sumDays(database.read, { ...range, of: { ledgerId }, ...query, ids: [''] })).map(
        (sum) => sum.requests,
      );
    assert.deepEqual(await requests({ toDay: days[1]! }), [16, 16]);
    assert.deepEqual(await requests({ fromDay: days[1]!, keyId: 'k' }), [8, 8]);
    assert.deepEqual(await requests({ modelId: 'm', endpoint: 'chat' }), [4, 4, 4]);
    assert.deepEqual(await requests({ of: { mode: 'live' } }), [17, 16, 16]);
    assert.deepEqual(await requests({ of: { mode: 'test' } }), []);
    const byAccount = { ...range, of: { mode: 'live' }, by: 'account' } as const;
    const accounts = await sumRange(database.read, byAccount, { top: 9 });
    for (const [which, found] of [
      [{ top: 1 }, ['acc']],
      [{ ids: ['other', 'none'] }, ['other']],
      [{ after: null, limit: 1 }, ['acc']],
      [{ after: 'acc', limit: 9 }, ['other']],
      [{ ids: [] }, []],
    ] as const)
      assert.deepEqual(
        (await sumRange(database.read, byAccount, which)).map(({ group }) => group),
        found,
      );
    assert.deepEqual(
      accounts.map((sum) => [sum.group, sum.requests, sum.costMicros]),
      [
        ['acc', 48, charges.reduce((sum, charge) => sum + charge.costMicros, 0)],
        ['other', 1, 7],
      ],
    );
  });

  test('spending covers the current day and month with open holds, and for keys equals the amounts that caps count', async (t) => {
    const { database, books, clock, charges } = await openBooks(t, store);
    await books.run([reserveOf({ holdId: 'open', ledgerId, keyId: 'l' }, 55)]);
    const spent = (keyId: string | null, day: string) =>
      charges
        .filter((charge) => (keyId ?? charge.keyId) === charge.keyId)
        .filter((charge) => new Date(charge.createdAtMs).toISOString().startsWith(day))
        .reduce((sum, charge) => sum + charge.costMicros, 0);
    const [today, month] = [days[2]!, '2026-11'];
    const { nowMs } = clock;
    assert.deepEqual(await readSpending(database.read, ledgerId, nowMs), {
      todayMicros: spent(null, today),
      monthMicros: spent(null, month),
      heldMicros: 55,
    });
    const nextMonth = Date.UTC(2026, 11, 1);
    assert.deepEqual(await readSpending(database.read, ledgerId, nextMonth), {
      todayMicros: 0,
      monthMicros: 0,
      heldMicros: 55,
    });
    assert.equal(await readSpending(database.read, 'nobody:live', nowMs), null);
    const ofKey = (keyId: string, held: number) => ({
      dayMicros: spent(keyId, today),
      dayHeldMicros: held,
      monthMicros: spent(keyId, month),
      monthHeldMicros: held,
    });
    const spending = await readKeySpending(database.read, ['k', 'l', 'x'], nowMs);
    assert.deepEqual(Object.fromEntries(spending), { k: ofKey('k', 0), l: ofKey('l', 55) });
    assert.equal((await readKeySpending(database.read, [], nowMs)).size, 0);
  });

  test('a statement has every credit, debit and day of charges once, newest first, and adds up to the balance', async (t) => {
    const { database, books, clock } = await openBooks(t, store);
    await books.run([
      { type: 'debit', entryId: 'd1', ledgerId, amountMicros: micros(250), note: 'refund' },
    ]);
    // In the same millisecond, between a day's charges and its end.
    await books.run([creditOf(ledgerId, 5, 'e1'), creditOf(ledgerId, 6, 'e2')]);
    clock.nowMs += dayMs;
    await books.run([creditOf(ledgerId, 7, 'e3')]);
    const wanted = [
      'e3',
      days[2]!,
      'e2',
      'e1',
      'd1',
      days[1]!,
      days[0]!,
      `credit-${ledgerId}-1000000`,
    ];
    for (const limit of [1, 2, 3, 8, 100]) {
      const lines = await readStatement(database, limit);
      assert.deepEqual(
        lines.map((line) => (line.kind === 'charges' ? line.day : line.id)),
        wanted,
        `by ${limit}`,
      );
      const balance = await readBalance(database.read, ledgerId);
      assert.equal(
        lines.reduce((sum, line) => sum + line.amountMicros, 0),
        balance?.postedMicros,
      );
    }
    // Whatever the page and the kinds, the balance of a day is the sum of what is up to its end.
    for (const limit of [1, 2, 100])
      for (const only of [undefined, 'charges'] as const) {
        const lines = await readStatement(database, limit, only);
        for (const line of lines.filter(({ kind }) => kind === 'charges')) {
          assert.ok(line.kind === 'charges');
          const older = (await readStatement(database, 100)).slice(wanted.indexOf(line.day));
          const sum = older.reduce((total, { amountMicros }) => total + amountMicros, 0);
          assert.equal(line.balanceMicros, sum, `${line.day} by ${limit}`);
        }
      }
    const ids = async (only: 'charges' | 'adjustments', limit: number) =>
      (await readStatement(database, limit, only)).map((line) =>
        line.kind === 'charges' ? line.day : line.id,
      );
    for (const limit of [1, 2, 100]) {
      const isDay = (id: string) => days.includes(id);
      assert.deepEqual(await ids('charges', limit), wanted.filter(isDay));
      assert.deepEqual(
        await ids('adjustments', limit),
        wanted.filter((id) => !isDay(id)),
      );
    }
    const [, charged, , , debit] = await readStatement(database, 100);
    assert.deepEqual(
      [charged!.kind === 'charges' && charged!.requests, debit!.amountMicros],
      [16, -250],
    );
    const odd = { createdAtMs: clock.nowMs, id: 'no-number' };
    assert.equal(
      (await listStatement(database.read, { ledgerId, limit: 100, cursor: odd })).lines.length,
      wanted.length,
    );
    await assertVerifies(database);
  });
});

type Database = Awaited<ReturnType<typeof openBooks>>['database'];

async function readAll(database: Database, filter: ChargeFilter, limit: number) {
  const found = [];
  for (let cursor: UsageCursor | null = null, isFirst = true; cursor || isFirst; isFirst = false) {
    const page: Awaited<ReturnType<typeof listCharges>> = await listCharges(database.read, {
      ledgerId,
      limit,
      cursor,
      ...filter,
    });
    found.push(...page.charges);
    cursor = page.next;
  }
  return found;
}

async function readStatement(
  database: Database,
  limit: number,
  only?: 'charges' | 'adjustments',
): Promise<StatementLine[]> {
  const found: StatementLine[] = [];
  for (let cursor: UsageCursor | null = null, isFirst = true; cursor || isFirst; isFirst = false) {
    const page: Awaited<ReturnType<typeof listStatement>> = await listStatement(database.read, {
      ledgerId,
      limit,
      cursor,
      only,
    });
    found.push(...page.lines);
    cursor = page.next;
  }
  return found;
}
