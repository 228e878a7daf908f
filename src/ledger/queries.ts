// What the ledger tells: balances with all-time totals, which are kept and not summed, and charges page by page.
import { setImmediate } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { Tables } from '../db/schema.ts';
import { type Micros, micros } from '../lib/money.ts';
import { availableMicrosOf, type Charge } from './book.ts';
import { accountIdOf, type LedgerId, signUpCreditId } from './commands.ts';
import { chargeOfRow, type ChargeRow } from './rows.ts';
import { type DayCount, planSpans, type Span } from './spans.ts';
import type { UsageCursor } from './usage-cursor.ts';
import { dayOf } from './window.ts';

export type Balance = {
  readonly postedMicros: Micros;
  readonly heldMicros: Micros;
  readonly availableMicros: Micros;
  /** All time; cached input counts as input. */
  readonly inputTokens: number;
  readonly outputTokens: number;
};

/** The balance as of the last commit, or null when there is no such ledger. */
export async function readBalance(db: Kysely<Tables>, ledgerId: LedgerId): Promise<Balance | null> {
  const row = await db.selectFrom('ledgers').selectAll().where('id', '=', ledgerId).executeTakeFirst();
  if (!row) return null;
  const sums = { postedMicros: row.posted_micros, heldMicros: row.held_micros };
  return { ...sums, availableMicros: availableMicrosOf(sums), inputTokens: row.input_tokens, outputTokens: row.output_tokens };
}

export type ChargeQuery = {
  readonly ledgerId: LedgerId;
  /** Charges a page, at least 1. */
  readonly limit: number;
  /** The last charge of the page before; null: from the newest. */
  readonly cursor: UsageCursor | null;
} & ChargeFilter;

/** Only the charges that are all of this. */
export type ChargeFilter = {
  /** Of this request. */
  readonly holdId?: string;
  readonly keyId?: string;
  readonly modelId?: string;
  readonly endpoint?: string;
  readonly ending?: Charge['ending'];
  /** From this time, up to but without the other; Unix milliseconds. */
  readonly fromMs?: number;
  readonly toMs?: number;
};

export type ChargePage = {
  readonly charges: readonly Charge[];
  /** Where the next page goes on; null exactly when this is the last one. */
  readonly next: UsageCursor | null;
};

/**
 * Charges newest first. Those that arrive between two pages neither shift nor repeat one: a page starts after a charge, not at a count.
 * Without a filter, or by time, by request or by the ending `cut-off`, a page is read off an index. By key, model and endpoint the days on
 * which there is anything are known, and only they are read through, in steps: a key that was used once on a day of a million charges
 * takes seconds to find, though nobody else waits for it.
 */
export async function listCharges(db: Kysely<Tables>, query: ChargeQuery): Promise<ChargePage> {
  const { limit } = query;
  const rows: ChargeRow[] = [];
  for (const span of await spansOf(db, query)) {
    // One more than asked for tells whether there is another page.
    rows.push(...(await readSpan(db, query, { ...span, rowsMax: limit + 1 - rows.length })));
    if (rows.length > limit) break;
    await setImmediate();
  }
  const charges = rows.slice(0, limit).map(chargeOfRow);
  const last = charges.at(-1);
  return { charges, next: rows.length > limit && last ? { createdAtMs: last.createdAtMs, id: last.id } : null };
}

/** Where to look, newest first. */
async function spansOf(db: Kysely<Tables>, query: ChargeQuery): Promise<readonly Span[]> {
  const { keyId, modelId, endpoint, holdId, fromMs, toMs } = query;
  const isAnywhere = keyId === undefined && modelId === undefined && endpoint === undefined;
  if (isAnywhere || holdId !== undefined) return [{ fromMs: fromMs ?? null, toMs: toMs ?? null }];
  return planSpans(await countDays(db, query), query);
}

