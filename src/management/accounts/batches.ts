// An account's batches.
import { noSuch } from '../../canonical/errors.ts';
import { type Batch, statusOf } from '../../domain/batches/batch-store.ts';
import { readKeyNames } from '../../domain/keys/manage-keys.ts';
import { isoTimeOf } from '../../lib/iso-time.ts';
import type { batchesEndpoints } from '../contract/batches.ts';
import type { ManagementContext } from '../context.ts';
import type { Handlers } from '../handlers.ts';
import { pageByTime } from '../paging.ts';

export const batchesHandlers: Handlers<typeof batchesEndpoints> = {
  'GET /accounts/:account/batches': ({ context, params, query: { mode = 'live' }, page }) =>
    pageByTime(page, async ({ limit, cursor }) => {
      const owner = { accountId: params.account, mode };
      const after = cursor && { id: cursor.id, created_at_ms: cursor.createdAtMs };
      const found = await context.batches.parts.store.newest(owner, limit, after);
      const shown = found.slice(0, limit);
      const last = found.length > limit ? shown.at(-1)! : null;
      const next = last && { createdAtMs: last.created_at_ms, id: last.id };
      return { rows: await listed(context, shown), next };
    }),

  'POST /accounts/:account/batches/:batch/cancel': async ({ context, params, changes }) => {
    const { account: accountId, batch: id } = params;
    const { parts, queue } = context.batches;
    const find = async () => {
      const batch = await parts.store.findShown(accountId, id);
      if (batch) return batch;
      throw noSuch('batch');
    };
    await find();
    await changes.commit(async ({ write }) => {
      const isCancelled = await parts.store.cancel(id, changes.clock.nowMs(), write);
      const about = { action: 'batch.cancel', subject: id, accountId } as const;
      const fields = { before: { state: 'running' }, after: { state: 'cancelling' } };
      return { change: isCancelled ? { ...about, ...fields } : null };
    });
    await queue.noteCancelled(id);
    const [batch] = await listed(context, [await find()]);
    return batch!;
  },
};

async function listed({ database, batches }: ManagementContext, rows: readonly Batch[]) {
  const { store } = batches.parts;
  const names = await readKeyNames(database.read, [...new Set(rows.map((row) => row.key_id))]);
  return Promise.all(
    rows.map(async (row) => {
      const [counts, money] = await Promise.all([store.countsOf(row), store.moneyOf(row)]);
      const { waiting, succeeded, errored, canceled, expired } = counts;
      return {
        id: row.id,
        key: { id: row.key_id, name: names.get(row.key_id) ?? '' },
        mode: row.mode,
        endpoint: row.endpoint,
        status: statusOf(row, counts),
        lines: {
          total: row.lines,
          waiting: waiting.lines,
          succeeded: succeeded.lines,
          failed: errored.lines,
          cancelled: canceled.lines,
          expired: expired.lines,
        },
        cost_micros: money.cost,
        held_micros: money.held,
        created_at: new Date(row.created_at_ms).toISOString(),
        expires_at: new Date(row.expires_at_ms).toISOString(),
        ended_at: isoTimeOf(row.ended_at_ms),
      };
    }),
  );
}
