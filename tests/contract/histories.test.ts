// Random histories of commands, each sent twice, over several accounts, keys and caps and across
// days, months and years, with a clock that also goes back: on the core, and on both stores in
// random batches, compared with a plain model and the ledger's invariants.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Database } from '../../src/db/database.ts';
import { micros } from '../../src/lib/money.ts';
import {
  availableMicrosOf,
  type Book,
  memberKey,
  windowKey,
  windowOf,
} from '../../src/domain/ledger/book.ts';
import type {
  Budget,
  Command,
  LedgerId,
  Outcome,
  Reserve,
} from '../../src/domain/ledger/commands.ts';
import { type Expire, runCommands } from '../../src/domain/ledger/core.ts';
import {
  budgetOf,
  emptyBook,
  extendOf,
  giveKeys,
  insertAccount,
  reserveOf,
  settleOf,
} from '../support/ledger/test-ledger.ts';
import { LedgerModel, repeated } from '../support/ledger/reference-model.ts';
import { report } from '../../src/domain/ledger/reports/report.ts';
import { verify } from '../../src/domain/ledger/reports/verify.ts';
import { scaled } from '../support/volume.ts';
import fc from '../support/property.ts';
import { onEachStore } from './stores.ts';

/**
 * Without bias, because fast-check prefers short histories and small amounts, which are hardly ever
 * charged.
 */
const settings = {
  numRuns: Number(process.env['TOLLGATE_HISTORIES'] ?? scaled(100, 400)),
  noBias: true,
};
const lastHourOf2026Ms = Date.UTC(2026, 11, 31, 23);

/** Three keys on two accounts, of two members; a hold id always belongs to the same key. */
const keys = [
  { keyId: 'k0', ledgerId: 'a0:live', memberId: 'm0' },
  { keyId: 'k1', ledgerId: 'a0:live', memberId: 'm0' },
  { keyId: 'k2', ledgerId: 'a1:live', memberId: 'm1' },
] as const;
const keysOfMembers = { m0: ['k0', 'k1'], m1: ['k2'] };
const ledgerIds = ['a0:live', 'a1:live'] as const;
const members: Book['members'] = new Map([
  [memberKey('a0:live', 'm0'), keysOfMembers.m0],
  [memberKey('a1:live', 'm1'), keysOfMembers.m1],
]);

type Step = {
  readonly command: Command | Expire;
  readonly waitMs: number;
  readonly startsBatch: boolean;
  /** The process that runs the batch that this step starts. */
  readonly process: 0 | 1;
  /** The batch that this step starts has a command that cannot be run. */
  readonly hasBadCommand: boolean;
};

const amount = fc.oneof(
  { weight: 1, arbitrary: fc.constant(0) },
  { weight: 9, arbitrary: fc.integer({ min: 1, max: 60 }) },
);
const cap = fc.constantFrom(undefined, undefined, undefined, undefined, 0, 40, 90, 200);
const most = fc.constantFrom(undefined, undefined, undefined, undefined, undefined, 0, 90, 300);
const budgets = fc.record({ daily: most, monthly: most });
/** A hold, and the budget of its key's owner at the time. */
const asked = fc.tuple(fc.nat({ max: 5 }), budgets).map(([number, caps]) => {
  const { memberId, ...key } = keys[number % keys.length]!;
  return { holdId: `h${number}`, ...key, ...budgetOf(memberId, caps) };
});
const adjustedLedger = fc.record({
  entryId: fc.constantFrom('e0', 'e1', 'e2', 'e3'),
  ledgerId: fc.constantFrom(...ledgerIds),
  amount: fc.nat({ max: 600 }),
});
const command: fc.Arbitrary<Command | Expire> = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.tuple(asked, amount, cap, cap).map(([of, held, daily, monthly]) => ({
      ...reserveOf(of, held, { daily, monthly }),
      likelyCost: { atOnceMicros: micros(held % 7), perSecondMicros: micros(held % 3) },
    })),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(asked, fc.nat({ max: 2 }), amount)
      .map(([of, part, more]) => extendOf(of, part, more)),
  },
  { weight: 4, arbitrary: fc.tuple(asked, amount).map(([of, cost]) => settleOf(of, cost)) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(asked, amount, fc.boolean())
      .map(([{ holdId }, loss, isCausedByAccount]) => releaseOf(holdId, loss, isCausedByAccount)),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(asked, fc.option(fc.integer({ min: 0, max: 100_000 })))
      .map(([{ holdId }, afterMs]): Expire => ({
        type: 'expire',
        holdId,
        ownerEndedAtMs: afterMs === null ? null : lastHourOf2026Ms + afterMs,
      })),
  },
  { weight: 2, arbitrary: adjustedLedger.map((of) => adjustment('credit', of)) },
  {
    weight: 1,
    arbitrary: adjustedLedger.map((of) =>
      adjustment('debit', { ...of, amount: Math.floor(of.amount / 8) }),
    ),
  },
);
const oneIn = (times: number) => fc.nat({ max: times - 1 }).map((number) => number === 0);
const waitMs = fc.oneof(
  { weight: 4, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.integer({ min: -2 * 86_400_000, max: 20 * 86_400_000 }) },
);
const history: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    command,
    waitMs,
    startsBatch: oneIn(6),
    process: fc.constantFrom(0, 1),
    hasBadCommand: oneIn(8),
  }),
  {
    maxLength: 100,
    size: 'max',
  },
);

