// Removes each guard of the ledger in turn: its own tests must fail.
import { testMutations } from '../../support/mutations.ts';

const core = 'domain/ledger/core.ts';
const limits = 'domain/ledger/limits.ts';
const watchers = ['src/domain/ledger/scenarios.test.ts', 'src/domain/ledger/core.test.ts'];
const store = ['tests/contract/ledger-store.test.ts # on SQLite a command that cannot be run'];
const full = ['src/domain/ledger/sqlite/store.test.ts # a batch that fails on'];
const windows = ['src/lib/utc-time.test.ts'];
const keys = ['tests/contract/idempotency.test.ts # on SQLite (a late settlement|a dead process)'];
const keysOnPostgres = [
  'tests/contract/idempotency.test.ts # on PostgreSQL a settlement and a takeover',
];

testMutations(watchers, {
  'a reservation does not check the limits': {
    file: core,
    guard: ': refuseHold(book, { ...limited, amountMicros, nowMs: createdAtMs });',
    without: ': (null as ReturnType<typeof refuseHold>);',
  },
  'an extension does not check the limits': {
    file: core,
    guard:
      'if (refusal) return { outcome: refusal };\n  const entry = newEntry(ledger, {\n    ...entryFieldsOf(hold),',
    without: 'const entry = newEntry(ledger, {\n    ...entryFieldsOf(hold),',
  },
  'a reservation does not check the budget': {
    file: core,
    guard: 'const { budget, isForLoss = false } = command;',
    without: 'const { isForLoss = false } = command;\n  const budget = undefined;',
  },
  'an extension does not check the budget': {
    file: core,
    guard: 'terms: hold,\n    budget: command.budget,',
    without: 'terms: hold,\n    budget: undefined,',
  },
  'a settlement does not check the budget': {
    file: core,
    guard: '{ ledger, terms: hold, budget: command.budget }',
    without: '{ ledger, terms: hold, budget: undefined }',
  },
  'a budget counts one key only': {
    file: limits,
    guard: 'book.members.get(memberKey(terms.ledgerId, budget.memberId)) ?? []',
    without: '[terms.keyId]',
  },
  'a repeated reservation is made again': {
    file: core,
    guard: `const earlier = findEntry(book, command.holdId, 'reserve');`,
    without: 'const earlier = null as Entry | null;',
  },
  'a repeated extension is made again': {
    file: core,
    guard: `const earlier = findEntry(book, id, 'extend');`,
    without: 'const earlier = null as Entry | null;',
  },
  'a repeated settlement charges again': {
    file: core,
    guard: 'if (earlier) return { outcome: chargedBy(earlier) };',
  },
  'a released hold can be settled': {
    file: core,
    guard:
      'if (freed) return freed.note === supersededNote ? { outcome: superseded } : alreadyResolved;',
  },
  'a repeated release books its loss again': {
    file: core,
    guard: `if (findEntry(book, command.holdId, 'release')) return { outcome: released };`,
  },
  'a settled hold can be released': {
    file: core,
    guard: `if (findEntry(book, command.holdId, 'settle')) return alreadyResolved;`,
  },
  'a hold expires twice': {
    file: core,
    guard: `if (findEntry(book, command.holdId, 'expire')) return { outcome: released };`,
  },
  'a repeated credit is booked again': {
    file: core,
    guard: 'if (earlier) return { outcome: adjustedBy(earlier) };',
  },
  'a settlement for another key is accepted': {
    file: core,
    guard: 'if (!hold || !matchesHold(command, hold)) return unknownHold;',
    without: 'if (!hold) return unknownHold;',
  },
  'an extension for another key is accepted': {
    file: core,
    guard: 'if (!matchesHold(command, hold)) return unknownHold;',
  },
  'a settlement takes more than the balance': {
    file: core,
    guard: 'Math.min(costMicros, heldMicros + room)',
    without: 'costMicros',
  },
  'an expired hold is settled from the released amount': {
    file: core,
    guard: 'const heldMicros = open ? open.amountMicros : zeroMicros;',
    without: 'const heldMicros = hold.amountMicros;',
  },
  'a release after the expiry releases twice': {
    file: core,
    guard: 'heldDeltaMicros: isOpen ? negative(hold.amountMicros) : zeroMicros,',
    without: 'heldDeltaMicros: negative(hold.amountMicros),',
  },
  'a hold stays open after it ended': {
    file: core,
    guard: 'else if (endsHold(entry)) draft.holds.delete(entry.id);',
  },
  'a clock that goes backwards opens an old day': {
    file: core,
    guard: 'return Math.max(nowMs, ledger.lastEntryAtMs);',
    without: 'return nowMs + 0 * ledger.lastEntryAtMs;',
  },
  'an amount below 0 is accepted': {
    file: core,
    guard: 'assert.ok(micros(value) >= 0, `an amount of money is below 0: ${value}`);',
  },
  'totals forget the tokens': {
    file: core,
    guard: 'draft.ledgers.set(entry.ledgerId, charge ? addTokens(ledger, charge) : ledger);',
    without: 'draft.ledgers.set(entry.ledgerId, ledger);',
  },
  'windows forget spent amounts': {
    file: 'domain/ledger/book.ts',
    guard: 'settledMicros: micros(window.settledMicros - entry.postedDeltaMicros),',
    without: 'settledMicros: window.settledMicros,',
  },
  'held amounts count as available': {
    file: 'domain/ledger/book.ts',
    guard: 'return micros(ledger.postedMicros - ledger.heldMicros);',
    without: 'return ledger.postedMicros;',
  },
  'a frozen account can spend': {
    file: limits,
    guard: 'if (ledger.isFrozen) {',
    without: 'if (false as boolean) {',
  },
  'a cap of 0 allows free requests': {
    file: limits,
    guard: 'limit.allowsNothing || amountMicros',
    without: 'amountMicros',
  },
  'a cap ignores held amounts': {
    file: limits,
    guard: 'leftMicros: capMicros - spentMicros - heldMicros,',
    without: 'leftMicros: capMicros - spentMicros,',
  },
  'a cap ignores spent amounts': {
    file: limits,
    guard: 'leftMicros: capMicros - spentMicros - heldMicros,',
    without: 'leftMicros: capMicros - heldMicros,',
  },
  'the monthly cap is not checked': {
    file: limits,
    guard: '        capMicros: monthlyCapMicros,',
    without: '        capMicros: null,',
  },
  'the limits refuse in another order': {
    file: limits,
    guard: 'return limits;\n}\n\ntype Cap',
    without: 'return limits.toReversed();\n}\n\ntype Cap',
  },
  'the first limit with room decides': {
    file: limits,
    guard: 'limits.find((limit) =>',
    without: 'limits.slice(0, 1).find((limit) =>',
  },
  'an expired hold that had grown is stored with its first amount': {
    file: 'domain/ledger/journal.ts',
    guard: 'expiry ? negative(expiry.heldDeltaMicros) : entry.heldDeltaMicros',
    without: 'expiry ? entry.heldDeltaMicros : entry.heldDeltaMicros',
  },
  'an extended hold is not saved': {
    file: 'domain/ledger/changes.ts',
    guard: 'enlargedHolds: stillOpen(enlarged.filter((id) => !opened.has(id))),',
    without:
      'enlargedHolds: stillOpen(enlarged.filter((id) => opened.has(id) && !opened.has(id))),',
  },
  'an ended hold is not removed': {
    file: 'domain/ledger/changes.ts',
    guard: '.filter((entry) => endsHold(entry) && !opened.has(entry.id))',
    without: '.filter((entry) => endsHold(entry) && opened.has(entry.id))',
  },
  'days forget their charges': {
    file: 'domain/ledger/changes.ts',
    guard: 'chargeDays: sumByDay(charges),',
    without: 'chargeDays: sumByDay(charges).slice(0, 0),',
  },
  'a day’s sum is its last charge': {
    file: 'domain/ledger/table.ts',
    guard: '${name}.${column} + excluded.${column}',
    without: 'excluded.${column}',
  },
  'one bad command fails its batch': {
    file: 'domain/ledger/sqlite/store.ts',
    guard: "this.#connection.exec('rollback to one_command');",
    without: 'throw error;',
    watchers: store,
  },
  'a full disk rejects the batch permanently': {
    file: 'domain/ledger/sqlite/store.ts',
    guard: 'if (!isFaultOfCommand(error)) throw error;',
    watchers: full,
  },
  'a stream that may have been charged is reported as free': {
    file: 'domain/ledger/retrying-runner.ts',
    guard: '!maybeMade.has(command) &&',
    watchers: ['src/domain/ledger/retrying-runner.test.ts'],
  },
  'a failed batch is not rolled back': {
    file: 'domain/ledger/sqlite/store.ts',
    guard: 'if (this.#connection.isTransaction) this.#statements.rollback();',
    without: 'if (this.#connection.isTransaction) this.#statements.commit();',
    watchers: full,
  },
  'a daily cap lasts for a month': {
    file: 'lib/utc-time.ts',
    guard: 'return isoOf(timeMs).slice(0, 10);',
    without: 'return isoOf(timeMs).slice(0, 7);',
  },
  'a monthly cap lasts for a year': {
    file: 'lib/utc-time.ts',
    guard: 'return isoOf(timeMs).slice(0, 7);',
    without: 'return isoOf(timeMs).slice(0, 4);',
  },
  'the reported reset of a daily cap is a day too late': {
    file: 'lib/utc-time.ts',
    guard: 'time.getUTCDate() + 1);',
    without: 'time.getUTCDate() + 2);',
  },
  'the reported reset of a monthly cap is a month too late': {
    file: 'lib/utc-time.ts',
    guard: 'time.getUTCMonth() + 1);',
    without: 'time.getUTCMonth() + 2);',
  },
  'caps reset in the machine’s time zone': {
    file: 'lib/utc-time.ts',
    guard: 'iso: new Date(timeMs).toISOString() }',
    without:
      'iso: new Date(timeMs - new Date(timeMs).getTimezoneOffset() * 60_000).toISOString() }',
    watchers: windows,
  },
  'the reported reset of a daily cap uses the machine’s time zone': {
    file: 'lib/utc-time.ts',
    guard: 'time.getUTCDate() + 1);',
    without: 'time.getDate() + 1);',
    watchers: windows,
  },
  'the reported reset of a monthly cap uses the machine’s time zone': {
    file: 'lib/utc-time.ts',
    guard: 'Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + 1);',
    without: 'Date.UTC(time.getUTCFullYear(), time.getMonth() + 1);',
    watchers: windows,
  },
  'a settlement charges under a key that another process has taken over': {
    file: core,
    guard: 'if (isSuperseded(book, command))',
    without: 'if (isSuperseded(book, command) && false)',
    watchers: keys,
  },
  'a free key counts as taken by its first owner': {
    file: core,
    guard: 'book.claims.get(claimKey(keyId, stored.keyDigest)) !== holdId',
    without: '(book.claims.get(claimKey(keyId, stored.keyDigest)) ?? holdId) !== holdId',
    watchers: keys,
  },
  'a repeated late settlement gets another answer': {
    file: core,
    guard:
      'if (freed) return freed.note === supersededNote ? { outcome: superseded } : alreadyResolved;',
    without: 'if (freed) return alreadyResolved;',
    watchers: keys,
  },
  'the operator’s loss from a late answer is forgotten': {
    file: core,
    guard: 'const lossMicros = amountOf(command.record.upstreamCostMicros);',
    without: 'const lossMicros = zeroMicros;',
    watchers: keys,
  },
  'a key is taken over while it is settled, on PostgreSQL': {
    file: 'domain/ledger/postgres/statements.ts',
    guard: 'order by key_id, key_digest for update`;',
    without: 'order by key_id, key_digest`;',
    watchers: keysOnPostgres,
  },
});

