import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  addAccount,
  creditOf,
  extendOf,
  openTestDatabase,
  reserveOf,
  settleOf,
  startMs,
} from '../../../tests/support/ledger/test-ledger.ts';
import { SqliteStore } from '../../domain/ledger/sqlite/store.ts';
import { verify } from '../../domain/ledger/reports/verify.ts';
import { sqlitePathOf } from '../database.ts';
import { connectSqlite } from '../sqlite-connection.ts';

test('a ledger of the first version still works: nothing is lost, and an open hold can be extended', async (t) => {
  const database = await openTestDatabase(t);
  await addAccount(database, 'acc', ['k']);
  const connection = connectSqlite(sqlitePathOf(database.url), { readOnly: false });
  t.after(() => connection.close());
  const store = new SqliteStore(connection, { clock: () => startMs });
  const hold = (holdId: string) => ({ holdId, ledgerId: 'acc:live', keyId: 'k' }) as const;
  store.run([
    creditOf('acc:live', 100),
    reserveOf(hold('a'), 40),
    settleOf(hold('a'), 30),
    reserveOf(hold('b'), 20),
  ]);

  // The schema of the first version.
  for (const action of ['update', 'delete'])
    connection.exec(`drop trigger entries_refuse_${action}`);
  connection.exec('alter table ledgers drop column last_entry_at_ms');
  for (const column of ['cost_at_once_micros', 'cost_per_second_micros'])
    connection.exec(`alter table holds drop column ${column}`);
  const signIn = [
    'used_codes',
    'user_passkeys',
    'used_passkey_challenges',
    'account_members',
    'invitations',
    'sign_in_links',
    'attempts',
    'user_sessions',
    'user_credentials',
  ];
  for (const table of [...signIn, 'user_verifications', 'user_two_factors', 'users'])
    connection.exec(`drop table ${table}`);
  for (const table of [
    'charge_days',
    'earlier_keys',
    'key_owners',
    'member_budgets',
    'account_telemetry',
    'account_telemetry_results',
    'activity_days',
    'recent_errors',
    'request_log',
    'kept_bodies',
    'latency_days',
    'latency_sums',
    'activity_hours',
    'activity_tag_days',
    'charge_tags',
    'tag_days',
    'key_uses',
    'provider_hours',
  ]) {
    connection.exec(`drop table ${table}`);
  }
  const details = ['web_searches', 'images', 'attempts', 'duration_ms', 'first_byte_ms'];
  for (const column of details) connection.exec(`alter table charges drop column ${column}`);
  connection.exec(
    'alter table charges drop column price_id; drop table prices; drop table account_model_prices; drop table idempotent_responses',
  );
  connection.exec(
    'drop table cached_responses; drop index accounts_purged; drop index charges_cut_off; drop table audit_log',
  );
  connection.exec(
    'drop table payment_bookings; drop table payment_events; drop table payments; drop table top_ups; drop table balance_warnings',
  );
  for (const column of ['retain_responses', 'cache_generation'])
    connection.exec(`alter table accounts drop column ${column}`);
  for (const column of ['tokens_per_minute', 'concurrent_requests', 'allowed_addresses']) {
    for (const table of ['api_keys', 'accounts'])
      connection.exec(`alter table ${table} drop column ${column}`);
  }
  connection.exec(
    'alter table api_keys drop column expires_at_ms; alter table api_keys drop column disabled_at_ms; alter table accounts drop column requests_per_minute',
  );
  connection.exec('drop table loss_days; alter table entries drop column provoked');
  connection.exec('drop table secrets; alter table api_keys drop column secret_id');
  connection.exec('alter table api_keys drop column scopes');
  connection.exec('alter table api_keys drop column body_days');
  connection.exec('drop table admin_answers; drop table admin_keys');
  connection.exec('drop trigger charges_refuse_delete; drop table sealed_days; drop table sealing');
  connection.exec(
    "create trigger charges_refuse_delete before delete on charges begin select raise(abort, ''); end",
  );
  connection.exec(`delete from kysely_migration where name > '0001-foundation'`);
  const before = connection.prepare('select *, 0 as provoked from entries order by seq').all();

  assert.deepEqual((await database.migrate())[0], '0002-extensions');
  assert.deepEqual(connection.prepare('select * from entries order by seq').all(), before);
  assert.equal((await verify(database.read)).ok, true);
  const later = new SqliteStore(connection, { clock: () => startMs - 1 });
  assert.equal(later.run([extendOf(hold('b'), 1, 30)])[0]!.type, 'held');
  assert.equal((await verify(database.read)).ok, true);
  for (const change of ['update entries set loss_micros = 1', 'delete from entries']) {
    assert.throws(() => connection.exec(change), /append-only/);
  }
});
