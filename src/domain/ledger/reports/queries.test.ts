import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sqlitePathOf } from '../../../db/database.ts';
import type { Span } from '../../../db/search-steps.ts';
import { connectSqlite } from '../../../db/sqlite/connection.ts';
import { openTestDatabase } from '../../../../tests/support/ledger/test-ledger.ts';
import { type ChargeFilter, selectCharges } from './queries.ts';

const ledgerId = 'acc:live';
const cursor = { createdAtMs: 500, id: 'a' };
const open: Span = { fromMs: null, toMs: null };
const afterCursor =
  /^SEARCH charges USING PRIMARY KEY \(ledger_id=\? AND \(created_at_ms,id\)<\(\?,\?\)\)$/;
const between =
  /^SEARCH charges USING PRIMARY KEY \(ledger_id=\? AND created_at_ms>\? AND \(created_at_ms,id\)<\(\?,\?\)\)$/;
const cutOff =
  /^SEARCH charges USING INDEX charges_cut_off \(ledger_id=\? AND \(created_at_ms,id\)<\(\?,\?\)\)$/;

// Each page starts where the previous one ended, so that a long history is not read again for every
// page.
const pages: [name: string, filter: ChargeFilter, span: Span, plan: RegExp][] = [
  ['all charges', {}, open, afterCursor],
  ['charges that were cut off', { ending: 'cut-off' }, open, cutOff],
  ['charges of a time', {}, { fromMs: 100, toMs: 900 }, between],
  ['charges up to a time', {}, { fromMs: null, toMs: 900 }, afterCursor],
  ['charges of a key', { keyId: 'k' }, { fromMs: 100, toMs: 900 }, between],
  [
    'charges of a model by a key',
    { keyId: 'k', modelId: 'm' },
    { fromMs: 100, toMs: 900 },
    between,
  ],
  [
    'charges of a cost and a duration',
    { costMinMicros: 5, costMaxMicros: 9, durationMinMs: 100 },
    { fromMs: 100, toMs: 900 },
    between,
  ],
];
for (const [name, filter, span, plan] of pages) {
  test(`a page of ${name} is read from an index, starting at the cursor, for any number of charges`, async (t) => {
    const database = await openTestDatabase(t);
    const connection = connectSqlite(sqlitePathOf(database.url), { readOnly: true });
    t.after(() => connection.close());
    const { sql, parameters } = selectCharges(
      database.read,
      { ledgerId, cursor, ...filter },
      { ...span, rowsMax: 21 },
    ).compile();
    const steps = connection
      .prepare(`explain query plan ${sql}`)
      .all(...(parameters as (string | number)[]));
    assert.match(String(steps[0]?.['detail']), plan);
    assert.equal(steps.length, 1, 'sorts what the index has in order');
  });
}

const indexed = {
  'credits and debits': {
    statement: `select * from entries where ledger_id = ? and key_id is null and (created_at_ms, seq) < (?, ?)
      order by created_at_ms desc, seq desc limit 21`,
    plan: /^SEARCH entries USING INDEX entries_adjustments \(ledger_id=\? AND created_at_ms<\?\)$/,
  },
  'days of charges': {
    statement: `select day, sum(requests) from charge_days where ledger_id = ? and day < ? group by day order by day desc limit ?`,
    plan: /^SEARCH charge_days USING PRIMARY KEY \(ledger_id=\? AND day<\?\)$/,
  },
};

for (const [name, { statement, plan }] of Object.entries(indexed)) {
  test(`${name} are read in index order`, async (t) => {
    const database = await openTestDatabase(t);
    const connection = connectSqlite(sqlitePathOf(database.url), { readOnly: true });
    t.after(() => connection.close());
    const steps = connection.prepare(`explain query plan ${statement}`).all('acc:live', 1, 'a');
    assert.match(String(steps[0]?.['detail']), plan);
    assert.equal(steps.length, 1, 'sorts what the index has in order');
  });
}
