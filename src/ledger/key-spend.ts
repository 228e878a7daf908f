// What keys have spent and hold today and this month: what their caps are compared with.
import type { Kysely } from 'kysely';
import type { Tables } from '../db/schema.ts';
import { zeroMicros, type Micros } from '../lib/money.ts';
import { dayOf, monthOf, nextDayMs, nextMonthMs } from './window.ts';

type WindowSpend = {
  readonly settledMicros: Micros;
  /** By requests that run. */
  readonly heldMicros: Micros;
  /** When the next UTC day or month begins. */
  readonly resetsAtMs: number;
};

export type KeySpend = { readonly day: WindowSpend; readonly month: WindowSpend };

/** By key, each of those asked for: at most some hundreds. */
export async function readKeySpend(
  db: Kysely<Tables>,
  keyIds: readonly string[],
  nowMs: number,
): Promise<ReadonlyMap<string, KeySpend>> {
  const rows =
    keyIds.length === 0
      ? []
      : await db
          .selectFrom('key_windows')
          .selectAll()
          .where('key_id', 'in', keyIds)
          .where((eb) =>
            eb.or([
              eb.and({ kind: 'day' as const, starts_on: dayOf(nowMs) }),
              eb.and({ kind: 'month' as const, starts_on: monthOf(nowMs) }),
            ]),
          )
          .execute();
  const spendOf = (keyId: string, kind: 'day' | 'month', resetsAtMs: number): WindowSpend => {
    const row = rows.find((candidate) => candidate.key_id === keyId && candidate.kind === kind);
    return { settledMicros: row?.settled_micros ?? zeroMicros, heldMicros: row?.held_micros ?? zeroMicros, resetsAtMs };
  };
  return new Map(
    keyIds.map((keyId) => [
      keyId,
      { day: spendOf(keyId, 'day', nextDayMs(nowMs)), month: spendOf(keyId, 'month', nextMonthMs(nowMs)) },
    ]),
  );
}
