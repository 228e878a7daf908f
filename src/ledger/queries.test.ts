import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sqlitePathOf } from '../db/database.ts';
import { connectSqlite } from '../db/sqlite-connection.ts';
import { openTestDatabase } from './fixture.ts';

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
