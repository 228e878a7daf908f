import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sqlitePathOf } from '../db/database.ts';
import { connectSqlite } from '../db/sqlite-connection.ts';
import { openTestDatabase } from '../../tests/support/ledger/test-ledger.ts';

test('a page is read in the order of its index, however many charges there are', async (t) => {
  const database = await openTestDatabase(t);
  const connection = connectSqlite(sqlitePathOf(database.url), { readOnly: true });
  t.after(() => connection.close());
  const plan = connection
    .prepare(
      `explain query plan select * from charges where ledger_id = ? and (created_at_ms, id) < (?, ?)
       order by created_at_ms desc, id desc limit 21`,
    )
    .all('acc:live', 1, 'a');
  assert.match(
    String(plan[0]?.['detail']),
    /^SEARCH charges USING INDEX charges_newest_first \(ledger_id=\? AND \(created_at_ms,id\)<\(\?,\?\)\)$/,
  );
  assert.equal(plan.length, 1, 'sorts what the index has in order');
});

const indexed = {
  'charges that were cut off': {
    statement: `select * from charges where ledger_id = ? and ending = 'cut-off' and (created_at_ms, id) < (?, ?)
      order by created_at_ms desc, id desc limit 21`,
    plan: /^SEARCH charges USING INDEX charges_cut_off \(ledger_id=\? AND \(created_at_ms,id\)<\(\?,\?\)\)$/,
  },
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
  test(`${name} are read in the order of their index`, async (t) => {
    const database = await openTestDatabase(t);
    const connection = connectSqlite(sqlitePathOf(database.url), { readOnly: true });
    t.after(() => connection.close());
    const steps = connection.prepare(`explain query plan ${statement}`).all('acc:live', 1, 'a');
    assert.match(String(steps[0]?.['detail']), plan);
    assert.equal(steps.length, 1, 'sorts what the index has in order');
  });
}
