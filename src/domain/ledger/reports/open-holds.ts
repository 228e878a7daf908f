// The open holds of all gateways on the database, for the metrics.
import { sql } from 'kysely';
import type { Db } from '../../../db/schema.ts';
import type { Mode } from '../../../terms/mode.ts';
import { batchOwner } from '../../../terms/batch.ts';
import { type Micros, zeroMicros } from '../../../lib/money.ts';

export type OpenHolds = {
  readonly count: number;
  readonly amountMicros: Micros;
  /**
   * When the oldest was placed, in Unix milliseconds; null: there is none. Those of lines that wait in
   * batches do not count: they may be a day old.
   */
  readonly oldestAtMs: number | null;
};

/** Returns the open holds by mode. Reads each open hold once, and nothing else. */
export async function readOpenHolds(db: Db): Promise<Readonly<Record<Mode, OpenHolds>>> {
  const mode = sql<Mode>`case when ledger_id like '%:live' then 'live' else 'test' end`;
  const rows = await db
    .selectFrom('holds')
    .select(({ fn }) => [
      mode.as('mode'),
      fn.countAll<number>().as('count'),
      fn.sum<Micros>('amount_micros').as('amountMicros'),
      fn
        .min<number | null>(sql`case when owner <> ${batchOwner} then created_at_ms end`)
        .as('oldestAtMs'),
    ])
    .groupBy(mode)
    .execute();
  const none = { count: 0, amountMicros: zeroMicros, oldestAtMs: null };
  const ofMode = (name: Mode): OpenHolds => rows.find((found) => found.mode === name) ?? none;
  return { live: ofMode('live'), test: ofMode('test') };
}
