// Events about spending, as the books show it. Their rows stay, so a look finds what one before it
// missed, and the ledger's own transactions need not be longer.
import { setImmediate } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { Db } from '../../db/schema.ts';
import { micros } from '../../lib/money.ts';
import { dayMs, dayOf, hourMs, hourOf, monthOf } from '../../lib/utc-time.ts';
import { type NewEvent, writeNewEvents } from './outbox.ts';

/** A day, month or hour that ended shortly before is looked at again. Longer than between looks. */
const lateMs = 11 * 60_000;
const pageRows = 1_000;
const percents = [100, 80, 50] as const;

type Spender = {
  /** Orders the pages. */
  readonly place: string;
  readonly id: string;
  readonly name: string | null;
  readonly account_id: string;
  readonly account_name: string;
  /** Caps, and what is spent of them; null: no cap. */
  readonly day_cap: number | null;
  readonly month_cap: number | null;
  readonly day_spent: number | null;
  readonly month_spent: number | null;
};

/** Tells of live keys and members that have spent 50, 80 or 100 % of a cap: the highest of these. */
export async function tellCaps(database: Database, nowMs: number): Promise<void> {
  for (const day of new Set([dayOf(nowMs - lateMs), dayOf(nowMs)]))
    for (const [of, read] of [['key', readKeys] as const, ['member', readMembers] as const])
      for (let after: string | undefined = ''; after !== undefined; await setImmediate()) {
        // SQLite runs on this thread: requests are served between the pages.
        const { rows }: { rows: Spender[] } = await read(after, day).execute(database.read);
        const events = rows.flatMap((row) => eventsOf(of, row, day));
        await writeNewEvents(database, events, nowMs);
        after = rows.length < pageRows ? undefined : rows.at(-1)!.place;
      }
}

function eventsOf(of: 'key' | 'member', row: Spender, day: string): readonly NewEvent[] {
  const { id, account_id, account_name, name } = row;
  const windows = [
    { window: 'day', cap: row.day_cap, spent: row.day_spent, starts_on: day },
    { window: 'month', cap: row.month_cap, spent: row.month_spent, starts_on: monthOfDay(day) },
  ] as const;
  return windows.flatMap(({ window, cap, spent, starts_on }): NewEvent[] => {
    const percent = percents.find((one) => (spent ?? 0) * 100 >= (cap ?? Infinity) * one);
    if (percent === undefined || cap === 0) return [];
    const about = { account_id, account_name, of, id, name: name ?? id, window, percent };
    const data = { ...about, cap_micros: cap!, spent_micros: spent!, starts_on };
    const onceKey = ['cap', of, account_id, id, starts_on, cap, percent].join(' ');
    return [{ type: 'cap.reached', data, accountId: account_id, onceKey }];
  });
}

function monthOfDay(day: string): string {
  return monthOf(Date.parse(day));
}

function spentBy(keys: RawBuilder<unknown>, kind: 'day' | 'month', startsOn: string) {
  return sql`(select sum(settled_micros) from key_windows
    where key_id in (${keys}) and kind = ${sql.lit(kind)} and starts_on = ${startsOn})`;
}

function readKeys(after: string, day: string): RawBuilder<Spender> {
  const isLive = sql`k.mode = 'live' and k.revoked_at_ms is null`;
  const key = sql`k.id`;
  return sql`select k.id as place, k.id, k.name, k.account_id, a.name as account_name,
      case when ${isLive} then daily_cap_micros end as day_cap,
      case when ${isLive} then monthly_cap_micros end as month_cap,
      case when ${isLive} and daily_cap_micros > 0 then ${spentBy(key, 'day', day)} end as day_spent,
      case when ${isLive} and monthly_cap_micros > 0
        then ${spentBy(key, 'month', monthOfDay(day))} end as month_spent
    from api_keys k join accounts a on a.id = k.account_id
    where k.id > ${after} order by k.id limit ${sql.lit(pageRows)}`;
}

function readMembers(after: string, day: string): RawBuilder<Spender> {
  const keys = sql`select key_id from key_owners o
    where o.ledger_id = b.account_id || ':live' and o.user_id = b.user_id`;
  const place = sql`b.account_id || ' ' || b.user_id`;
  return sql`select ${place} as place, b.user_id as id, u.name, b.account_id, a.name as account_name,
      b.daily_micros as day_cap, b.monthly_micros as month_cap,
      ${spentBy(keys, 'day', day)} as day_spent,
      ${spentBy(keys, 'month', monthOfDay(day))} as month_spent
    from member_budgets b join accounts a on a.id = b.account_id left join users u on u.id = b.user_id
    where ${place} > ${after} order by ${place} limit ${sql.lit(pageRows)}`;
}

/** Less in an hour is no anomaly. */
const leastMicros = 1_000_000;
const factor = 10;

/**
 * Tells of accounts that spend in an hour ten times the hourly mean of the week before, and more than in
 * any hour of it; if it spent nothing in the first five days of that week, more than in any hour before.
 * Accounts that have begun to spend within two days have no usual spending yet.
 */
export async function tellAnomalies(database: Database, nowMs: number): Promise<void> {
  for (const hour of new Set([hourOf(nowMs - lateMs), hourOf(nowMs)])) {
    const startMs = Date.parse(`${hour}:00:00Z`);
    const { rows } = await sql<{ id: string; name: string; spent: number }>`
      select a.id, a.name, sum(cost_micros) as spent from activity_hours
      join accounts a on a.id = account_id where hour = ${hour} and mode = 'live'
      group by a.id, a.name having sum(cost_micros) >= ${leastMicros}`.execute(database.read);
    for (const { id, name, spent } of rows) {
      const usual = await readUsual(database.read, id, startMs);
      const isUsual = spent < usual.meanMicros * factor || spent <= usual.mostMicros;
      if (usual.isNew || isUsual) continue;
      const time = new Date(startMs).toISOString();
      const figures = { spent_micros: spent, usual_micros: usual.meanMicros };
      const data = { account_id: id, account_name: name, hour: time, ...figures };
      const about = { accountId: id, onceKey: `anomaly ${id} ${hour}` };
      await writeNewEvents(database, [{ type: 'spend.anomaly', data, ...about }], nowMs);
    }
    await setImmediate();
  }
}

async function readUsual(read: Db, accountId: string, beforeMs: number) {
  const hoursFrom = (hour: string) =>
    sql<{ hour: string; spent: number }>`
    select hour, sum(cost_micros) as spent from activity_hours
    where account_id = ${accountId} and mode = 'live'
      and hour >= ${hour} and hour < ${hourOf(beforeMs)}
    group by hour having sum(cost_micros) > 0 order by hour`.execute(read);
  const week = await hoursFrom(hourOf(beforeMs - 7 * dayMs));
  const sum = week.rows.reduce((total, { spent }) => total + spent, 0);
  const isRecent = ([first]: typeof week.rows) =>
    !first || first.hour > hourOf(beforeMs - 2 * dayMs);
  // A stolen key of an idle account may be tried with a small hour first, which says nothing of
  // what is usual.
  const { rows } = isRecent(week.rows) ? await hoursFrom('') : week;
  return {
    meanMicros: micros(Math.round(sum / ((7 * dayMs) / hourMs))),
    mostMicros: rows.reduce((most, { spent }) => Math.max(most, spent), 0),
    isNew: isRecent(rows),
  };
}