/** The days of the ledger that a page may be on, newest first: how many charges each has, and how many of them pass the filter. */
async function countDays(db: Kysely<Tables>, { ledgerId, cursor, ...filter }: ChargeQuery): Promise<readonly DayCount[]> {
  const passes = (['keyId', 'modelId', 'endpoint'] as const).flatMap((name) =>
    filter[name] === undefined ? [] : [sql`${sql.ref(columns[name])} = ${filter[name]}`],
  );
  const matching = sql<number | string>`sum(case when ${sql.join(passes, sql` and `)} then requests else 0 end)`;
  let days = db
    .selectFrom('charge_days')
    .select(({ fn }) => ['day', fn.sum<number | string>('requests').as('requests'), matching.as('matching')])
    .where('ledger_id', '=', ledgerId);
  if (filter.fromMs !== undefined) days = days.where('day', '>=', dayOf(filter.fromMs));
  if (filter.toMs !== undefined) days = days.where('day', '<=', dayOf(filter.toMs));
  if (cursor) days = days.where('day', '<=', dayOf(cursor.createdAtMs));
  const rows = await days.groupBy('day').orderBy('day', 'desc').execute();
  return rows.map((row) => ({ day: row.day, requests: Number(row.requests), matching: Number(row.matching) }));
}

const columns = { keyId: 'key_id', modelId: 'model_id', endpoint: 'endpoint' } as const;

function readSpan(
  db: Kysely<Tables>,
  { ledgerId, cursor, holdId, keyId, modelId, endpoint, ending }: ChargeQuery,
  { fromMs, toMs, rowsMax }: Span & { readonly rowsMax: number },
): Promise<ChargeRow[]> {
  let query = db.selectFrom('charges').selectAll().where('ledger_id', '=', ledgerId);
  if (holdId !== undefined) query = query.where('id', '=', holdId);
  if (keyId !== undefined) query = query.where('key_id', '=', keyId);
  if (modelId !== undefined) query = query.where('model_id', '=', modelId);
  if (endpoint !== undefined) query = query.where('endpoint', '=', endpoint);
  // Written out: an index of some of the rows is used only where the text says that it has them.
  if (ending !== undefined) query = query.where('ending', '=', sql.lit(ending));
  if (fromMs !== null) query = query.where('created_at_ms', '>=', fromMs);
  if (toMs !== null) query = query.where('created_at_ms', '<', toMs);
  if (cursor) {
    query = query.where((eb) => eb(eb.refTuple('created_at_ms', 'id'), '<', eb.tuple(cursor.createdAtMs, cursor.id)));
  }
  return query.orderBy('created_at_ms', 'desc').orderBy('id', 'desc').limit(rowsMax).execute();
}

/** A credit or a debit as it was booked, or null. */
export async function findAdjustment(
  db: Kysely<Tables>,
  { entryId, kind }: { readonly entryId: string; readonly kind: 'credit' | 'debit' },
): Promise<{ readonly amountMicros: Micros; readonly note: string | null } | null> {
  const query = db
    .selectFrom('entries')
    .select(['posted_delta_micros', 'note'])
    .where('id', '=', entryId)
    .where('kind', '=', kind);
  const row = await query.executeTakeFirst();
  return row ? { amountMicros: micros(Math.abs(row.posted_delta_micros)), note: row.note } : null;
}

/** Whether the ledger was ever credited with more than a sign-up credit: by a payment, or by an operator. */
export async function hasPaid(db: Kysely<Tables>, ledgerId: LedgerId): Promise<boolean> {
  const credit = await db
    .selectFrom('entries')
    .select('seq')
    .where('ledger_id', '=', ledgerId)
    // Of credits and debits alone there is an index.
    .where('key_id', 'is', null)
    .where('kind', '=', 'credit')
    .where('posted_delta_micros', '>', micros(0))
    .where('id', '<>', signUpCreditId(accountIdOf(ledgerId)))
    .limit(1)
    .executeTakeFirst();
  return credit !== undefined;
}
