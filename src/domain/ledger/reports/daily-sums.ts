// Sums of charges by UTC day, for charts and overviews, read from the ledger's daily sums instead
// of the charges.
import { type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import type { Mode } from '../../../terms/mode.ts';
import type { Tables } from '../../../db/schema.ts';
import { memberOfKey, type WhichGroups } from '../../../db/which-groups.ts';
import { micros } from '../../../lib/money.ts';
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

type SumGroup = 'none' | 'model' | 'key' | 'member' | 'endpoint' | 'account';

/**
 * Returns sums of some groups, ordered by day, then group; days without charges are missing. Reads
 * one row per day, key, model and endpoint.
 */
export async function sumDays(
  db: Kysely<Tables>,
  { ids, ...query }: DailySumsQuery & { readonly ids: readonly string[] },
) {
  if (ids.length === 0) return [];
  const { of, by } = query;
  const all = sumWithin(db, query);
  // Not by the account, for which the rows of all accounts in these days would be read.
  const wanted =
    by === 'account' && 'mode' in of
      ? all.where(
          'row.ledger_id',
          'in',
          ids.map((id) => ledgerIdOf(id, of.mode)),
        )
      : all.where(groupOf(db, by), 'in', ids);
  const rows = await wanted
    .select('row.day')
    .groupBy(['row.day', 'group'])
    .orderBy('row.day')
    .orderBy('group')
    .execute();
  return rows.map((row) => ({ day: row.day, ...sumOfRow(row) }));
}

/**
 * Returns the UTC day of the first charge; null: there was none. Looks one row up for each ledger: in the
 * order of days, a mode without charges would read those of the other.
 */
export async function firstChargedDay(
  db: Kysely<Tables>,
  of: DailySumsQuery['of'],
): Promise<string | null> {
  const first = sql`(select min(day) from charge_days where ledger_id = ledgers.id)`;
  const rows = db.selectFrom('ledgers').select(sql<string | null>`min(${first})`.as('day'));
  const found =
    'ledgerId' in of ? rows.where('id', '=', of.ledgerId) : rows.where('mode', '=', of.mode);
  return (await found.executeTakeFirstOrThrow()).day;
}

/** Returns sums of the whole period by group, highest cost first; of a page, in its order. */
export async function sumRange(db: Kysely<Tables>, query: DailySumsQuery, which: WhichGroups) {
  if ('ids' in which && which.ids.length === 0) return [];
  const group = groupOf(db, query.by);
  let rows = sumWithin(db, query).groupBy('group');
  if ('ids' in which) rows = rows.where(group, 'in', which.ids);
  if ('after' in which) {
    if (which.after !== null) rows = rows.where(group, '>', which.after);
    rows = rows.limit(which.limit);
  } else rows = rows.orderBy('cost', 'desc').orderBy('requests', 'desc');
  if ('top' in which) rows = rows.limit(which.top);
  return (await rows.orderBy('group').execute()).map(sumOfRow);
}

function sumWithin(db: Kysely<Tables>, query: DailySumsQuery) {
  const rows = db
    .selectFrom('charge_days as row')
    .innerJoin('ledgers', 'ledgers.id', 'row.ledger_id');
  return within(rows, query).select((eb) => [
    groupOf(db, query.by).as('group'),
    eb.fn.sum<Sum>('requests').as('requests'),
    eb.fn.sum<Sum>('row.input_tokens').as('inputTokens'),
    eb.fn.sum<Sum>('cached_tokens').as('cachedTokens'),
    eb.fn.sum<Sum>('row.output_tokens').as('outputTokens'),
    eb.fn.sum<Sum>('images').as('images'),
    eb.fn.sum<Sum>('cost_micros').as('cost'),
    eb.fn.sum<Sum>('upstream_cost_micros').as('upstreamCost'),
    eb.fn.sum<Sum>('loss_micros').as('loss'),
  ]);
}

function groupOf(db: Kysely<Tables>, by: SumGroup) {
  return {
    none: sql<string>`''`,
    model: sql<string>`model_id`,
    key: sql<string>`key_id`,
    member: memberOfKey(db, 'row.key_id'),
    endpoint: sql<string>`endpoint`,
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

/** PostgreSQL returns sums as text, because they may exceed its integers. */
type Sum = number | string;
type SumRow = { readonly group: string } & Readonly<
  Record<'requests' | 'inputTokens' | 'cachedTokens' | 'outputTokens' | 'images', Sum>
> &
  Readonly<Record<'cost' | 'upstreamCost' | 'loss', Sum>>;

function sumOfRow(row: SumRow) {
  return {
    // The id of the model, key, member or account, or the endpoint; '' without a breakdown.
    group: row.group,
    requests: Number(row.requests),
    // All input, including tokens read from a provider's cache.
    inputTokens: Number(row.inputTokens),
    cachedTokens: Number(row.cachedTokens),
    outputTokens: Number(row.outputTokens),
    images: Number(row.images),
    // The amount charged.
    costMicros: micros(Number(row.cost)),
    // The operator's cost, and the part of the price that exceeded balance and caps.
    upstreamCostMicros: micros(Number(row.upstreamCost)),
    lossMicros: micros(Number(row.loss)),
  };
}
