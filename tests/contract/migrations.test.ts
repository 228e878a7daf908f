// Books of the first version, as it left them, brought up to date: nothing is lost, the guards are still there, and charging goes on.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDatabase } from '../../src/db/database.ts';
import { migrateToLatest } from '../../src/db/migrate.ts';
import { migrations } from '../../src/db/migrations/list.ts';
import { extendOf, settleOf, startMs } from '../support/ledger/test-ledger.ts';
import { verify } from '../../src/ledger/verify.ts';
import { onEachStore } from './stores.ts';

const first = '0001-foundation';

/** 100 in, a charge of 30 (100 input and 10 output tokens), and an open hold of 20. */
const books = `
insert into accounts (id, name, created_at_ms) values ('acc', 'A', 0);
insert into api_keys (id, account_id, mode, name, digest, hint, created_at_ms) values ('k', 'acc', 'live', 'K', 'd', 'h', 0);
insert into ledgers (id, account_id, mode, posted_micros, held_micros, input_tokens, output_tokens)
  values ('acc:live', 'acc', 'live', 70, 20, 100, 10);
insert into key_windows values ('k', 'day', '2026-11-21', 30, 20), ('k', 'month', '2026-11', 30, 20);
insert into holds values ('b', 'acc:live', 'k', 20, '2026-11-21', '2026-11', null, null, 'run_1', ${startMs});
insert into entries (id, kind, ledger_id, key_id, posted_delta_micros, held_delta_micros, loss_micros, available_micros, day, month, created_at_ms)
  values ('c', 'credit', 'acc:live', null, 100, 0, 0, 100, null, null, ${startMs}),
    ('a', 'reserve', 'acc:live', 'k', 0, 40, 0, 60, '2026-11-21', '2026-11', ${startMs}),
    ('a', 'settle', 'acc:live', 'k', -30, -40, 0, 70, '2026-11-21', '2026-11', ${startMs}),
    ('b', 'reserve', 'acc:live', 'k', 0, 20, 0, 50, '2026-11-21', '2026-11', ${startMs});
insert into charges values
  ('a', 'acc:live', 'k', 'm', 'M', 'chat', 'p', 60, 40, 0, 0, 10, 0, 'upstream', '0', 1, 'complete', 0, 30, 0, 40, ${startMs})`;

onEachStore((store) => {
  test('books of the first version go on in this one', async (t) => {
    const database = openDatabase(await store.createUrl(t));
    t.after(() => database.close());
    const all = migrations[store.dialect];
    assert.deepEqual(await migrateToLatest(database.write, { [first]: all[first]! }), [first]);
    await store.execute(database, books);

    assert.deepEqual(await database.migrate(), Object.keys(all).slice(1));
    assert.deepEqual(await verify(database.read), {
      ok: true,
      ledgers: 1,
      entries: 4,
      charges: 1,
      uncollectedMicros: 0,
      failedMicros: 0,
    });
    const details = await database.read.selectFrom('charges').select(['attempts', 'duration_ms', 'first_byte_ms']).execute();
    assert.deepEqual({ ...details[0] }, { attempts: 1, duration_ms: null, first_byte_ms: null });
    const { ledger_id, key_id, model_id, endpoint, ...sums } = (await database.read
      .selectFrom('charge_days')
      .selectAll()
      .executeTakeFirst())!;
    assert.deepEqual([ledger_id, key_id, model_id, endpoint], ['acc:live', 'k', 'm', 'chat']);
    assert.deepEqual(sums, {
      day: '2026-11-21',
      requests: 1,
      input_tokens: 100,
      cached_tokens: 40,
      output_tokens: 10,
      images: 0,
      cost_micros: 30,
      upstream_cost_micros: 1,
      loss_micros: 0,
    });
    const uses = await database.read.selectFrom('key_uses').selectAll().execute();
    assert.deepEqual({ ...uses[0] }, { key_id: 'k', last_used_at_ms: startMs });
    for (const change of ['update entries set loss_micros = 1', 'delete from entries', 'update charges set loss_micros = 1']) {
      await assert.rejects(store.execute(database, change), /append-only/);
    }
    const hold = { holdId: 'b', ledgerId: 'acc:live', keyId: 'k' } as const;
    const replies = await store.openStore(t, database).run([extendOf(hold, 1, 30), settleOf(hold, 50)]);
    assert.deepEqual(
      replies.map(({ type }) => type),
      ['held', 'charged'],
    );
    assert.deepEqual(await verify(database.read), {
      ok: true,
      ledgers: 1,
      entries: 6,
      charges: 2,
      uncollectedMicros: 0,
      failedMicros: 0,
    });
  });
});
