import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Database } from '../../src/db/database.ts';
import { keepPrice, type UnitPrices } from '../../src/terms/price-terms.ts';
import { micros, type PicosPerToken } from '../../src/lib/money.ts';
import {
  addAccount,
  creditOf,
  extendOf,
  reserveOf,
  settleOf,
  startMs,
} from '../support/ledger/test-ledger.ts';
import type { Problem } from '../../src/domain/ledger/reports/audit.ts';
import { verify } from '../../src/domain/ledger/reports/verify.ts';
import { onEachStore, type StoreKind } from './stores.ts';

const ledgerId = 'acc:live';

/** Sequence numbers of the journal written by `openBooks`; the account's play money is 1. */
const journal = {
  credit: 2,
  reserveA: 3,
  settleA: 4,
  reserveB: 5,
  releaseB: 6,
  reserveC: 7,
  expireC: 8,
  settleC: 9,
  reserveD: 10,
  debit: 11,
  extendD: 12,
};

const entryColumns = `id, kind, ledger_id, key_id, posted_delta_micros, held_delta_micros, loss_micros, available_micros, day, month, created_at_ms`;

type Corruption = { readonly sql: string; readonly problem: Partial<Problem> };

const corruptions: Readonly<Record<string, Corruption>> = {
  'a balance that was raised': {
    sql: `update ledgers set posted_micros = posted_micros + 1 where id = 'acc:live'`,
    problem: { table: 'ledgers', id: 'acc:live', column: 'posted_micros', expected: 40, found: 41 },
  },
  'a held sum that was lowered': {
    sql: `update ledgers set held_micros = 0 where id = 'acc:live'`,
    problem: { table: 'ledgers', id: 'acc:live', column: 'held_micros', expected: 15, found: 0 },
  },
  'a total of input tokens that was changed': {
    sql: `update ledgers set input_tokens = 1 where id = 'acc:live'`,
    problem: { table: 'ledgers', id: 'acc:live', column: 'input_tokens', expected: 200, found: 1 },
  },
  'a total of output tokens that was changed': {
    sql: `update ledgers set output_tokens = 1 where id = 'acc:live'`,
    problem: { table: 'ledgers', column: 'output_tokens', expected: 20, found: 1 },
  },
  'play money that no entry booked': {
    sql: `update ledgers set posted_micros = 5 where id = 'acc:test'`,
    problem: {
      table: 'ledgers',
      id: 'acc:test',
      column: 'posted_micros',
      expected: 1_000_000_000,
      found: 5,
    },
  },
  'a window that forgot what was spent': {
    sql: `update key_windows set settled_micros = 0 where kind = 'month'`,
    problem: {
      table: 'key_windows',
      id: 'k month 2026-11',
      column: 'settled_micros',
      expected: 50,
      found: 0,
    },
  },
  'a window that forgot what is held': {
    sql: `update key_windows set held_micros = 0 where kind = 'day'`,
    problem: {
      table: 'key_windows',
      id: 'k day 2026-11-21',
      column: 'held_micros',
      expected: 15,
      found: 0,
    },
  },
  'a window that is gone': {
    sql: `delete from key_windows where kind = 'day'`,
    problem: { table: 'key_windows', id: 'k day 2026-11-21', expected: 'a row', found: 'no row' },
  },
  'a window that nobody used': {
    sql: `insert into key_windows values ('k', 'day', '2020-01-01', 0, 0)`,
    problem: { table: 'key_windows', id: 'k day 2020-01-01', expected: 'no row', found: 'a row' },
  },
  'a day whose cost was changed': {
    sql: `update charge_days set cost_micros = 49`,
    problem: {
      table: 'charge_days',
      id: 'acc:live 2026-11-21 k sandbox/echo chat',
      column: 'cost_micros',
      expected: 50,
      found: 49,
    },
  },
  'a day that forgot a request': {
    sql: `update charge_days set requests = 1`,
    problem: { table: 'charge_days', column: 'requests', expected: 2, found: 1 },
  },
  'a day that is gone': {
    sql: `delete from charge_days`,
    problem: { table: 'charge_days', expected: 'a row', found: 'no row' },
  },
  'a day on which nobody was charged': {
    sql: `insert into charge_days values ('acc:live', '2020-01-01', 'k', 'm', 'chat', 0, 0, 0, 0, 0, 0, 0, 0)`,
    problem: {
      table: 'charge_days',
      id: 'acc:live 2020-01-01 k m chat',
      expected: 'no row',
      found: 'a row',
    },
  },
  'an open hold that is gone': {
    sql: `delete from holds`,
    problem: { table: 'holds', id: 'd', expected: 'a row', found: 'no row' },
  },
  'an open hold with another amount': {
    sql: `update holds set amount_micros = 9`,
    problem: { table: 'holds', id: 'd', column: 'amount_micros', expected: 15, found: 9 },
  },
  'an open hold of another key': {
    sql: `update holds set key_id = 'other'`,
    problem: { table: 'holds', id: 'd', column: 'key_id', expected: 'k', found: 'other' },
  },
  'a hold that came back': {
    sql: `insert into holds select 'a', ledger_id, key_id, amount_micros, day, month, null, null, owner, 0, 0, 0 from holds`,
    problem: { table: 'holds', id: 'a', expected: 'no row', found: 'a row' },
  },
  'an entry whose amount was changed': {
    sql: `update entries set posted_delta_micros = -1 where seq = ${journal.settleA}`,
    problem: {
      table: 'entries',
      id: '4 (settle a)',
      column: 'available_micros',
      expected: 99,
      found: 70,
    },
  },
  'an entry that is gone': {
    sql: `delete from entries where seq = ${journal.credit}`,
    problem: {
      table: 'entries',
      id: '3 (reserve a)',
      column: 'available_micros',
      expected: '0 or more',
      found: -40,
    },
  },
  'an entry of another ledger': {
    sql: `update entries set ledger_id = 'acc:test' where seq = ${journal.settleA}`,
    problem: {
      table: 'entries',
      id: '4 (settle a)',
      column: 'ledger_id',
      expected: 'acc:live',
      found: 'acc:test',
    },
  },
  'an entry in another window': {
    sql: `update entries set day = '2026-11-20' where seq = ${journal.releaseB}`,
    problem: {
      table: 'entries',
      id: '6 (release b)',
      column: 'day',
      expected: '2026-11-21',
      found: '2026-11-20',
    },
  },
  'a reservation in another day than its own': {
    sql: `update entries set day = '2026-11-20' where seq = ${journal.reserveA}`,
    problem: {
      table: 'entries',
      id: '3 (reserve a)',
      column: 'day',
      expected: '2026-11-21',
      found: '2026-11-20',
    },
  },
  'an overdraft that no debit made': {
    sql: `update entries set held_delta_micros = 101, available_micros = -1 where seq = ${journal.reserveA}`,
    problem: {
      table: 'entries',
      id: '3 (reserve a)',
      column: 'available_micros',
      expected: '0 or more',
      found: -1,
    },
  },
  'a hold above the cap of its key': {
    sql: `update entries set daily_cap_micros = 39 where seq = ${journal.reserveA}`,
    problem: { table: 'entries', id: '3 (reserve a)', column: 'held_delta_micros', found: 40 },
  },
  'a charge above the cap of its key': {
    sql: `update entries set monthly_cap_micros = 50 where seq = ${journal.reserveA};
          update entries set posted_delta_micros = -55, available_micros = 45 where seq = ${journal.settleA}`,
    problem: { table: 'entries', id: '4 (settle a)', column: 'posted_delta_micros', found: 55 },
  },
  'a hold that was ended twice': {
    sql: `insert into entries (${entryColumns}) select 'a', 'release', ledger_id, key_id, 0, 0, 0, 30, day, month, created_at_ms
          from entries where seq = ${journal.settleA}`,
    problem: {
      table: 'entries',
      id: '13 (release a)',
      column: 'kind',
      expected: 'a hold that had not ended',
      found: 'release',
    },
  },
  'a hold that expired after its end': {
    sql: `insert into entries (${entryColumns}) select 'a', 'expire', ledger_id, key_id, 0, 0, 0, 30, day, month, created_at_ms
          from entries where seq = ${journal.settleA}`,
    problem: {
      table: 'entries',
      id: '13 (expire a)',
      column: 'kind',
      expected: 'a hold that had not ended',
      found: 'expire',
    },
  },
  'an extension of a hold that had ended': {
    sql: `update entries set id = 'a+1' where seq = ${journal.extendD}`,
    problem: {
      table: 'entries',
      id: '12 (extend a+1)',
      column: 'kind',
      expected: 'a hold that had not ended',
      found: 'extend',
    },
  },
  'an extension in another window than its hold': {
    sql: `update entries set month = '2026-12' where seq = ${journal.extendD}`,
    problem: {
      table: 'entries',
      id: '12 (extend d+1)',
      column: 'month',
      expected: '2026-11',
      found: '2026-12',
    },
  },
  'an extension that gave back': {
    sql: `update entries set held_delta_micros = -5, available_micros = 40 where seq = ${journal.extendD}`,
    problem: {
      table: 'entries',
      id: '12 (extend d+1)',
      column: 'held_delta_micros',
      expected: '0 or more',
      found: -5,
    },
  },
  'an extension above the cap of its hold': {
    sql: `update entries set daily_cap_micros = 60 where seq = ${journal.reserveD}`,
    problem: { table: 'entries', id: '12 (extend d+1)', column: 'held_delta_micros', found: 65 },
  },
  'an entry dated before the one ahead of it': {
    sql: `update entries set created_at_ms = created_at_ms - 1 where seq = ${journal.settleA}`,
    problem: { table: 'entries', id: '4 (settle a)', column: 'created_at_ms', found: startMs - 1 },
  },
  'a ledger whose time was put back': {
    sql: `update ledgers set last_entry_at_ms = 0 where id = 'acc:live'`,
    problem: {
      table: 'ledgers',
      id: 'acc:live',
      column: 'last_entry_at_ms',
      expected: startMs,
      found: 0,
    },
  },
  'a release that took money': {
    sql: `update entries set posted_delta_micros = -1, available_micros = 69 where seq = ${journal.releaseB}`,
    problem: {
      table: 'entries',
      id: '6 (release b)',
      column: 'posted_delta_micros',
      expected: 0,
      found: -1,
    },
  },
  'a release that gave back less than was held': {
    sql: `update entries set held_delta_micros = -4, available_micros = 69 where seq = ${journal.releaseB}`,
    problem: {
      table: 'entries',
      id: '6 (release b)',
      column: 'held_delta_micros',
      expected: -5,
      found: -4,
    },
  },
  'a provoked loss that no day has': {
    sql: `update entries set provoked = 1 where seq = ${journal.releaseB}`,
    problem: {
      table: 'loss_days',
      id: 'acc:live 2026-11-21',
      column: 'id',
      expected: 'a row',
      found: 'no row',
    },
  },
  'a day of losses that nobody provoked': {
    sql: `insert into loss_days (ledger_id, day, provoked_micros) values ('acc:live', '2026-11-21', 2)`,
    problem: {
      table: 'loss_days',
      id: 'acc:live 2026-11-21',
      column: 'id',
      expected: 'no row',
      found: 'a row',
    },
  },
  'a provoked loss of nothing': {
    sql: `update entries set provoked = 1 where seq = ${journal.settleA}`,
    problem: { table: 'entries', id: '4 (settle a)', column: 'provoked', expected: 0, found: 1 },
  },
  'a credit that took money': {
    sql: `update entries set posted_delta_micros = -100 where seq = ${journal.credit}`,
    problem: {
      table: 'entries',
      id: '2 (credit credit-acc:live-100)',
      column: 'posted_delta_micros',
      expected: '0 or more',
    },
  },
  'a debit that gave money': {
    sql: `update entries set posted_delta_micros = 10 where seq = ${journal.debit}`,
    problem: {
      table: 'entries',
      id: '11 (debit d1)',
      column: 'posted_delta_micros',
      expected: '0 or less',
    },
  },
  'a charge with another cost than was taken': {
    sql: `update charges set cost_micros = 29 where id = 'a'`,
    problem: { table: 'charges', id: 'a', column: 'cost_micros', expected: 30, found: 29 },
  },
  'a charge with another loss than was booked': {
    sql: `update charges set loss_micros = 1 where id = 'a'`,
    problem: { table: 'charges', id: 'a', column: 'loss_micros', expected: 0, found: 1 },
  },
  'a charge with another hold': {
    sql: `update charges set hold_micros = 1 where id = 'c'`,
    problem: { table: 'charges', id: 'c', column: 'hold_micros', expected: 20, found: 1 },
  },
  'a charge on another ledger': {
    sql: `update charges set ledger_id = 'acc:test' where id = 'a'`,
    problem: {
      table: 'charges',
      id: 'a',
      column: 'id',
      expected: 'a charge for the settle entry',
      found: null,
    },
  },
  'tokens of a charge that were changed': {
    sql: `update charges set cache_read_tokens = 41 where id = 'a'`,
    problem: { table: 'ledgers', column: 'input_tokens', expected: 201, found: 200 },
  },
  'a charge that is gone': {
    sql: `delete from charges where id = 'a'`,
    problem: {
      table: 'charges',
      id: 'a',
      column: 'id',
      expected: 'a charge for the settle entry',
      found: null,
    },
  },
  'a charge that its price does not come to': {
    sql: `update prices set terms = replace(terms, '3000000', '3100000')`,
    problem: { table: 'charges', id: 'a', column: 'cost_and_loss_micros', expected: 31, found: 30 },
  },
  'a charge that cost the operator something else': {
    sql: `update charges set upstream_cost_micros = 2 where id = 'a'`,
    problem: { table: 'charges', id: 'a', column: 'upstream_cost_micros', expected: 1, found: 2 },
  },
  'a charge that nothing booked': {
    sql: `create temp table copy as select * from charges where id = 'a'; update copy set id = 'z'; insert into charges select * from copy`,
    problem: { table: 'charges', id: 'z', column: 'id', expected: 'a settle entry', found: null },
  },
};

