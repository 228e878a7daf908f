// What an account and its keys have spent in the current UTC day and month, and what running
// requests hold.
import type { Kysely } from 'kysely';
import type { Tables } from '../../../db/schema.ts';
import { type Micros, micros, zeroMicros } from '../../../lib/money.ts';
import type { LedgerId } from '../commands.ts';
import { sumDays } from './daily-sums.ts';
import { dayOf, monthOf } from '../../../lib/utc-time.ts';

type Spending = {
  /** Charged since the start of the UTC day and of the month, by the time of the charge. */
  readonly todayMicros: Micros;
  readonly monthMicros: Micros;
  /** Held by all running requests. */
  readonly heldMicros: Micros;
};

/** Returns the spending of a ledger; null when it does not exist. */
export async function readSpending(
  db: Kysely<Tables>,
  ledgerId: LedgerId,
  nowMs: number,
): Promise<Spending | null> {
  const ledger = await db
    .selectFrom('ledgers')
    .select('held_micros')
    .where('id', '=', ledgerId)
    .executeTakeFirst();
  if (!ledger) return null;
  const today = dayOf(nowMs);
  const days = await sumDays(db, {
    of: { ledgerId },
    fromDay: `${monthOf(nowMs)}-01`,
    toDay: today,
    by: 'none',
  });
  const monthMicros = micros(days.reduce((sum, { costMicros }) => sum + costMicros, 0));
  return {
    todayMicros: days.find(({ day }) => day === today)?.costMicros ?? zeroMicros,
    monthMicros,
    heldMicros: ledger.held_micros,
  };
}

/**
 * The numbers that a key's caps are compared with. A request counts in the day and month in which
 * it began.
 */
export type KeySpending = {
  readonly keyId: string;
  readonly dayMicros: Micros;
  readonly dayHeldMicros: Micros;
  readonly monthMicros: Micros;
  readonly monthHeldMicros: Micros;
};

/**
 * Returns the spending of keys by id; keys that have neither spent nor held anything this month are
 * missing.
 */
export async function readKeySpending(
  db: Kysely<Tables>,
  keyIds: readonly string[],
  nowMs: number,
): Promise<ReadonlyMap<string, KeySpending>> {
  if (keyIds.length === 0) return new Map();
  const windows = await db
    .selectFrom('key_windows')
    .selectAll()
    .where('key_id', 'in', keyIds)
    .where((eb) =>
      eb.or([
        eb.and([eb('kind', '=', 'day'), eb('starts_on', '=', dayOf(nowMs))]),
        eb.and([eb('kind', '=', 'month'), eb('starts_on', '=', monthOf(nowMs))]),
      ]),
    )
    .execute();
  const spending = new Map<string, KeySpending>();
  for (const { key_id: keyId, kind, settled_micros: settled, held_micros: held } of windows) {
    const known = spending.get(keyId) ?? { keyId, ...nothing };
    const window =
      kind === 'day'
        ? { dayMicros: settled, dayHeldMicros: held }
        : { monthMicros: settled, monthHeldMicros: held };
    spending.set(keyId, { ...known, ...window });
  }
  return spending;
}

/** What all keys of a user have spent in the day and month of a ledger, and hold, by user id. */
export async function readMemberSpending(
  db: Kysely<Tables>,
  ledgerId: LedgerId,
  nowMs: number,
): Promise<ReadonlyMap<string, Omit<KeySpending, 'keyId'>>> {
  const owners = await db
    .selectFrom('key_owners')
    .selectAll()
    .where('ledger_id', '=', ledgerId)
    .execute();
  const byKey = await readKeySpending(
    db,
    owners.map(({ key_id: keyId }) => keyId),
    nowMs,
  );
  const spending = new Map<string, Omit<KeySpending, 'keyId'>>();
  for (const { key_id: keyId, user_id: userId } of owners) {
    const [sum, key] = [spending.get(userId) ?? nothing, byKey.get(keyId) ?? nothing];
    spending.set(userId, {
      dayMicros: micros(sum.dayMicros + key.dayMicros),
      dayHeldMicros: micros(sum.dayHeldMicros + key.dayHeldMicros),
      monthMicros: micros(sum.monthMicros + key.monthMicros),
      monthHeldMicros: micros(sum.monthHeldMicros + key.monthHeldMicros),
    });
  }
  return spending;
}

const nothing = {
  dayMicros: zeroMicros,
  dayHeldMicros: zeroMicros,
  monthMicros: zeroMicros,
  monthHeldMicros: zeroMicros,
};
