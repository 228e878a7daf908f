// Sums of charges by UTC day, for charts and overviews, read from the ledger's daily sums instead
// of the charges.
import { type SelectQueryBuilder, sql } from 'kysely';
import type { Mode } from '../../../terms/mode.ts';
import type { Db, Tables } from '../../../db/schema.ts';
import { memberOfKey, type WhichGroups } from '../../../db/which-groups.ts';
import type { Micros } from '../../../lib/money.ts';
import { type LedgerId, ledgerIdOf } from '../commands.ts';

export type DailySumsQuery = {
  /** One ledger, or all accounts in a mode for operators. */
  readonly of: { readonly ledgerId: LedgerId } | { readonly mode: Mode };
  /** The first and last day, `2026-11-21`. */
  readonly fromDay: string;
  readonly toDay: string;
  /** The breakdown of each day; `none` for no breakdown. */
  readonly by: SumGroup;
  /** Optional filters. */
  readonly keyId?: string;
  readonly modelId?: string;
  readonly endpoint?: string;
};

type SumGroup = 'none' | 'day' | 'model' | 'key' | 'member' | 'account';

/**
 * Returns sums of some groups, ordered by day, then group; days without charges are missing. Reads
 * one row per day, key, model and endpoint.
 */
export async function sumDays(
  db: Db,
  { ids, ...query }: DailySumsQuery & { readonly ids: readonly string[] },
) {
  if (ids.length === 0) return [];
  return sumWithin(db, query)
    .where(isOneOf(db, query, ids))
    .select('row.day')
    .groupBy(['row.day', 'group'])
    .orderBy('row.day')
    .orderBy('group')
    .execute();
}

/**
 * Returns the UTC day of the first charge; null: there was none. Looks one row up for each ledger: in the
 * order of days, a mode without charges would read those of the other.
 */
export async function firstChargedDay(db: Db, of: DailySumsQuery['of']): Promise<string | null> {
  const first = sql`(select min(day) from charge_days where ledger_id = ledgers.id)`;
  const rows = db.selectFrom('ledgers').select(sql<string | null>`min(${first})`.as('day'));
  const found =
    'ledgerId' in of ? rows.where('id', '=', of.ledgerId) : rows.where('mode', '=', of.mode);
  return (await found.executeTakeFirstOrThrow()).day;
}

/**
 * Returns sums of the whole period by group, highest cost first; of a page, in its order. `which`: the
 * caller bounds the groups when it asks for all.
 */
export async function sumRange(db: Db, query: DailySumsQuery, which: WhichGroups | { all: true }) {
  if ('ids' in which && which.ids.length === 0) return [];
  const group = groupOf(db, query.by);
  let rows = sumWithin(db, query).groupBy('group');
  if ('ids' in which) rows = rows.where(isOneOf(db, query, which.ids));
  if ('after' in which) {
    if (which.after !== null) rows = rows.where(group, '>', which.after);
    rows = rows.limit(which.limit);
  } else rows = rows.orderBy('costMicros', 'desc').orderBy('requests', 'desc');
  if ('top' in which) rows = rows.limit(which.top);
  return rows.orderBy('group').execute();
}

/** Not by the account, for which the rows of all accounts in these days would be read. */
function isOneOf(db: Db, { of, by }: DailySumsQuery, ids: readonly string[]) {
  return by === 'account' && 'mode' in of
    ? sql<boolean>`row.ledger_id in (${sql.join(ids.map((id) => ledgerIdOf(id, of.mode)))})`
    : sql<boolean>`${groupOf(db, by)} in (${sql.join(ids)})`;
}

function sumWithin(db: Db, query: DailySumsQuery) {
  const rows = db
    .selectFrom('charge_days as row')
    .innerJoin('ledgers', 'ledgers.id', 'row.ledger_id');
  return within(rows, query).select((eb) => [
    // The day, or the id of the model, key, member or account; '' without a breakdown.
    groupOf(db, query.by).as('group'),
    eb.fn.sum<number>('requests').as('requests'),
    // All input, including tokens read from a provider's cache.
    eb.fn.sum<number>('row.input_tokens').as('inputTokens'),
    eb.fn.sum<number>('row.output_tokens').as('outputTokens'),
    eb.fn.sum<number>('images').as('images'),
    // The amount charged.
    eb.fn.sum<Micros>('cost_micros').as('costMicros'),
    // The operator's cost, and the part of the price that exceeded balance and caps.
    eb.fn.sum<Micros>('upstream_cost_micros').as('upstreamCostMicros'),
    eb.fn.sum<Micros>('loss_micros').as('lossMicros'),
  ]);
}

function groupOf(db: Db, by: SumGroup) {
  return {
    none: sql<string>`''`,
    day: sql<string>`row.day`,
    model: sql<string>`model_id`,
    key: sql<string>`key_id`,
    member: memberOfKey(db, 'row.key_id'),
    account: sql<string>`ledgers.account_id`,
  }[by];
}

type Joined = Tables & { row: Tables['charge_days'] };

function within<Output>(
  rows: SelectQueryBuilder<Joined, 'row' | 'ledgers', Output>,
  query: DailySumsQuery,
) {
  const { of, fromDay, toDay, keyId, modelId, endpoint } = query;
  let found = rows.where('row.day', '>=', fromDay).where('row.day', '<=', toDay);
  found =
    'mode' in of
      ? found.where('ledgers.mode', '=', of.mode)
      : found.where('row.ledger_id', '=', of.ledgerId);
  if (keyId !== undefined) found = found.where('row.key_id', '=', keyId);
  if (modelId !== undefined) found = found.where('row.model_id', '=', modelId);
  if (endpoint !== undefined) found = found.where('row.endpoint', '=', endpoint);
  return found;
}