onEachStore((store) => {
  test('a ledger written only by its own code verifies', async (t) => {
    const database = await openBooks(t, store);
    assert.deepEqual(await verify(database.read), {
      ok: true,
      ledgers: 2,
      entries: 12,
      charges: 2,
      uncollectedMicros: 0,
      failedMicros: 2,
    });
  });

  for (const [name, { sql, problem }] of Object.entries(corruptions)) {
    test(`verify finds ${name}`, async (t) => {
      const database = await openBooks(t, store);
      await store.execute(database, `${store.withoutGuards}; ${sql}`);
      const result = await verify(database.read);
      assert.ok(!result.ok, 'nothing was found');
      const { table, id, column, expected, found } = result.problem;
      assert.deepEqual(
        { table, id, column, expected, found, ...problem },
        { table, id, column, expected, found },
      );
    });
  }
});

/**
 * A price at which a record's ten output tokens cost the account 30 microdollars and the operator
 * 1.
 */
const free = {
  input: 0,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  search: 0n,
  image: 0n,
  request: 0n,
} as unknown as UnitPrices;
const price = keepPrice({
  list: { ...free, output: 3_000_000 as PicosPerToken },
  upstream: { ...free, output: 100_000 as PicosPerToken },
});

/**
 * Every kind of entry once, checked by hand above: 100 in, charges of 30 and 20, a late one, an
 * open hold of 10 that grew by 5 and a debit of 10.
 */
async function openBooks(t: TestContext, store: StoreKind): Promise<Database> {
  const database = await store.openDatabase(t);
  await addAccount(database, 'acc', ['k']);
  await store
    .openStore(t, database)
    .run([
      creditOf(ledgerId, 100),
      reserveOf(hold('a'), 40),
      { ...settleOf(hold('a'), 30), price },
      reserveOf(hold('b'), 5),
      { type: 'release', holdId: 'b', lossMicros: micros(2) },
      reserveOf(hold('c'), 20),
      { type: 'expire', holdId: 'c', ownerEndedAtMs: null },
      settleOf(hold('c'), 20),
      reserveOf(hold('d'), 10),
      { type: 'debit', entryId: 'd1', ledgerId, amountMicros: micros(10), note: 'test' },
      extendOf(hold('d'), 1, 5),
    ]);
  return database;
}

function hold(id: string) {
  return { holdId: id, ledgerId, keyId: 'k' } as const;
}
