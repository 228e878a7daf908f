// The ledger's rules as tables: a command on the left, its result on the right. Each table runs on
// the core alone and on SQLite. One account, `acc`, with the keys `k` and `k2` of the member `m` and
// `k3` of nobody; `b-day` and `b-month` are the member's budgets; amounts in microdollars; the
// clock starts on 2026-11-21 at 12:00 UTC.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { connectSqlite } from '../../db/sqlite/connection.ts';
import { type Database, sqlitePathOf } from '../../db/database.ts';
import { micros } from '../../lib/money.ts';
import { type Book, memberKey } from './book.ts';
import type { Command } from './commands.ts';
import { type Expire, runCommands } from './core.ts';
import {
  addAccount,
  budgetOf,
  emptyBook,
  giveKeys,
  openTestDatabase,
  reserveOf,
  settleOf,
  startMs,
} from '../../../tests/support/ledger/test-ledger.ts';
import { SqliteStore } from './sqlite/store.ts';
import { verify } from './reports/verify.ts';

const scenarios: Readonly<Record<string, string>> = {
  'a hold takes from what is available and a settlement takes what was used': `
    credit c1 100        | credited available=100
    reserve a 60         | held available=40
    settle a 55          | charged 55 loss=0 available=45`,

  'a hold that does not fit is refused with the amount that would fit': `
    credit c1 100        | credited available=100
    reserve a 60         | held available=40
    reserve b 41         | insufficient-balance left=40 held=60 affordable=40
    reserve b 40         | held available=0
    reserve c 1          | insufficient-balance left=0 held=100 affordable=0`,

  'a release makes a request free and books what it cost the operator': `
    credit c1 100        | credited available=100
    reserve a 60         | held available=40
    release a 7          | released
    reserve b 100        | held available=0`,

  'the daily cap refuses before the monthly, and the monthly before the balance': `
    credit c1 10         | credited available=10
    reserve a 50 day=20 month=20 | key-daily-limit left=20 held=0 affordable=10 resets=2026-11-22T00:00
    reserve a 50 day=60 month=20 | key-monthly-limit left=20 held=0 affordable=10 resets=2026-12-01T00:00
    reserve a 50 day=60 month=60 | insufficient-balance left=10 held=0 affordable=10
    reserve a 10 day=10 month=10 | held available=0`,

  'the affordable amount fits every limit': `
    credit c1 100        | credited available=100
    reserve a 50 day=30 month=20 | key-daily-limit left=30 held=0 affordable=20 resets=2026-11-22T00:00
    reserve a 20 day=30 month=20 | held available=80`,

  'a cap counts what its key has spent and what it holds, in its window': `
    credit c1 100        | credited available=100
    reserve a 30 day=50  | held available=70
    settle a 25          | charged 25 loss=0 available=75
    reserve b 20 day=50  | held available=55
    reserve c 6 day=50   | key-daily-limit left=5 held=20 affordable=5 resets=2026-11-22T00:00
    reserve c 5 day=50   | held available=50`,

  'another key of the account has caps of its own': `
    credit c1 100        | credited available=100
    reserve a 50 day=50  | held available=50
    reserve b 1 day=50   | key-daily-limit left=0 held=50 affordable=0 resets=2026-11-22T00:00
    reserve d 50 day=50 key=k2 | held available=0`,

  'a daily cap resets at 00:00 UTC, a monthly cap on the first day': `
    credit c1 1000       | credited available=1000
    clock 2026-11-30T23:59:59.999Z
    reserve a 50 day=50 month=70 | held available=950
    settle a 50          | charged 50 loss=0 available=950
    reserve b 1 day=50 month=70  | key-daily-limit left=0 held=0 affordable=0 resets=2026-12-01T00:00
    clock 2026-12-01T00:00:00.000Z
    reserve b 50 day=50 month=70 | held available=900
    reserve c 21 day=90 month=70 | key-monthly-limit left=20 held=50 affordable=20 resets=2027-01-01T00:00`,

  'a settlement counts in the windows in which its hold was made': `
    credit c1 1000       | credited available=1000
    clock 2026-11-30T23:59:00.000Z
    reserve a 50 day=50 month=50 | held available=950
    clock 2026-12-01T00:01:00.000Z
    settle a 50          | charged 50 loss=0 available=950
    reserve b 50 day=50 month=50 | held available=900
    clock 2026-11-30T23:59:59.000Z
    reserve c 1 day=50 month=50  | key-daily-limit left=0 held=50 affordable=0 resets=2026-12-02T00:00`,

  'a clock that goes back reopens no day, and a ledger has one time': `
    credit c1 1000       | credited available=1000
    clock 2026-11-30T23:59:00.000Z
    reserve a 50 day=80 month=90 | held available=950
    clock 2026-12-01T00:01:00.000Z
    settle a 50          | charged 50 loss=0 available=950
    reserve b 80 day=80 month=90 | held available=870
    clock 2026-11-30T23:59:59.000Z
    reserve c 1 day=80 month=90  | key-daily-limit left=0 held=80 affordable=0 resets=2026-12-02T00:00
    settle b 80          | charged 80 loss=0 available=870
    reserve c 1 day=80 month=90  | key-daily-limit left=0 held=0 affordable=0 resets=2026-12-02T00:00
    clock 2026-12-02T00:00:00.000Z
    reserve c 10 day=80 month=90 | held available=860`,

  'a hold with extensions is settled as one': `
    credit c1 100        | credited available=100
    reserve a 20         | held available=80
    extend a 1 30        | held available=50
    extend a 2 10        | held available=40
    extend a 1 30        | held available=50
    settle a 55          | charged 55 loss=0 available=45
    extend a 2 10        | held available=40
    extend a 3 10        | already-resolved`,

  'an extension is refused like a reservation, and the hold stays unchanged': `
    credit c1 100        | credited available=100
    reserve a 20 day=60 month=50 | held available=80
    extend a 1 41        | key-daily-limit left=40 held=20 affordable=30 resets=2026-11-22T00:00
    extend a 1 31        | key-monthly-limit left=30 held=20 affordable=30 resets=2026-12-01T00:00
    extend a 1 30        | held available=50
    extend a 2 1         | key-monthly-limit left=0 held=50 affordable=0 resets=2026-12-01T00:00
    reserve b 40         | held available=10
    release a 0          | released
    reserve c 60         | held available=0`,

  'an extension counts in the windows in which its hold was made': `
    credit c1 1000       | credited available=1000
    clock 2026-11-30T23:59:00.000Z
    reserve a 50 day=80 month=90 | held available=950
    clock 2026-12-01T00:01:00.000Z
    extend a 1 31        | key-daily-limit left=30 held=50 affordable=30 resets=2026-12-02T00:00
    extend a 1 30        | held available=920
    reserve b 80 day=80 month=90 | held available=840
    settle a 80          | charged 80 loss=0 available=840`,

  'a hold is not extended when its account is frozen, when it has ended, or for another key': `
    credit c1 100        | credited available=100
    reserve a 20         | held available=80
    extend a 1 10 key=k2 | unknown-hold
    extend x 1 10        | unknown-hold
    reserve b 20         | held available=60
    extend b 1 20        | held available=40
    expire b             | released
    extend b 1 20        | held available=40
    extend b 2 10        | already-resolved
    settle b 90          | charged 80 loss=10 available=0
    freeze
    extend a 1 10        | account-frozen left=0 held=20 affordable=0
    settle a 20          | charged 20 loss=0 available=0`,

  'a cap of 0 allows nothing, not even free requests': `
    credit c1 100        | credited available=100
    reserve a 0 day=0    | key-daily-limit left=0 held=0 affordable=0 resets=2026-11-22T00:00
    reserve a 0 month=0  | key-monthly-limit left=0 held=0 affordable=0 resets=2026-12-01T00:00`,

  'a free model runs without balance and with a used-up cap': `
    reserve a 0          | held available=0
    settle a 0           | charged 0 loss=0 available=0
    credit c1 10         | credited available=10
    reserve b 10 day=10  | held available=0
    settle b 10          | charged 10 loss=0 available=0
    reserve c 0 day=10   | held available=0`,

  'a cap lowered below the spent amount has nothing left': `
    credit c1 100        | credited available=100
    reserve a 50 day=50  | held available=50
    settle a 50          | charged 50 loss=0 available=50
    reserve b 1 day=20   | key-daily-limit left=0 held=0 affordable=0 resets=2026-11-22T00:00`,

  'a cost above the hold is charged up to the balance, and the rest is a loss': `
    credit c1 100        | credited available=100
    reserve a 60         | held available=40
    settle a 130         | charged 100 loss=30 available=0`,

  'a cost above the hold does not use other holds': `
    credit c1 100        | credited available=100
    reserve a 60         | held available=40
    reserve b 30         | held available=10
    settle a 130         | charged 70 loss=60 available=0
    settle b 30          | charged 30 loss=0 available=0`,

  'a cost above the hold stops at the daily cap': `
    credit c1 100        | credited available=100
    reserve a 10 day=25 month=90 | held available=90
    settle a 60          | charged 25 loss=35 available=75`,

  'a cost above the hold stops at the monthly cap': `
    credit c1 100        | credited available=100
    reserve a 10 day=90 month=15 | held available=90
    settle a 60          | charged 15 loss=45 available=85`,

  'only a debit takes the balance below zero, and then only free requests run': `
    credit c1 50         | credited available=50
    reserve a 30         | held available=20
    debit d1 60          | debited available=-40
    reserve b 1          | insufficient-balance left=0 held=30 affordable=0
    reserve f 0          | held available=-40
    settle a 45          | charged 30 loss=15 available=-40
    settle f 2           | charged 0 loss=2 available=-40
    credit c2 41         | credited available=1
    reserve b 1          | held available=0`,

  'a frozen account is refused before any limit, but running requests are settled': `
    credit c1 100        | credited available=100
    reserve a 60         | held available=40
    freeze
    reserve b 500 day=0  | account-frozen left=0 held=60 affordable=0
    settle a 60          | charged 60 loss=0 available=40
    credit c2 1          | credited available=41`,

  'every command that is sent again changes nothing and gets its first answer': `
    credit c1 100        | credited available=100
    credit c1 100        | credited available=100
    debit d1 10          | debited available=90
    debit d1 10          | debited available=90
    debit c1 10          | credited available=100
    credit d1 10         | debited available=90
    reserve a 60         | held available=30
    reserve b 20         | held available=10
    reserve a 60         | held available=30
    settle a 65          | charged 65 loss=0 available=5
    settle a 65          | charged 65 loss=0 available=5
    release b 3          | released
    release b 3          | released
    settle a 1           | charged 65 loss=0 available=5
    reserve a 60         | held available=30
    credit c1 100        | credited available=100
    reserve x 26         | insufficient-balance left=25 held=0 affordable=25`,

  'a refused hold may be asked for again with the same id': `
    credit c1 10         | credited available=10
    reserve a 11         | insufficient-balance left=10 held=0 affordable=10
    reserve a 10         | held available=0`,

  'an owner ends a hold only once': `
    credit c1 100        | credited available=100
    reserve a 60         | held available=40
    settle a 60          | charged 60 loss=0 available=40
    release a 0          | already-resolved
    expire a             | already-resolved
    reserve b 40         | held available=0
    release b 0          | released
    settle b 40          | already-resolved
    expire b             | already-resolved
    reserve c 40         | held available=0`,

  'a settlement of an unknown hold charges nothing': `
    credit c1 100        | credited available=100
    settle a 60          | unknown-hold
    release a 5          | unknown-hold
    expire a             | unknown-hold
    reserve a 100        | held available=0`,

  'a hold is settled only for the key it was made for': `
    credit c1 100        | credited available=100
    reserve a 60         | held available=40
    settle a 60 key=k2   | unknown-hold
    settle a 60          | charged 60 loss=0 available=40`,

  'a settlement after the expiry takes only what is available': `
    credit c1 100        | credited available=100
    reserve a 60         | held available=40
    expire a             | released
    expire a             | released
    reserve b 70         | held available=30
    settle a 60          | charged 30 loss=30 available=0
    settle a 60          | charged 30 loss=30 available=0
    settle b 70          | charged 70 loss=0 available=0`,

  'a settlement after the expiry stops at the caps of its hold': `
    credit c1 100        | credited available=100
    reserve a 60 day=60 month=80 | held available=40
    expire a             | released
    reserve b 50 day=60 month=80 | held available=50
    settle a 60          | charged 10 loss=50 available=40`,

  'a release after the expiry books its loss, and a later settlement is refused': `
    credit c1 100        | credited available=100
    reserve a 60         | held available=40
    expire a             | released
    release a 9          | released
    settle a 60          | already-resolved
    reserve b 100        | held available=0`,

  'a credit or debit beyond the largest balance is refused with the amount that would fit': `
    credit c1 8999999999999900  | credited available=8999999999999900
    credit c2 101        | balance-too-large left=100
    reserve a 60         | held available=8999999999999840
    credit c2 101        | balance-too-large left=100
    credit c2 100        | credited available=8999999999999940
    credit c2 100        | credited available=8999999999999940
    credit c3 1          | balance-too-large left=0
    debit d1 9000000000000000   | debited available=-60
    settle a 60          | charged 60 loss=0 available=-60
    debit d2 9000000000000000   | balance-too-large left=8999999999999940
    debit d2 8999999999999940   | debited available=-9000000000000000
    debit d3 1           | balance-too-large left=0
    credit c4 1          | credited available=-8999999999999999`,

  'all keys of a member share its budget, what they hold and what they spent': `
    credit c1 1000       | credited available=1000
    reserve a 60 b-day=100 | held available=940
    reserve b 41 b-day=100 key=k2 | member-daily-limit left=40 held=60 affordable=40 resets=2026-11-22T00:00
    reserve b 40 b-day=100 key=k2 | held available=900
    settle a 10 b-day=100  | charged 10 loss=0 available=950
    reserve c 51 b-day=100 | member-daily-limit left=50 held=40 affordable=50 resets=2026-11-22T00:00
    reserve d 900 key=k3   | held available=50`,

  'the caps of the key refuse before the budget, the daily budget before the monthly, then the balance': `
    credit c1 10         | credited available=10
    reserve a 50 day=20 b-day=15 b-month=12 | key-daily-limit left=20 held=0 affordable=10 resets=2026-11-22T00:00
    reserve a 50 day=60 b-day=15 b-month=12 | member-daily-limit left=15 held=0 affordable=10 resets=2026-11-22T00:00
    reserve a 50 day=60 b-day=60 b-month=12 | member-monthly-limit left=12 held=0 affordable=10 resets=2026-12-01T00:00
    reserve a 50 b-day=60 b-month=60 | insufficient-balance left=10 held=0 affordable=10`,

  'a budget of 0 allows nothing, not even a free request': `
    credit c1 10         | credited available=10
    reserve a 0 b-month=0  | member-monthly-limit left=0 held=0 affordable=0 resets=2026-12-01T00:00`,

  'a lowered budget stops new holds, and a running request is charged in full': `
    credit c1 1000       | credited available=1000
    reserve a 60 b-day=100 | held available=940
    reserve b 1 b-day=20 key=k2 | member-daily-limit left=0 held=60 affordable=0 resets=2026-11-22T00:00
    settle a 60 b-day=100  | charged 60 loss=0 available=940`,

  'what a key spent before its member had a budget counts': `
    credit c1 1000       | credited available=1000
    reserve a 60         | held available=940
    settle a 60          | charged 60 loss=0 available=940
    reserve b 41 b-day=100 key=k2 | member-daily-limit left=40 held=0 affordable=40 resets=2026-11-22T00:00`,

  'an extension is held within the budget, in the windows of its hold': `
    credit c1 1000       | credited available=1000
    clock 2026-11-30T23:59:00.000Z
    reserve a 60 b-day=100 b-month=100 | held available=940
    clock 2026-12-01T00:01:00.000Z
    reserve b 90 b-day=100 b-month=100 key=k2 | held available=850
    extend a 1 41 b-day=100 b-month=100 | member-daily-limit left=40 held=60 affordable=40 resets=2026-12-02T00:00
    extend a 1 40 b-day=100 b-month=100 | held available=810`,

  'a settlement after the expiry takes only what the budget has left': `
    credit c1 1000       | credited available=1000
    reserve a 60 b-day=100 | held available=940
    expire a             | released
    reserve b 90 b-day=100 key=k2 | held available=910
    settle a 60 b-day=100  | charged 10 loss=50 available=900`,

  'a budget resets at 00:00 UTC and on the first day, and a clock that goes back reopens no day': `
    credit c1 1000       | credited available=1000
    clock 2026-11-30T23:59:59.999Z
    reserve a 50 b-day=50 b-month=70 | held available=950
    settle a 50 b-day=50 b-month=70  | charged 50 loss=0 available=950
    clock 2026-12-01T00:00:00.000Z
    reserve b 50 b-day=50 b-month=70 key=k2 | held available=900
    clock 2026-11-30T23:59:59.000Z
    reserve c 1 b-day=50 b-month=70  | member-daily-limit left=0 held=50 affordable=0 resets=2026-12-02T00:00`,

  'a ledger that does not exist is reported as unknown': `
    credit c1 5 ledger=nobody:live  | unknown-ledger
    debit d1 5 ledger=nobody:live   | unknown-ledger
    reserve a 5 ledger=nobody:live  | unknown-ledger`,
};

