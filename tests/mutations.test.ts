// Are the guards of the ledger guarded? Each is taken out in turn, in a copy of the sources, and the ledger's own tests must notice.
// TOLLGATE_MUTATIONS=all tries every one; otherwise a share of them is tried, another each day.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

type Mutation = { readonly file: string; readonly guard: string; readonly without: string };

const core = 'core.ts';
const limits = 'limits.ts';
const mutations: Readonly<Record<string, Mutation>> = {
  'a reservation asks for no room': {
    file: core,
    guard: 'const refusal = refuseHold(book, { ledger, terms, amountMicros, nowMs: createdAtMs });',
    without: 'const refusal = null as ReturnType<typeof refuseHold>;',
  },
  'an extension asks for no room': {
    file: core,
    guard: 'const refusal = refuseHold(book, { ledger, terms: hold, amountMicros, nowMs: createdAtMs });',
    without: 'const refusal = null as ReturnType<typeof refuseHold>;',
  },
  'a reservation that comes again is made again': {
    file: core,
    guard: `const earlier = findEntry(book, command.holdId, 'reserve');`,
    without: 'const earlier = null as Entry | null;',
  },
  'an extension that comes again is made again': {
    file: core,
    guard: `const earlier = findEntry(book, id, 'extend');`,
    without: 'const earlier = null as Entry | null;',
  },
  'a settlement that comes again charges again': {
    file: core,
    guard: 'if (earlier) return { outcome: chargedBy(earlier) };',
    without: '',
  },
  'a released hold can be settled': {
    file: core,
    guard: `if (findEntry(book, command.holdId, 'release')) return alreadyResolved;`,
    without: '',
  },
  'a release that comes again books its loss again': {
    file: core,
    guard: `if (findEntry(book, command.holdId, 'release')) return { outcome: released };`,
    without: '',
  },
  'a settled hold can be released': {
    file: core,
    guard: `if (findEntry(book, command.holdId, 'settle')) return alreadyResolved;`,
    without: '',
  },
  'a hold expires twice': {
    file: core,
    guard: `if (findEntry(book, command.holdId, 'expire')) return { outcome: released };`,
    without: '',
  },
  'a credit that comes again is booked again': {
    file: core,
    guard: 'if (earlier) return { outcome: adjustedBy(type, earlier) };',
    without: '',
  },
  'a settlement for another key is accepted': {
    file: core,
    guard: 'if (!hold || !isNamedBy(command, hold)) return unknownHold;',
    without: 'if (!hold) return unknownHold;',
  },
  'an extension for another key is accepted': {
    file: core,
    guard: 'if (!isNamedBy(command, hold)) return unknownHold;',
    without: '',
  },
  'a settlement takes more than there is': {
    file: core,
    guard: 'Math.min(costMicros, heldMicros + roomMicros(book, ledger, hold))',
    without: 'costMicros',
  },
  'an expired hold is settled from what it no longer holds': {
    file: core,
    guard: 'const heldMicros = open ? open.amountMicros : zeroMicros;',
    without: 'const heldMicros = hold.amountMicros;',
  },
  'a release after the expiry gives back twice': {
    file: core,
    guard: 'heldDeltaMicros: isOpen ? negative(hold.amountMicros) : zeroMicros,',
    without: 'heldDeltaMicros: negative(hold.amountMicros),',
  },
  'a hold stays open after its end': {
    file: core,
    guard: 'else if (endsHold(entry)) draft.holds.delete(entry.id);',
    without: '',
  },
  'a clock that steps back opens an old day': {
    file: core,
    guard: 'return Math.max(nowMs, ledger.lastEntryAtMs);',
    without: 'return nowMs + 0 * ledger.lastEntryAtMs;',
  },
  'an amount below 0 is accepted': {
    file: core,
    guard: 'assert.ok(micros(value) >= 0, `an amount of money is below 0: ${value}`);',
    without: '',
  },
  'totals forget the tokens': {
    file: core,
    guard: 'draft.ledgers.set(entry.ledgerId, charge ? addTokens(ledger, charge) : ledger);',
    without: 'draft.ledgers.set(entry.ledgerId, ledger);',
  },
  'windows forget what was spent': {
    file: 'book.ts',
    guard: 'settledMicros: micros(window.settledMicros - entry.postedDeltaMicros),',
    without: 'settledMicros: window.settledMicros,',
  },
  'what is held counts as available': {
    file: 'book.ts',
    guard: 'return micros(ledger.postedMicros - ledger.heldMicros);',
    without: 'return ledger.postedMicros;',
  },
  'a frozen account can spend': { file: limits, guard: 'if (ledger.isFrozen) {', without: 'if (false as boolean) {' },
  'a cap of 0 allows what is free': { file: limits, guard: 'limit.allowsNothing || amountMicros', without: 'amountMicros' },
  'a cap forgets what is held': {
    file: limits,
    guard: 'leftMicros: capMicros - settledMicros - heldMicros,',
    without: 'leftMicros: capMicros - settledMicros,',
  },
  'a cap forgets what was spent': {
    file: limits,
    guard: 'leftMicros: capMicros - settledMicros - heldMicros,',
    without: 'leftMicros: capMicros - heldMicros,',
  },
  'the monthly cap is not looked at': {
    file: limits,
    guard: 'return [day, month, balance].filter((limit) => limit !== null);',
    without: 'return [day, balance].filter((limit) => limit !== null && limit !== month);',
  },
  'the limits refuse in another order': {
    file: limits,
    guard: 'return [day, month, balance].filter',
    without: 'return [balance, month, day].filter',
  },
  'the first limit that has room decides': {
    file: limits,
    guard: 'limits.find((limit) =>',
    without: 'limits.slice(0, 1).find((limit) =>',
  },
  'an expired hold that had grown is remembered as it began': {
    file: 'journal.ts',
    guard: 'expiry ? negative(expiry.heldDeltaMicros) : entry.heldDeltaMicros',
    without: 'expiry ? entry.heldDeltaMicros : entry.heldDeltaMicros',
  },
  'an enlarged hold is not saved': {
    file: 'changes.ts',
    guard: 'enlargedHolds: stillOpen(enlarged.filter((id) => !opened.has(id))),',
    without: 'enlargedHolds: stillOpen(enlarged.filter((id) => opened.has(id) && !opened.has(id))),',
  },
  'an ended hold is not removed': {
    file: 'changes.ts',
    guard: 'entries.filter((entry) => endsHold(entry) && !opened.has(entry.id))',
    without: 'entries.filter((entry) => endsHold(entry) && opened.has(entry.id))',
  },
  'one bad command takes its batch with it': {
    file: 'sqlite-store.ts',
    guard: 'if (commands.length > 1 && isFaultOfCommand(error))',
    without: 'if (commands.length > 1 && isFaultOfCommand(error) && commands.length < 1)',
  },
  'a failed batch is not undone': {
    file: 'sqlite-store.ts',
    guard: 'if (this.#connection.isTransaction) this.#statements.rollback();',
    without: 'if (this.#connection.isTransaction) this.#statements.commit();',
  },
};