test('random histories keep every invariant of the ledger and agree with a plain model', () => {
  fc.assert(
    fc.property(history, (steps) => {
      const model = new LedgerModel(keysOfMembers);
      const debited = new Set<string>();
      const answered: { step: Step; outcome: Outcome }[] = [];
      let book: Book = { ...emptyBook(ledgerIds), members };
      let nowMs = lastHourOf2026Ms;
      for (const step of steps) {
        nowMs += step.waitMs;
        const decision = runCommands(book, [step.command, step.command], nowMs);
        const [outcome, again] = decision.outcomes as [Outcome, Outcome];
        assert.deepEqual(outcome, model.run(step.command, nowMs));
        assert.deepEqual(again, repeated(outcome), 'sent twice at once');
        assertBalances(book, decision);
        if (step.command.type === 'debit') debited.add(step.command.ledgerId);
        assertPromises(decision.book, model, {
          debited,
          command: step.command,
          outcome,
          isNew: decision.entries.length > 0,
        });
        if (isFinal(outcome)) answered.push({ step, outcome });
        book = decision.book;
      }
      for (const { step, outcome } of answered) {
        const decision = runCommands(book, [step.command], nowMs);
        assert.deepEqual(
          [decision.outcomes[0], decision.entries],
          [repeated(outcome), []],
          'sent again at the end',
        );
      }
    }),
    settings,
  );
});

