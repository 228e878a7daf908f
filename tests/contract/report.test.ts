import assert from 'node:assert/strict';
import { test } from 'node:test';
import { micros } from '../../src/lib/money.ts';
import {
  addAccount,
  creditOf,
  record,
  reserveOf,
  settleOf,
  startMs,
} from '../support/ledger/test-ledger.ts';
import {
  report,
  type ReportGroup,
  reportTop,
  totalOf,
} from '../../src/domain/ledger/reports/report.ts';
import { verify } from '../../src/domain/ledger/reports/verify.ts';
import { onEachStore } from './stores.ts';

const dayMs = 86_400_000;

onEachStore((store) => {
  test('revenue, cost, losses and margin are reported by day, account, key and model', async (t) => {
    const database = await store.openDatabase(t);
    await addAccount(database, 'a', ['k1', 'k2']);
    await addAccount(database, 'b', ['k3']);
    const clock = { nowMs: startMs };
    const books = store.openStore(t, database, { clock });
    const charge = async (keyId: string, modelId: string, [cost, upstream]: [number, number]) => {
      const hold = {
        holdId: `${keyId}-${modelId}-${clock.nowMs}`,
        ledgerId: keyId === 'k3' ? 'b:live' : 'a:live',
        keyId,
      } as const;
      const settle = settleOf(hold, cost);
      await books.run([
        reserveOf(hold, Math.min(cost, 60)),
        { ...settle, record: { ...record, modelId, upstreamCostMicros: micros(upstream) } },
      ]);
    };
    await books.run([creditOf('a:live', 100), creditOf('b:live', 1_000)]);
    await charge('k1', 'm1', [40, 30]);
    await charge('k2', 'm2', [80, 50]); // 60 were left
    clock.nowMs += dayMs;
    await charge('k3', 'm1', [10, 12]);
    const failed = { holdId: 'f', ledgerId: 'b:live', keyId: 'k3' } as const;
    await books.run([
      reserveOf(failed, 5),
      { type: 'release', holdId: 'f', lossMicros: micros(3) },
    ]);

    const table = async (by: ReportGroup, from = 0) => {
      const rows = await report(database.read, {
        by,
        mode: 'live',
        fromMs: from,
        toMs: startMs + 5 * dayMs,
      });
      return rows.map((row) => [
        row.group,
        row.requests,
        row.revenueMicros,
        row.costMicros,
        row.uncollectedMicros,
        row.failedMicros,
        row.marginMicros,
      ]);
    };
    assert.deepEqual(await table('day'), [
      ['2026-11-21', 2, 100, 80, 20, 0, 20],
      ['2026-11-22', 1, 10, 12, 0, 3, -5],
    ]);
    assert.deepEqual(await table('account'), [
      ['a', 2, 100, 80, 20, 0, 20],
      ['b', 1, 10, 12, 0, 3, -5],
    ]);
    assert.deepEqual(await table('key'), [
      ['k1', 1, 40, 30, 0, 0, 10],
      ['k2', 1, 60, 50, 20, 0, 10],
      ['k3', 1, 10, 12, 0, 3, -5],
    ]);
    assert.deepEqual(await table('model'), [
      ['', 0, 0, 0, 0, 3, -3],
      ['m1', 2, 50, 42, 0, 0, 8],
      ['m2', 1, 60, 50, 20, 0, 10],
    ]);
    assert.deepEqual(await table('day', startMs + dayMs), [['2026-11-22', 1, 10, 12, 0, 3, -5]]);
    const all = { mode: 'live', fromMs: 0, toMs: startMs + 5 * dayMs } as const;
    const top = async (by: ReportGroup, limit: number) =>
      (await reportTop(database.read, { ...all, by }, limit)).map((row) => [
        row.group,
        row.revenueMicros,
        row.marginMicros,
      ]);
    assert.deepEqual(await top('model', 10), [
      ['m2', 60, 10],
      ['m1', 50, 8],
      ['', 0, -3],
    ]);
    assert.deepEqual(await top('model', 2), [
      ['m2', 60, 10],
      ['m1', 50, 8],
    ]);
    assert.deepEqual(await top('key', 1), [['k2', 60, 10]]);
    const totals = totalOf(await report(database.read, { ...all, by: 'day' }));
    assert.deepEqual(
      [totals.requests, totals.revenueMicros, totals.costMicros, totals.marginMicros],
      [3, 110, 92, 15],
    );
    assert.deepEqual(
      await report(database.read, { by: 'day', mode: 'test', fromMs: 0, toMs: startMs * 2 }),
      [],
    );
  });

  test('the likely cost of killed requests is a loss until their own process settles or releases them', async (t) => {
    const database = await store.openDatabase(t);
    await addAccount(database, 'a', ['k']);
    const books = store.openStore(t, database);
    const hold = (holdId: string) => ({ holdId, ledgerId: 'a:live', keyId: 'k' }) as const;
    const likelyCost = { atOnceMicros: micros(9), perSecondMicros: micros(0) };
    const ids = [
      'killed',
      'paused, then charged',
      'paused, then failed',
      'paused, then refused by its provider',
    ];
    await books.run([
      creditOf('a:live', 1_000),
      ...ids.map((id) => ({ ...reserveOf(hold(id), 20), likelyCost })),
      ...ids.map((holdId) => ({ type: 'expire', holdId, ownerEndedAtMs: null }) as const),
    ]);
    const failed = async () => {
      const [row] = await report(database.read, {
        by: 'key',
        mode: 'live',
        fromMs: 0,
        toMs: startMs * 2,
      });
      const verified = await verify(database.read);
      assert.equal(verified.ok && verified.failedMicros, row!.failedMicros);
      return row!.failedMicros;
    };
    assert.equal(await failed(), 4 * 9);
    const settle = settleOf(hold(ids[1]!), 15);
    await books.run([{ ...settle, record: { ...record, upstreamCostMicros: micros(12) } }]);
    assert.equal(await failed(), 3 * 9, 'its real cost is the cost of its charge');
    await books.run([{ type: 'release', holdId: ids[2]!, lossMicros: micros(12) }]);
    assert.equal(await failed(), 2 * 9 + 12);
    await books.run([{ type: 'release', holdId: ids[3]!, lossMicros: micros(0) }]);
    assert.equal(await failed(), 9 + 12);
  });
});