const removal = ['tests/contract/retention.test.ts # on SQLite (a charge that|a day half|a file)'];
const removalSteps = ['tests/contract/retention.test.ts # on SQLite between two steps'];
const removeDays = 'domain/ledger/seals/remove-days.ts';
const exportFile = 'domain/ledger/seals/export-file.ts';

testMutations(removal, {
  'a charge that no seal covers is removed': {
    file: removeDays,
    guard: 'if (uncovered) return',
    without: 'if (uncovered && false) return',
  },
  'a removal once begun waits until the day is old enough again': {
    file: removeDays,
    guard: 'if (seal.until_ms > keptMs && seal.removing_since_ms === null) return;',
    without: 'if (seal.until_ms > keptMs) return;',
  },
  'a deletion does not let the ledger write': {
    file: removeDays,
    guard: 'await pause();',
    watchers: removalSteps,
  },
  'the head of a file is not compared': {
    file: exportFile,
    guard: 'if (!heads.includes(line)) return false;',
  },
  'a file that was there is not flushed': {
    file: exportFile,
    guard: 'await flush(path);',
  },
});

const seals = 'tests/contract/seals.test.ts';

testMutations([`${seals} # on SQLite a charge while its day`], {
  'a day is audited before it is closed': {
    file: 'domain/ledger/seals/seal-day.ts',
    guard: 'await closeDays(write, untilMs);',
  },
  'the audit of a day does not wait for batches, on PostgreSQL': {
    file: 'domain/ledger/seals/sealing-turn.ts',
    guard: 'if (!isSqlite(write)) await waitForWriters(write);',
    watchers: [`${seals} # on PostgreSQL a day is sealed after`],
  },
});

testMutations(['tests/contract/histories.test.ts # on SQLite random histories'], {
  'rows are kept that another connection has changed': {
    file: 'domain/ledger/sqlite/kept-rows.ts',
    guard: 'if (current !== version) forget();',
  },
  'an ended hold is kept': {
    file: 'domain/ledger/sqlite/kept-rows.ts',
    guard: 'holds.delete(id);',
  },
  'rows of a transaction that was rolled back are kept': {
    file: 'domain/ledger/sqlite/store.ts',
    guard: 'this.#statements.forget();\n      this.#lease',
    without: 'this.#lease',
  },
  'rows of a command that was rolled back are kept': {
    file: 'domain/ledger/sqlite/store.ts',
    guard: 'this.#statements.forget();\n      return {',
    without: 'return {',
  },
});