onEachStore((store) => {
  test('random histories of two processes agree with the model in any batches, and the ledger verifies', async (t) => {
    const database = await store.openDatabase(t);
    const clock = { nowMs: lastHourOf2026Ms };
    const processes = [0, 1].map(() => store.openStore(t, database, { clock }));
    await addAllAccounts(database);
    let runs = 0;
    let rejected = 0;
    /** The model's balances, by ledger. */
    const provoked = new Map<string, ReturnType<LedgerModel['provoked']>>();
    const failed = new Map<string, number>();
    const property = fc.asyncProperty(history, async (steps) => {
      const prefix = prefixOf((runs += 1));
      const model = new LedgerModel(keysOfMembers);
      clock.nowMs = lastHourOf2026Ms;
      for (const batch of batchesOf(steps)) {
        const [{ waitMs: beforeMs, process, hasBadCommand }] = batch as [Step];
        clock.nowMs += beforeMs;
        const commands = batch.flatMap((step) => [step.command, step.command]);
        const middle = batch.length;
        const sent = hasBadCommand ? commands.toSpliced(middle, 0, badCommand) : commands;
        const outcomes = await processes[process]!.run(sent.map((one) => withPrefix(one, prefix)));
        if (hasBadCommand) rejected += outcomes[middle]!.type === 'rejected' ? 1 : 0;
        // A transaction has a single time, so the model applies the whole batch at that time.
        assert.deepEqual(
          hasBadCommand ? outcomes.toSpliced(middle, 1) : outcomes,
          commands.map((item) => model.run(item, clock.nowMs)),
        );
      }
      for (const id of ledgerIds) {
        provoked.set(prefix + id, model.provoked(id));
        failed.set(prefix + id, model.failed(id));
      }
    });
    await fc.assert(property, settings);
    const rows = await database.read.selectFrom('loss_days').selectAll().execute();
    const booked = [...Map.groupBy(rows, (row) => row.ledger_id)].map(
      ([id, days]) =>
        [id, Object.fromEntries(days.map((row) => [row.day, row.provoked_micros]))] as const,
    );
    const expected = [...provoked].filter(([, days]) => Object.keys(days).length > 0);
    assert.deepEqual(Object.fromEntries(booked), Object.fromEntries(expected));
    assert.ok(
      booked.length > runs / 4,
      'histories in which hardly anything is provoked prove little',
    );
    const result = await verify(database.read);
    assert.ok(result.ok, JSON.stringify(result));
    const failedMicros = [...failed.values()].reduce((sum, ofLedger) => sum + ofLedger, 0);
    assert.equal(result.failedMicros, failedMicros);
    const reported = await report(database.read, {
      by: 'account',
      mode: 'live',
      fromMs: 0,
      toMs: Number.MAX_SAFE_INTEGER,
    });
    assert.equal(
      reported.reduce((sum, row) => sum + row.failedMicros, 0),
      failedMicros,
    );
    assert.ok(rejected > 0, 'no command was rejected');
    assert.ok(
      result.charges > runs / 2,
      'histories in which hardly anything is charged prove little',
    );
    t.diagnostic(`${runs} histories: ${JSON.stringify(result)}`);
  });
});

/** Its key does not exist, which only the database notices. */
const badCommand = reserveOf({ holdId: 'bad', ledgerId: 'a0:live', keyId: 'nobody' }, 1);

function releaseOf(holdId: string, loss: number, isCausedByAccount: boolean): Command {
  return { type: 'release', holdId, lossMicros: micros(loss), isCausedByAccount };
}

function adjustment(
  type: 'credit' | 'debit',
  of: { entryId: string; ledgerId: LedgerId; amount: number },
): Command {
  // One id may come with two ledgers; the first use decides.
  return {
    type,
    entryId: of.entryId,
    ledgerId: of.ledgerId,
    amountMicros: micros(of.amount),
    note: 'test',
  };
}

/**
 * A refusal, or an unknown hold, may be answered differently later; every other outcome is final.
 */
function isFinal({ type }: Outcome): boolean {
  return ['held', 'charged', 'released', 'credited', 'debited', 'already-resolved'].includes(type);
}

type Decision = ReturnType<typeof runCommands>;

/** Checks that the entries and charges of a step match the change of the balances. */
function assertBalances(before: Decision['book'], { book, entries, charges }: Decision): void {
  for (const id of ledgerIds) {
    const [then, now] = [before.ledgers.get(id)!, book.ledgers.get(id)!];
    const own = entries.filter((entry) => entry.ledgerId === id);
    const charged = total(
      charges.filter((charge) => charge.ledgerId === id).map((charge) => charge.costMicros),
    );
    const adjusted = own
      .filter((entry) => entry.kind === 'credit' || entry.kind === 'debit')
      .map((entry) => entry.postedDeltaMicros);
    assert.equal(now.postedMicros - then.postedMicros, total(adjusted) - charged);
    assert.equal(
      now.heldMicros - then.heldMicros,
      total(own.map((entry) => entry.heldDeltaMicros)),
    );
  }
}

type Seen = {
  readonly debited: ReadonlySet<string>;
  readonly command: Command | Expire;
  readonly outcome: Outcome;
  readonly isNew: boolean;
};

