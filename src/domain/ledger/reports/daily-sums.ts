// Sums of charges by UTC day, for charts and overviews, read from the ledger's daily sums instead
// of the charges.
import { type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import type { Tables } from '../../../db/schema.ts';
import { type Micros, micros } from '../../../lib/money.ts';
import type { LedgerId, Mode } from '../commands.ts';

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

type SumGroup = 'none' | 'model' | 'key' | 'endpoint' | 'account';

type DailySum = {
  readonly day: string;
  /** The id of the model, key or account, or the endpoint; '' without a breakdown. */
  readonly group: string;
  readonly requests: number;
  /** All input, including tokens read from a provider's cache. */
  readonly inputTokens: number;
  /** The part read from a provider's cache. */
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly images: number;
  /** The amount charged. */
  readonly costMicros: Micros;
  /** The operator's cost, and the part of the price that exceeded balance and caps. */
  readonly upstreamCostMicros: Micros;
  readonly lossMicros: Micros;
};

/**
 * Returns sums ordered by day, then group; days without charges are missing. Reads one row per day,
 * key, model and endpoint.
 */
export async function sumDays(
  db: Kysely<Tables>,
  query: DailySumsQuery,
): Promise<readonly DailySum[]> {
  const rows = await within(
    db.selectFrom('charge_days as row').innerJoin('ledgers', 'ledgers.id', 'row.ledger_id'),
    query,
  )
    .select((eb) => [
      'row.day',
      groups[query.by].as('group'),
      eb.fn.sum<number | string>('requests').as('requests'),
      eb.fn.sum<number | string>('row.input_tokens').as('inputTokens'),
      eb.fn.sum<number | string>('cached_tokens').as('cachedTokens'),
      eb.fn.sum<number | string>('row.output_tokens').as('outputTokens'),
      eb.fn.sum<number | string>('images').as('images'),
      eb.fn.sum<number | string>('cost_micros').as('cost'),
      eb.fn.sum<number | string>('upstream_cost_micros').as('upstreamCost'),
      eb.fn.sum<number | string>('loss_micros').as('loss'),
    ])
    .groupBy(['row.day', 'group'])
    .orderBy('row.day')
    .orderBy('group')
    .execute();
  return rows.map(sumOfRow);
}

/** Returns sums of the whole period by group, highest cost first. */
export async function sumRange(
  db: Kysely<Tables>,
  query: DailySumsQuery,
): Promise<readonly Omit<DailySum, 'day'>[]> {
  const sums = new Map<string, Omit<DailySum, 'day'>>();
  for (const { day: _, ...sum } of await sumDays(db, query)) {
    const known = sums.get(sum.group);
    sums.set(sum.group, known ? addSums(known, sum) : sum);
  }
  return [...sums.values()].toSorted(
    (one, other) => other.costMicros - one.costMicros || (one.group < other.group ? -1 : 1),
  );
}

type Sums = Omit<DailySum, 'day'>;

function addSums(one: Sums, other: Sums): Sums {
  const add = <Name extends Exclude<keyof Sums, 'group'>>(name: Name) =>
    (one[name] + other[name]) as Sums[Name];
  return {
    group: one.group,
    requests: add('requests'),
    inputTokens: add('inputTokens'),
    cachedTokens: add('cachedTokens'),
    outputTokens: add('outputTokens'),
    images: add('images'),
    costMicros: add('costMicros'),
    upstreamCostMicros: add('upstreamCostMicros'),
    lossMicros: add('lossMicros'),
  };
}

const groups = {
  none: sql<string>`''`,
  model: sql<string>`model_id`,
  key: sql<string>`key_id`,
  endpoint: sql<string>`endpoint`,
  account: sql<string>`ledgers.account_id`,
};

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
type SumRow = Pick<DailySum, 'day' | 'group'> &
  Readonly<Record<'requests' | 'inputTokens' | 'cachedTokens' | 'outputTokens' | 'images', Sum>> &
  Readonly<Record<'cost' | 'upstreamCost' | 'loss', Sum>>;

function sumOfRow(row: SumRow): DailySum {
  return {
    day: row.day,
    group: row.group,
    requests: Number(row.requests),
    inputTokens: Number(row.inputTokens),
    cachedTokens: Number(row.cachedTokens),
    outputTokens: Number(row.outputTokens),
    images: Number(row.images),
    costMicros: micros(Number(row.cost)),
    upstreamCostMicros: micros(Number(row.upstreamCost)),
    lossMicros: micros(Number(row.loss)),
  };
}