/** In the order in which most mutations are noticed soonest. */
const suites = [
  'src/ledger/core.test.ts',
  'src/ledger/scenarios.test.ts',
  'tests/contract/verify.test.ts',
  'src/ledger/sqlite-store.test.ts',
  'tests/contract/ledger-store.test.ts',
  'tests/contract/histories.test.ts',
  'src/ledger/races.test.ts',
];
const root = join(import.meta.dirname, '..');
let copy = '';

before(() => {
  copy = mkdtempSync(join(tmpdir(), 'tollgate-mutations-'));
  for (const part of ['src', 'catalog', 'tests/contract', 'tests/support', 'package.json'])
    cpSync(join(root, part), join(copy, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
});
after(() => rmSync(copy, { recursive: true }));

test('the copy passes its tests as it is', async () => {
  for (const suite of suites) assert.equal(await passes(suite), true, suite);
});

for (const [name, mutation] of Object.entries(mutations).filter(isTriedToday)) {
  test(`the tests notice when ${name}`, async () => {
    const path = join(copy, 'src', 'ledger', mutation.file);
    const whole = readFileSync(path, 'utf8');
    assert.equal(
      whole.split(mutation.guard).length,
      2,
      `the guard is not, or not once, in ${mutation.file}: bring this list up to date`,
    );
    writeFileSync(
      path,
      whole.replace(mutation.guard, () => mutation.without),
    );
    try {
      assert.ok(await isNoticed(), 'every test passed without the guard');
    } finally {
      writeFileSync(path, whole);
    }
  });
}

async function isNoticed(): Promise<boolean> {
  for (const suite of suites) if (!(await passes(suite))) return true;
  return false;
}

/** A test that hangs has noticed as well. */
function passes(suite: string): Promise<boolean> {
  // Inside a test, node would run no tests of its own.
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
  const env = { ...inherited, TOLLGATE_HISTORIES: '150', TOLLGATE_RACES: '50' };
  return new Promise((resolve) => {
    execFile(process.execPath, ['--test', suite], { cwd: copy, env, timeout: 60_000 }, (error) => resolve(!error));
  });
}

function isTriedToday(_mutation: unknown, index: number): boolean {
  const day = Math.floor(Date.now() / 86_400_000);
  return process.env['TOLLGATE_MUTATIONS'] === 'all' || index % 4 === day % 4;
}
