// Warns owners once when the live balance falls below their threshold, and again only after it has
// recovered. Holds of running requests do not count, because they come and go. Every gateway
// checks; a claim in the row decides which one sends.
import { type Kysely, sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { Tables } from '../../db/schema.ts';
import type { Micros } from '../../lib/money.ts';

type LowBalance = {
  readonly accountId: string;
  readonly accountName: string;
  readonly balanceMicros: Micros;
  readonly thresholdMicros: Micros;
};

export type SendWarning = (warning: LowBalance) => Promise<void>;

/** Returns the threshold; null when no warning is set. */
export async function readThreshold(db: Kysely<Tables>, accountId: string): Promise<Micros | null> {
  const row = await db
    .selectFrom('balance_warnings')
    .select('threshold_micros')
    .where('account_id', '=', accountId)
    .executeTakeFirst();
  return row?.threshold_micros ?? null;
}

/**
 * Sets the threshold. A new one resets the warning, so a balance that is already below it causes
 * one.
 */
export async function setThreshold(
  database: Database,
  accountId: string,
  thresholdMicros: Micros | null,
): Promise<void> {
  if (thresholdMicros === null) {
    await database.write
      .deleteFrom('balance_warnings')
      .where('account_id', '=', accountId)
      .execute();
    return;
  }
  await database.write
    .insertInto('balance_warnings')
    .values({ account_id: accountId, threshold_micros: thresholdMicros, warned_at_ms: null })
    .onConflict((conflict) =>
      conflict.column('account_id').doUpdateSet({
        threshold_micros: thresholdMicros,
        claimed_until_ms: 0,
        warned_at_ms: null,
      }),
    )
    .execute();
}

/** When a gateway ends while it sends, its claim expires after this time and another one sends. */
const claimMs = 10 * 60_000;
const warningsMax = 200;

/**
 * Runs one check. When a warning cannot be sent, it is tried again after its claim expires; the
 * others are not delayed.
 */
export async function warnOfLowBalances(
  database: Database,
  {
    send,
    onError,
    nowMs,
  }: {
    readonly send: SendWarning;
    readonly onError: (error: unknown) => void;
    readonly nowMs: number;
  },
): Promise<void> {
  await forgetRecovered(database);
  for (const low of await findLow(database, nowMs)) {
    if (!(await claim(database, low.accountId, nowMs))) continue;
    try {
      await send(low);
      await database.write
        .updateTable('balance_warnings')
        .set({ warned_at_ms: nowMs })
        .where('account_id', '=', low.accountId)
        .execute();
    } catch (error) {
      onError(error);
    }
  }
}

const liveBalance = sql<Micros>`(select posted_micros from ledgers where ledgers.id = balance_warnings.account_id || ':live')`;

/** A claim that lasts longer than any was made before the clock was set back. */
function isUnclaimed(nowMs: number) {
  return sql<boolean>`(claimed_until_ms <= ${nowMs} or claimed_until_ms > ${nowMs + claimMs})`;
}

async function forgetRecovered(database: Database): Promise<void> {
  const isRecovered = sql<boolean>`warned_at_ms is not null and ${liveBalance} >= threshold_micros`;
  const found = await database.read
    .selectFrom('balance_warnings')
    .select('account_id')
    .where(isRecovered)
    .limit(1)
    .execute();
  if (found.length === 0) return;
  await database.write
    .updateTable('balance_warnings')
    .set({ warned_at_ms: null, claimed_until_ms: 0 })
    .where(isRecovered)
    .execute();
}

async function findLow(database: Database, nowMs: number): Promise<LowBalance[]> {
  const rows = await database.read
    .selectFrom('balance_warnings')
    .innerJoin('accounts', 'accounts.id', 'balance_warnings.account_id')
    .select(['accounts.id', 'accounts.name', 'threshold_micros', liveBalance.as('balance_micros')])
    .where('warned_at_ms', 'is', null)
    .where(isUnclaimed(nowMs))
    .where(sql<boolean>`${liveBalance} < threshold_micros`)
    .limit(warningsMax)
    .execute();
  return rows.map((row) => ({
    accountId: row.id,
    accountName: row.name,
    balanceMicros: row.balance_micros,
    thresholdMicros: row.threshold_micros,
  }));
}

async function claim(database: Database, accountId: string, nowMs: number): Promise<boolean> {
  const [result] = await database.write
    .updateTable('balance_warnings')
    .set({ claimed_until_ms: nowMs + claimMs })
    .where('account_id', '=', accountId)
    .where('warned_at_ms', 'is', null)
    .where(isUnclaimed(nowMs))
    .execute();
  return result!.numUpdatedRows > 0n;
}
