// The operator's report of revenue and cost, summed over the daily sums of charges, which are kept for
// good, and over failed requests.
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../../db/schema.ts';
import type { Mode } from '../../../terms/mode.ts';
import { micros } from '../../../lib/money.ts';
import type { LedgerId } from '../commands.ts';
import { sumRange } from './daily-sums.ts';
import { dayMs, dayOf } from '../../../lib/utc-time.ts';

export type ReportGroup = 'day' | 'account' | 'key' | 'model';

type ReportQuery = {
  readonly by: ReportGroup;
  readonly mode: Mode;
  /** Starts of UTC days in Unix milliseconds; `toMs` is exclusive. */
  readonly fromMs: number;
  readonly toMs: number;
};

export type ReportRow = ReturnType<typeof rowOf>;

/** Returns rows ordered by group. */
export async function report(db: Db, query: ReportQuery): Promise<readonly ReportRow[]> {
  const charged = await sumCharges(db, query, { all: true });
  const failed = await sumFailures(db, query);
  const groups = [...new Set([...charged.keys(), ...failed.keys()])].toSorted();
  return groups.map((group) => rowOf(group, charged.get(group), failed.get(group)));
}

/**
 * Returns the rows with the highest revenue, highest first, then those with losses only. Reads no
 * more than `limit` groups. Not by day.
 */
export async function reportTop(
  db: Db,
  query: ReportQuery,
  limit: number,
): Promise<readonly ReportRow[]> {
  const charged = await sumCharges(db, query, { top: limit });
  const own = await sumFailures(db, query, { ids: [...charged.keys()] });
  // With fewer groups than the limit, all charges were read.
  const failed = charged.size < limit ? await sumFailures(db, query, { top: limit }) : own;
  const lossOnly = [...failed.keys()].filter((group) => !charged.has(group));
  return [...charged.keys(), ...lossOnly]
    .slice(0, limit)
    .map((group) => rowOf(group, charged.get(group), own.get(group) ?? failed.get(group)));
}

/** Returns the rows of these accounts, without those that were not charged and lost nothing. */
export async function reportAccounts(
  db: Db,
  range: Omit<ReportQuery, 'by'>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ReportRow>> {
  if (ids.length === 0) return new Map();
  const query = { ...range, by: 'account' } as const;
  const charged = await sumCharges(db, query, { ids });
  const failed = await sumFailures(db, query, { ids });
  const found = ids.filter((id) => charged.has(id) || failed.has(id));
  return new Map(found.map((id) => [id, rowOf(id, charged.get(id), failed.get(id))]));
}

/** Returns the ledgers of a mode that were charged in these days. */
export async function listChargedLedgers(
  db: Db,
  { mode, fromMs, toMs }: Omit<ReportQuery, 'by'>,
): Promise<readonly LedgerId[]> {
  const rows = await db
    .selectFrom('charge_days')
    .select('ledger_id')
    .distinct()
    .where('day', '>=', dayOf(fromMs))
    .where('day', '<=', dayOf(toMs - 1))
    .where('ledger_id', 'like', `%:${mode}`)
    .orderBy('ledger_id')
    .execute();
  return rows.map(({ ledger_id: id }) => id as LedgerId);
}

export function totalOf(rows: readonly ReportRow[]): Omit<ReportRow, 'group'> {
  const sum = (name: Exclude<keyof ReportRow, 'group'>) =>
    rows.reduce((total, row) => total + row[name], 0);
  return {
    requests: sum('requests'),
    inputTokens: sum('inputTokens'),
    outputTokens: sum('outputTokens'),
    revenueMicros: micros(sum('revenueMicros')),
    costMicros: micros(sum('costMicros')),
    uncollectedMicros: micros(sum('uncollectedMicros')),
    failedMicros: micros(sum('failedMicros')),
    marginMicros: micros(sum('marginMicros')),
  };
}

function rowOf(group: string, sums?: ChargeSums, failedMicros = 0) {
  const { costMicros: revenue = 0, upstreamCostMicros: cost = 0, lossMicros = 0 } = sums ?? {};
  return {
    // The UTC day, or the id of the account, key or model. Failed requests have no model, so by model
    // they are ''.
    group,
    requests: sums?.requests ?? 0,
    inputTokens: sums?.inputTokens ?? 0,
    outputTokens: sums?.outputTokens ?? 0,
    // The amount charged.
    revenueMicros: micros(revenue),
    // The operator's cost of the charged requests.
    costMicros: micros(cost),
    // Costs that exceeded balance and caps; not part of the revenue.
    uncollectedMicros: micros(lossMicros),
    // The operator's cost of failed requests, which are free, and the likely cost of requests of
    // killed processes.
    failedMicros: micros(failedMicros),
    marginMicros: micros(revenue - cost - failedMicros),
  };
}

type ChargeSums = Awaited<ReturnType<typeof sumRange>>[number];

async function sumCharges(
  db: Db,
  { by, mode, fromMs, toMs }: ReportQuery,
  which: Parameters<typeof sumRange>[2],
): Promise<ReadonlyMap<string, ChargeSums>> {
  const days = { fromDay: dayOf(fromMs), toDay: dayOf(Math.min(toMs, lastMs) - 1) };
  const rows = await sumRange(db, { of: { mode }, ...days, by }, which);
  return new Map(rows.map((row) => [row.group, row]));
}

async function sumFailures(
  db: Db,
  query: ReportQuery,
  which?: { readonly ids: readonly string[] } | { readonly top: number },
): Promise<ReadonlyMap<string, number>> {
  if (which && 'ids' in which && which.ids.length === 0) return new Map();
  const name = failureGroups[query.by] as RawBuilder<string | number>;
  let sums = db
    .selectFrom('entries as row')
    .innerJoin('ledgers', 'ledgers.id', 'row.ledger_id')
    .select(({ fn }) => [name.as('group'), fn.sum<number>('row.loss_micros').as('loss')])
    .where('row.kind', 'in', ['release', 'expire'])
    // A literal, because a partial index is used only when the SQL text contains its condition.
    .where('row.loss_micros', '>', sql.lit(micros(0)))
    // The owner's own report about an expired hold replaces the estimate of the expiry.
    .where((expression) =>
      expression.or([
        expression('row.kind', '=', 'release'),
        expression.not(
          expression.exists(
            expression
              .selectFrom('entries as later')
              .select('later.id')
              .whereRef('later.id', '=', 'row.id')
              .where('later.kind', 'in', ['settle', 'release']),
          ),
        ),
      ]),
    )
    .where('ledgers.mode', '=', query.mode)
    .where('row.created_at_ms', '>=', query.fromMs)
    .where('row.created_at_ms', '<', query.toMs)
    .groupBy('group');
  if (which && 'ids' in which) sums = sums.where(name, 'in', which.ids);
  if (which && 'top' in which)
    sums = sums.orderBy('loss', 'desc').orderBy('group').limit(which.top);
  const rows = await sums.execute();
  return new Map(rows.map(({ group, loss }) => [nameOf(query.by, group), loss]));
}

/** The end of the year 9999, when days get a fifth digit. */
const lastMs = Date.UTC(10_000, 0) - 1;

const failureGroups = {
  day: sql`row.created_at_ms / ${sql.lit(dayMs)}`,
  account: sql`ledgers.account_id`,
  key: sql`row.key_id`,
  model: sql.lit(''),
};

function nameOf(by: ReportGroup, group: string | number): string {
  return by === 'day' ? dayOf(Number(group) * dayMs) : String(group);
}