for (const [name, table] of Object.entries(scenarios)) {
  test(`${name} (core)`, () => play(table, memoryStore()));
  test(`${name} (SQLite)`, async (t) => {
    const store = await sqliteStore(t);
    await play(table, store);
    assert.equal((await verify(store.database.read)).ok, true);
  });
}

type Store = {
  readonly run: (command: Command | Expire, nowMs: number) => { readonly type: string };
  readonly freeze: () => void | Promise<void>;
};

async function play(table: string, store: Store): Promise<void> {
  let nowMs = startMs;
  for (const line of table.trim().split('\n')) {
    const [step = '', expected] = line.split('|').map((part) => part.trim());
    if (step === 'freeze') await store.freeze();
    else if (step.startsWith('clock ')) nowMs = Date.parse(step.slice('clock '.length));
    else assert.equal(describe(store.run(parseCommand(step), nowMs)), expected, step);
  }
}

function parseCommand(text: string): Command | Expire {
  const [type, id = '', amount = 'NaN', ...rest] = text.split(/\s+/);
  const options = Object.fromEntries(rest.map((option) => option.split('='))) as Record<
    string,
    string
  >;
  const ledgerId = (options['ledger'] ?? 'acc:live') as `${string}:live`;
  const budgets = { daily: numberOf(options['b-day']), monthly: numberOf(options['b-month']) };
  const asked = { holdId: id, ledgerId, keyId: options['key'] ?? 'k', ...budgetOf('m', budgets) };
  const caps = { daily: numberOf(options['day']), monthly: numberOf(options['month']) };
  switch (type) {
    case 'reserve':
      return reserveOf(asked, Number(amount), caps);
    case 'settle':
      return settleOf(asked, Number(amount));
    case 'extend':
      return { type, ...asked, part: Number(amount), amountMicros: micros(Number(rest[0])) };
    case 'release':
      return { type, holdId: id, lossMicros: micros(Number(amount)) };
    case 'expire':
      return { type, holdId: id, ownerEndedAtMs: null };
    case 'credit':
    case 'debit':
      return { type, entryId: id, ledgerId, amountMicros: micros(Number(amount)), note: 'test' };
    default:
      throw new Error(`no such command: ${text}`);
  }
}

function numberOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}

const labels: readonly (readonly [name: string, label: string])[] = [
  ['chargedMicros', ''],
  ['leftMicros', 'left='],
  ['heldMicros', 'held='],
  ['lossMicros', 'loss='],
  ['affordableMicros', 'affordable='],
  ['availableMicros', 'available='],
];

function describe(outcome: { readonly type: string }): string {
  const fields = outcome as unknown as Readonly<Record<string, number | null | undefined>>;
  const { resetsAtMs } = fields;
  return [
    outcome.type,
    ...labels
      .filter(([name]) => fields[name] !== undefined)
      .map(([name, label]) => `${label}${fields[name]}`),
    ...(typeof resetsAtMs === 'number'
      ? [`resets=${new Date(resetsAtMs).toISOString().slice(0, 16)}`]
      : []),
  ].join(' ');
}

function memoryStore(): Store {
  const members = new Map([[memberKey('acc:live', 'm'), ['k', 'k2']]]);
  let book: Book = { ...emptyBook(['acc:live']), members };
  return {
    run: (command, nowMs) => {
      const decision = runCommands(book, [command], nowMs);
      book = decision.book;
      return decision.outcomes[0]!;
    },
    freeze: () => {
      const ledgers = [...book.ledgers].map(
        ([id, ledger]) => [id, { ...ledger, isFrozen: true }] as const,
      );
      book = { ...book, ledgers: new Map(ledgers) };
    },
  };
}

async function sqliteStore(t: TestContext): Promise<Store & { readonly database: Database }> {
  const database = await openTestDatabase(t);
  await addAccount(database, 'acc', ['k', 'k2', 'k3']);
  await giveKeys(database.write, { ledgerId: 'acc:live', memberId: 'm', keyIds: ['k', 'k2'] });
  const connection = connectSqlite(sqlitePathOf(database.url), { readOnly: false });
  t.after(() => connection.close());
  let clockMs = 0;
  const store = new SqliteStore(connection, { clock: () => clockMs });
  return {
    database,
    run: (command, nowMs) => {
      clockMs = nowMs;
      return store.run([command])[0]!;
    },
    freeze: async () => {
      await database.write
        .updateTable('accounts')
        .set({ frozen: 1 })
        .where('id', '=', 'acc')
        .execute();
    },
  };
}
