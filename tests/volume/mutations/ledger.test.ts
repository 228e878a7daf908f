// The guards of the ledger, taken out in turn: its own tests must notice.
import { testMutations } from '../../support/mutations.ts';

const core = 'ledger/core.ts';
const limits = 'ledger/limits.ts';
const watchers = ['src/ledger/scenarios.test.ts', 'src/ledger/core.test.ts'];
const store = ['tests/contract/ledger-store.test.ts # on SQLite a command that cannot be run'];
const windows = ['src/ledger/window.test.ts'];
const keys = ['tests/contract/idempotency.test.ts # on SQLite (a late settlement|a dead process)'];
const keysOnPostgres = ['tests/contract/idempotency.test.ts # on PostgreSQL a settlement and a takeover'];

testMutations(watchers, {
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
    guard: 'if (freed) return freed.note === supersededNote ? { outcome: superseded } : alreadyResolved;',
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
    file: 'ledger/book.ts',
    guard: 'settledMicros: micros(window.settledMicros - entry.postedDeltaMicros),',
    without: 'settledMicros: window.settledMicros,',
  },
  'what is held counts as available': {
    file: 'ledger/book.ts',
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
    file: 'ledger/journal.ts',
    guard: 'expiry ? negative(expiry.heldDeltaMicros) : entry.heldDeltaMicros',
    without: 'expiry ? entry.heldDeltaMicros : entry.heldDeltaMicros',
  },
  'an enlarged hold is not saved': {
    file: 'ledger/changes.ts',
    guard: 'enlargedHolds: stillOpen(enlarged.filter((id) => !opened.has(id))),',
    without: 'enlargedHolds: stillOpen(enlarged.filter((id) => opened.has(id) && !opened.has(id))),',
  },
  'an ended hold is not removed': {
    file: 'ledger/changes.ts',
    guard: 'entries.filter((entry) => endsHold(entry) && !opened.has(entry.id))',
    without: 'entries.filter((entry) => endsHold(entry) && opened.has(entry.id))',
  },
  'days forget their charges': {
    file: 'ledger/changes.ts',
    guard: 'chargeDays: sumByDay(charges),',
    without: 'chargeDays: sumByDay(charges).slice(0, 0),',
  },
  'a day takes the last charge for its sum': {
    file: 'ledger/charge-days.ts',
    guard: 'charge_days.${column} + excluded.${column}',
    without: 'excluded.${column}',
  },
  'one bad command takes its batch with it': {
    file: 'ledger/sqlite-store.ts',
    guard: 'if (commands.length > 1) return',
    without: 'if (commands.length < 1) return',
    watchers: store,
  },
  'a disk that is full rejects the batch for good': {
    file: 'ledger/sqlite-store.ts',
    guard: 'if (!isFaultOfCommand(error)) throw error;',
    without: '',
    watchers: ['src/ledger/sqlite-store.test.ts # a batch waits'],
  },
  'a stream whose charge may have been made is told that it is free': {
    file: 'ledger/retrying-runner.ts',
    guard: '!(store.undoesFailed && isCompleteStream(command))',
    without: '!isCompleteStream(command)',
    watchers: ['src/ledger/retrying-runner.test.ts'],
  },
  'a failed batch is not undone': {
    file: 'ledger/sqlite-store.ts',
    guard: 'if (this.#connection.isTransaction) this.#statements.rollback();',
    without: 'if (this.#connection.isTransaction) this.#statements.commit();',
    watchers: store,
  },
  'a daily cap lasts for a month': {
    file: 'ledger/window.ts',
    guard: 'return isoOf(timeMs).slice(0, 10);',
    without: 'return isoOf(timeMs).slice(0, 7);',
  },
  'a monthly cap lasts for a year': {
    file: 'ledger/window.ts',
    guard: 'return isoOf(timeMs).slice(0, 7);',
    without: 'return isoOf(timeMs).slice(0, 4);',
  },
  'a daily cap is told to start anew a day too late': {
    file: 'ledger/window.ts',
    guard: 'time.getUTCDate() + 1);',
    without: 'time.getUTCDate() + 2);',
  },
  'a monthly cap is told to start anew a month too late': {
    file: 'ledger/window.ts',
    guard: 'time.getUTCMonth() + 1);',
    without: 'time.getUTCMonth() + 2);',
  },
  'caps start anew by the time zone of the machine': {
    file: 'ledger/window.ts',
    guard: 'iso: new Date(timeMs).toISOString() }',
    without: 'iso: new Date(timeMs - new Date(timeMs).getTimezoneOffset() * 60_000).toISOString() }',
    watchers: windows,
  },
  'a daily cap is told to start anew by the time zone of the machine': {
    file: 'ledger/window.ts',
    guard: 'time.getUTCDate() + 1);',
    without: 'time.getDate() + 1);',
    watchers: windows,
  },
  'a monthly cap is told to start anew by the time zone of the machine': {
    file: 'ledger/window.ts',
    guard: 'Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + 1);',
    without: 'Date.UTC(time.getUTCFullYear(), time.getMonth() + 1);',
    watchers: windows,
  },
  'a settlement charges under a key that another has taken over': {
    file: core,
    guard: `if (isSuperseded(book, command)) return supersede(book, hold, { command, isOpen: open !== undefined, nowMs });`,
    without: '',
    watchers: keys,
  },
  'a key that is free counts as still taken by whoever had it first': {
    file: core,
    guard: 'book.claims.get(claimKey(keyId, stored.keyDigest)) !== holdId',
    without: '(book.claims.get(claimKey(keyId, stored.keyDigest)) ?? holdId) !== holdId',
    watchers: keys,
  },
  'a late settlement that comes again is answered otherwise': {
    file: core,
    guard: 'if (freed) return freed.note === supersededNote ? { outcome: superseded } : alreadyResolved;',
    without: 'if (freed) return alreadyResolved;',
    watchers: keys,
  },
  'what a late answer cost the operator is forgotten': {
    file: core,
    guard: 'const lossMicros = unbookedLossOf(book, command.holdId, command.record.upstreamCostMicros);',
    without: 'const lossMicros = zeroMicros;',
    watchers: keys,
  },
  'a key is taken over while it is settled, on PostgreSQL': {
    file: 'ledger/postgres-statements.ts',
    guard: 'order by key_id, key_digest for update`;',
    without: 'order by key_id, key_digest`;',
    watchers: keysOnPostgres,
  },
});
