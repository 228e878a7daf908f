// What an account and its keys have spent in the current UTC day and month, and what running
// requests hold.
import type { Db } from '../../../db/schema.ts';
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
  db: Db,
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
    ids: [''],
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
export type WindowSpending = {
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
  db: Db,
  keyIds: readonly string[],
  nowMs: number,
): Promise<ReadonlyMap<string, WindowSpending>> {
  if (keyIds.length === 0) return new Map();
  const rows = await currentWindows(db, nowMs)
    .select(['key_id as id', 'kind', 'settled_micros as settled', 'held_micros as held'])
    .where('key_id', 'in', keyIds)
    .execute();
  return byId(rows);
}

function currentWindows(db: Db, nowMs: number) {
  return db
    .selectFrom('key_windows')
    .where((eb) =>
      eb.or([
        eb.and([eb('kind', '=', 'day'), eb('starts_on', '=', dayOf(nowMs))]),
        eb.and([eb('kind', '=', 'month'), eb('starts_on', '=', monthOf(nowMs))]),
      ]),
    );
}

type WindowSum = {
  readonly id: string;
  readonly kind: 'day' | 'month';
  readonly settled: Micros;
  readonly held: Micros;
};

function byId(windows: readonly WindowSum[]): ReadonlyMap<string, WindowSpending> {
  const spending = new Map<string, WindowSpending>();
  for (const { id, kind, settled, held } of windows) {
    const window =
      kind === 'day'
        ? { dayMicros: settled, dayHeldMicros: held }
        : { monthMicros: settled, monthHeldMicros: held };
    spending.set(id, { ...(spending.get(id) ?? nothing), ...window });
  }
  return spending;
}

/** What all keys of a user have spent in the day and month of a ledger, and hold, by user id. */
export async function readMemberSpending(
  db: Db,
  ledgerId: LedgerId,
  nowMs: number,
): Promise<ReadonlyMap<string, WindowSpending>> {
  const rows = await currentWindows(db, nowMs)
    .innerJoin('key_owners', 'key_owners.key_id', 'key_windows.key_id')
    .select(({ fn }) => [
      'user_id as id',
      'kind',
      fn.sum<Micros>('settled_micros').as('settled'),
      fn.sum<Micros>('held_micros').as('held'),
    ])
    .where('ledger_id', '=', ledgerId)
    .groupBy(['user_id', 'kind'])
    .execute();
  return byId(rows);
}

const nothing = {
  dayMicros: zeroMicros,
  dayHeldMicros: zeroMicros,
  monthMicros: zeroMicros,
  monthHeldMicros: zeroMicros,
};
