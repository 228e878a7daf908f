import assert from 'node:assert/strict';
import { test } from 'node:test';
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
import { verify } from '../../src/domain/ledger/reports/verify.ts';
import type { Hooks } from '../support/file-hooks.ts';
import { changeableBooks, holdOf } from './books.ts';
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

const entryColumns = `seq, id, kind, ledger_id, key_id, posted_delta_micros, held_delta_micros, loss_micros, available_micros, day, month, created_at_ms`;

/** What was changed, and the problem that `verify` finds then. */
const corruptions: Readonly<Record<string, readonly [sql: string, problem: string]>> = {
  'a balance that was raised': [
    `update ledgers set posted_micros = posted_micros + 1 where id = 'acc:live'`,
    'ledgers acc:live posted_micros: expected 40, found 41',
  ],
  'a held sum that was lowered': [
    `update ledgers set held_micros = 0 where id = 'acc:live'`,
    'ledgers acc:live held_micros: expected 15, found 0',
  ],
  'a total of input tokens that was changed': [
    `update ledgers set input_tokens = 1 where id = 'acc:live'`,
    'ledgers acc:live input_tokens: expected 200, found 1',
  ],
  'a total of output tokens that was changed': [
    `update ledgers set output_tokens = 1 where id = 'acc:live'`,
    'ledgers acc:live output_tokens: expected 20, found 1',
  ],
  'play money that no entry booked': [
    `update ledgers set posted_micros = 5 where id = 'acc:test'`,
    'ledgers acc:test posted_micros: expected 1000000000, found 5',
  ],
  'a window that forgot what was spent': [
    `update key_windows set settled_micros = 0 where kind = 'month'`,
    'key_windows k month 2026-11 settled_micros: expected 50, found 0',
  ],
  'a window that forgot what is held': [
    `update key_windows set held_micros = 0 where kind = 'day'`,
    'key_windows k day 2026-11-21 held_micros: expected 15, found 0',
  ],
  'a window that is gone': [
    `delete from key_windows where kind = 'day'`,
    'key_windows k day 2026-11-21 id: expected a row, found no row',
  ],
  'a window that nobody used': [
    `insert into key_windows values ('k', 'day', '2020-01-01', 0, 0)`,
    'key_windows k day 2020-01-01 id: expected no row, found a row',
  ],
  'a day whose cost was changed': [
    `update charge_days set cost_micros = 49`,
    'charge_days acc:live 2026-11-21 k sandbox/echo chat cost_micros: expected 50, found 49',
  ],
  'a day that forgot a request': [
    `update charge_days set requests = 1`,
    'charge_days acc:live 2026-11-21 k sandbox/echo chat requests: expected 2, found 1',
  ],
  'a day that is gone': [
    `delete from charge_days`,
    'charge_days acc:live 2026-11-21 k sandbox/echo chat id: expected a row, found no row',
  ],
  'a day on which nobody was charged': [
    `insert into charge_days values ('acc:live', '2020-01-01', 'k', 'm', 'chat', 0, 0, 0, 0, 0, 0, 0, 0)`,
    'charge_days acc:live 2020-01-01 k m chat id: expected no row, found a row',
  ],
  'an open hold that is gone': [`delete from holds`, 'holds d id: expected a row, found no row'],
  'an open hold with another amount': [
    `update holds set amount_micros = 9`,
    'holds d amount_micros: expected 15, found 9',
  ],
  'an open hold of another key': [
    `update holds set key_id = 'other'`,
    'holds d key_id: expected k, found other',
  ],
  'a hold that came back': [
    `insert into holds select 'a', ledger_id, key_id, amount_micros, day, month, null, null, owner, 0, 0, 0 from holds`,
    'holds a id: expected no row, found a row',
  ],
  'an entry whose amount was changed': [
    `update entries set posted_delta_micros = -1 where seq = ${journal.settleA}`,
    'entries 4 (settle a) available_micros: expected 99, found 70',
  ],
  'an entry that is gone': [
    `delete from entries where seq = ${journal.credit}`,
    'entries 3 (reserve a) available_micros: expected 0 or more, found -40',
  ],
  'an entry of another ledger': [
    `update entries set ledger_id = 'acc:test' where seq = ${journal.settleA}`,
    'entries 4 (settle a) ledger_id: expected acc:live, found acc:test',
  ],
  'an end with a window of its own': [
    `update entries set day = '2026-11-20' where seq = ${journal.releaseB}`,
    'entries 6 (release b) day: expected null, found 2026-11-20',
  ],
  'a reservation in another day than its own': [
    `update entries set day = '2026-11-20' where seq = ${journal.reserveA}`,
    'entries 3 (reserve a) day: expected 2026-11-21, found 2026-11-20',
  ],
  'an overdraft that no debit made': [
    `update entries set held_delta_micros = 101, available_micros = -1 where seq = ${journal.reserveA}`,
    'entries 3 (reserve a) available_micros: expected 0 or more, found -1',
  ],
  'a hold above the cap of its key': [
    `update entries set daily_cap_micros = 39 where seq = ${journal.reserveA}`,
    'entries 3 (reserve a) held_delta_micros: expected at most the cap of 39 in k day 2026-11-21, found 40',
  ],
  'a charge above the cap of its key': [
    `update entries set monthly_cap_micros = 50 where seq = ${journal.reserveA};
          update entries set posted_delta_micros = -55, available_micros = 45 where seq = ${journal.settleA}`,
    'entries 4 (settle a) posted_delta_micros: expected at most the cap of 50 in k month 2026-11, found 55',
  ],
  'a hold that was ended twice': [
    `insert into entries (${entryColumns}) select 13, 'a', 'release', ledger_id, key_id, 0, 0, 0, 30, day, month, created_at_ms
          from entries where seq = ${journal.settleA}`,
    'entries 13 (release a) kind: expected a hold that had not ended, found release',
  ],
  'a hold that expired after its end': [
    `insert into entries (${entryColumns}) select 13, 'a', 'expire', ledger_id, key_id, 0, 0, 0, 30, day, month, created_at_ms
          from entries where seq = ${journal.settleA}`,
    'entries 13 (expire a) kind: expected a hold that had not ended, found expire',
  ],
  'an extension of a hold that had ended': [
    `update entries set id = 'a+1' where seq = ${journal.extendD}`,
    'entries 12 (extend a+1) kind: expected a hold that had not ended, found extend',
  ],
  'an extension with a window of its own': [
    `update entries set month = '2026-12' where seq = ${journal.extendD}`,
    'entries 12 (extend d+1) month: expected null, found 2026-12',
  ],
  'an extension that gave back': [
    `update entries set held_delta_micros = -5, available_micros = 40 where seq = ${journal.extendD}`,
    'entries 12 (extend d+1) held_delta_micros: expected 0 or more, found -5',
  ],
  'an extension above the cap of its hold': [
    `update entries set daily_cap_micros = 60 where seq = ${journal.reserveD}`,
    'entries 12 (extend d+1) held_delta_micros: expected at most the cap of 60 in k day 2026-11-21, found 65',
  ],
  'an entry dated before the one ahead of it': [
    `update entries set created_at_ms = created_at_ms - 1 where seq = ${journal.settleA}`,
    `entries 4 (settle a) created_at_ms: expected ${startMs} or later, the time of the entry before, found ${startMs - 1}`,
  ],
  'a ledger whose time was put back': [
    `update ledgers set last_entry_at_ms = 0 where id = 'acc:live'`,
    `ledgers acc:live last_entry_at_ms: expected ${startMs}, found 0`,
  ],
  'a release that took money': [
    `update entries set posted_delta_micros = -1, available_micros = 69 where seq = ${journal.releaseB}`,
    'entries 6 (release b) posted_delta_micros: expected 0, found -1',
  ],
  'a release that gave back less than was held': [
    `update entries set held_delta_micros = -4, available_micros = 69 where seq = ${journal.releaseB}`,
    'entries 6 (release b) held_delta_micros: expected -5, found -4',
  ],
  'a provoked loss that no day has': [
    `update entries set provoked = 1 where seq = ${journal.releaseB}`,
    'loss_days acc:live 2026-11-21 id: expected a row, found no row',
  ],
  'a day of losses that nobody provoked': [
    `insert into loss_days (ledger_id, day, provoked_micros) values ('acc:live', '2026-11-21', 2)`,
    'loss_days acc:live 2026-11-21 id: expected no row, found a row',
  ],
  'a provoked loss of nothing': [
    `update entries set provoked = 1 where seq = ${journal.settleA}`,
    'entries 4 (settle a) provoked: expected 0, found 1',
  ],
  'a credit that took money': [
    `update entries set posted_delta_micros = -100 where seq = ${journal.credit}`,
    'entries 2 (credit credit-acc:live-100) posted_delta_micros: expected 0 or more, found -100',
  ],
  'a debit that gave money': [
    `update entries set posted_delta_micros = 10 where seq = ${journal.debit}`,
    'entries 11 (debit d1) posted_delta_micros: expected 0 or less, found 10',
  ],
  'a charge with another cost than was taken': [
    `update charges set cost_micros = 29 where id = 'a'`,
    'charges a cost_micros: expected 30, found 29',
  ],
  'a charge with another loss than was booked': [
    `update charges set loss_micros = 1 where id = 'a'`,
    'charges a loss_micros: expected 0, found 1',
  ],
  'a charge with another hold': [
    `update charges set hold_micros = 1 where id = 'c'`,
    'charges c hold_micros: expected 20, found 1',
  ],
  'a charge on another ledger': [
    `update charges set ledger_id = 'acc:test' where id = 'a'`,
    'charges a id: expected a charge for the settle entry, found null',
  ],
  'tokens of a charge that were changed': [
    `update charges set cache_read_tokens = 41 where id = 'a'`,
    'ledgers acc:live input_tokens: expected 201, found 200',
  ],
  'a charge that is gone': [
    `delete from charges where id = 'a'`,
    'charges a id: expected a charge for the settle entry, found null',
  ],
  'a charge that its price does not come to': [
    `update prices set terms = replace(terms, '3000000', '3100000')`,
    'charges a cost_and_loss_micros: expected 31, found 30',
  ],
  'a charge that cost the operator something else': [
    `update charges set upstream_cost_micros = 2 where id = 'a'`,
    'charges a upstream_cost_micros: expected 1, found 2',
  ],
  'a charge that nothing booked': [
    `create temp table copy as select * from charges where id = 'a'; update copy set id = 'z'; insert into charges select * from copy`,
    'charges z id: expected a settle entry, found null',
  ],
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

  const lookAfter = changeableBooks(store, (hooks) => openBooks(hooks, store));
  for (const [name, [sql, problem]] of Object.entries(corruptions)) {
    test(`verify finds ${name}`, async () => {
      const result = await lookAfter(sql, ({ read }) => verify(read));
      assert.ok(!result.ok, 'nothing was found');
      const { table, id, column, expected, found } = result.problem;
      assert.equal(
        `${table} ${id} ${column}: expected ${String(expected)}, found ${String(found)}`,
        problem,
      );
    });
  }

  test('the books verify again after all changes', async () =>
    assert.ok((await lookAfter('select 1', ({ read }) => verify(read))).ok));
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
async function openBooks(t: Hooks, store: StoreKind): Promise<Database> {
  const database = await store.openDatabase(t);
  await addAccount(database, 'acc', ['k']);
  await store
    .openStore(t, database)
    .run([
      creditOf(ledgerId, 100),
      reserveOf(holdOf('a'), 40),
      { ...settleOf(holdOf('a'), 30), price },
      reserveOf(holdOf('b'), 5),
      { type: 'release', holdId: 'b', lossMicros: micros(2) },
      reserveOf(holdOf('c'), 20),
      { type: 'expire', holdId: 'c', ownerEndedAtMs: null },
      settleOf(holdOf('c'), 20),
      reserveOf(holdOf('d'), 10),
      { type: 'debit', entryId: 'd1', ledgerId, amountMicros: micros(10), note: 'test' },
      extendOf(holdOf('d'), 1, 5),
    ]);
  return database;
}