function assertPromises(
  book: Decision['book'],
  model: LedgerModel,
  { debited, command: last, outcome, isNew }: Seen,
): void {
  for (const [id, ledger] of book.ledgers) {
    assert.ok(ledger.heldMicros >= 0);
    assert.ok(availableMicrosOf(ledger) >= 0 || debited.has(id), 'an overdraft that no debit made');
    assert.equal(availableMicrosOf(ledger), model.available(id));
  }
  for (const { keyId, startsOn, settledMicros, heldMicros } of book.windows.values()) {
    assert.ok(settledMicros >= 0 && heldMicros >= 0);
    assert.equal(settledMicros + heldMicros, model.used(keyId, startsOn));
  }
  if (last.type === 'reserve' && outcome.type === 'held' && isNew) {
    assertUnderCaps(book, last.holdId);
    if (last.budget && last.amountMicros > 0) assertUnderBudget(book, last, last.budget);
  }
}

/** A newly granted hold leaves all keys of its member within the budget together. */
function assertUnderBudget(book: Book, { ledgerId, holdId }: Reserve, budget: Budget): void {
  const { day, month } = book.holds.get(holdId)!;
  const windows = [
    { kind: 'day', startsOn: day, mostMicros: budget.dailyMicros },
    { kind: 'month', startsOn: month, mostMicros: budget.monthlyMicros },
  ] as const;
  for (const { kind, startsOn, mostMicros } of windows) {
    const used = members
      .get(memberKey(ledgerId, budget.memberId))!
      .map((keyId) => windowOf(book, keyId, kind, startsOn))
      .map(({ settledMicros, heldMicros }) => settledMicros + heldMicros);
    assert.ok(mostMicros === null || total(used) <= mostMicros, `above the budget of a ${kind}`);
  }
}

/** A newly granted hold leaves its key within both caps; one of 0 micros changes nothing. */
function assertUnderCaps(book: Decision['book'], holdId: string): void {
  const hold = book.holds.get(holdId)!;
  const windows = [
    { kind: 'day', startsOn: hold.day, capMicros: hold.dailyCapMicros },
    { kind: 'month', startsOn: hold.month, capMicros: hold.monthlyCapMicros },
  ] as const;
  for (const { kind, startsOn, capMicros } of windows) {
    const { settledMicros, heldMicros } = book.windows.get(windowKey(hold.keyId, kind, startsOn))!;
    const isWithin =
      capMicros === null || hold.amountMicros === 0 || settledMicros + heldMicros <= capMicros;
    assert.ok(isWithin, `above the cap of a ${kind}`);
  }
}

function batchesOf(steps: readonly Step[]): readonly (readonly Step[])[] {
  const batches: Step[][] = [];
  for (const step of steps) {
    const last = batches.at(-1);
    if (!last || step.startsBatch) batches.push([step]);
    else last.push(step);
  }
  return batches;
}

/** One transaction for all runs, because a commit for each would take longer than the histories. */
async function addAllAccounts(database: Database): Promise<void> {
  await database.write.transaction().execute(async (transaction) => {
    for (let run = 1; run <= settings.numRuns; run++) {
      for (const [account, memberId] of [
        ['a0', 'm0'],
        ['a1', 'm1'],
      ] as const) {
        const id = prefixOf(run) + account;
        const keyIds = keysOf(account, prefixOf(run));
        await insertAccount(transaction, id, keyIds);
        await giveKeys(transaction, { ledgerId: `${id}:live`, memberId, keyIds });
      }
    }
  });
}

function prefixOf(run: number): string {
  return `r${run}-`;
}

function keysOf(account: string, prefix: string): readonly string[] {
  return keys.filter((key) => key.ledgerId === `${account}:live`).map((key) => prefix + key.keyId);
}

/** Runs share a database, so each has its own accounts, keys and ids. */
function withPrefix(item: Command | Expire, prefix: string): Command | Expire {
  const named = { ...item } as Record<string, unknown>;
  for (const field of ['holdId', 'entryId', 'ledgerId', 'keyId']) {
    if (field in named) named[field] = prefix + String(named[field]);
  }
  return named as unknown as Command | Expire;
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
