// Reads the ledger: balances with their totals, which are stored rather than summed, charges page
// by page, and price terms.
import { type RawBuilder, sql } from 'kysely';
import { readKeptTerms, type PriceTerms } from '../../../terms/price-terms.ts';
import { isSqlite } from '../../../db/dialect.ts';
import { rowsPerStep, searchPage, type Span } from '../../../db/search-steps.ts';
import type { Db, Tables } from '../../../db/schema.ts';
import { isOfClient, memberOfKey } from '../../../db/which-groups.ts';
import { type Micros, micros } from '../../../lib/money.ts';
import { availableMicrosOf, type Charge, type LedgerState } from '../book.ts';
import { accountIdOf, type LedgerId, signUpCreditId } from '../commands.ts';
import { chargesTable, ledgersTable } from '../columns.ts';
import { type DayCount, planSpans, widenSpans } from './spans.ts';
import type { UsageCursor } from './usage-cursor.ts';
import { dayOf, hourMs } from '../../../lib/utc-time.ts';

export type Balance = Omit<LedgerState, 'isFrozen' | 'lastEntryAtMs'> & {
  readonly availableMicros: Micros;
};

/** Returns the balance as of the last commit, or null when the ledger does not exist. */
export async function readBalance(db: Db, ledgerId: LedgerId): Promise<Balance | null> {
  const query = db.selectFrom('ledgers').selectAll().where('id', '=', ledgerId);
  const row = await query.executeTakeFirst();
  if (!row) return null;
  const { lastEntryAtMs: _, ...state } = ledgersTable.recordOf(row);
  return { ...state, availableMicros: availableMicrosOf(state) };
}

export type ChargeQuery = {
  readonly ledgerId: LedgerId;
  /** Charges per page, at least 1. */
  readonly limit: number;
  /** The last charge of the previous page; null starts at the newest. */
  readonly cursor: UsageCursor | null;
} & ChargeFilter;

/** Filters; a charge must pass all of them. */
export type ChargeFilter = {
  readonly holdId?: string;
  readonly keyId?: string;
  readonly modelId?: string;
  readonly endpoint?: string;
  /** The member in whose figures the key counts. */
  readonly member?: string;
  readonly provider?: string;
  readonly tag?: string;
  /** An hour of the week in UTC: 0 is Sunday from midnight to one, 167 the last of Saturday. */
  readonly weekHour?: number;
  /** Inclusive. Charges whose duration is not known do not pass a least one. */
  readonly costMinMicros?: number;
  readonly costMaxMicros?: number;
  readonly durationMinMs?: number;
  /** The program that sent it. Charges that the history no longer has do not pass. */
  readonly client?: string;
  readonly ending?: Charge['ending'];
  /** Unix milliseconds; `toMs` is exclusive. */
  readonly fromMs?: number;
  readonly toMs?: number;
};

type ChargePage = {
  readonly charges: readonly Charge[];
  /**
   * The cursor of the next page; null exactly on the last page. A page of a search that found little
   * is short, or empty, and has one.
   */
  readonly next: UsageCursor | null;
};

/**
 * Returns charges, newest first. New charges between two pages neither shift nor repeat one,
 * because a page starts after a charge, not at an offset. Without a filter, or by time, request or
 * the ending `cut-off`, a page is read from an index. Other filters are searched for, a bounded part
 * on each page: by key, model, endpoint and tag, only in the days with matches; by a least cost only
 * in the days that cost as much. `stepRows`: charges that one statement reads.
 */
export async function listCharges(
  db: Db,
  query: ChargeQuery,
  stepRows = rowsPerStep,
): Promise<ChargePage> {
  const { limit, ledgerId, cursor } = query;
  const isSearch = isSearched(query);
  const { rows, next } = await searchPage(await spansOf(db, query), {
    limit,
    startOf: async (span) => {
      if (!isSearch) return null;
      const step = selectCharges(db, { ledgerId, cursor }, { ...span, rowsMax: 1 });
      const last = await step
        .clearSelect()
        .select('created_at_ms')
        .offset(stepRows - 1)
        .execute();
      return last[0]?.created_at_ms ?? null;
    },
    read: async (span, rowsMax) =>
      (await selectCharges(db, query, { ...span, rowsMax }).execute()).map(chargesTable.recordOf),
  });
  return { charges: rows, next };
}

/** Returns the time spans to search, newest first. */
async function spansOf(db: Db, query: ChargeQuery): Promise<readonly Span[]> {
  const { holdId, fromMs, toMs, cursor, ledgerId } = query;
  const isOneRead = holdId !== undefined || (!isSearched(query) && isSqlite(db));
  if (isOneRead) return [{ fromMs: fromMs ?? null, toMs: toMs ?? null }];
  if (!isSearched(query)) {
    // PostgreSQL would begin to read every partition.
    const newestMs = cursor?.createdAtMs ?? toMs ?? (await readLastEntryTime(db, ledgerId));
    return widenSpans(newestMs, query);
  }
  return planSpans(await countDays(db, query), query);
}

/** Filters that no index has. */
const searched = [
  'keyId',
  'modelId',
  'endpoint',
  'member',
  'provider',
  'tag',
  'weekHour',
  'costMinMicros',
  'costMaxMicros',
  'durationMinMs',
  'client',
] as const;

function isSearched(query: ChargeQuery): boolean {
  return query.holdId === undefined && searched.some((name) => query[name] !== undefined);
}

async function readLastEntryTime(db: Db, ledgerId: LedgerId): Promise<number> {
  const query = db.selectFrom('ledgers').select('last_entry_at_ms').where('id', '=', ledgerId);
  return (await query.executeTakeFirst())?.last_entry_at_ms ?? 0;
}

/**
 * Returns the ledger's days that the page may include, newest first: the number of charges, and how
 * many of them pass the filter.
 */
async function countDays(
  db: Db,
  { ledgerId, cursor, ...filter }: ChargeQuery,
): Promise<readonly DayCount[]> {
  const passes = [
    sql`1 = 1`,
    ...equalities(filter, ['keyId', 'modelId', 'endpoint']),
    ...given(filter.member, (member) => isKeyOf(db, 'charge_days', member)),
    // No charge costs more than all together.
    ...given(filter.costMinMicros, (least) => sql`cost_micros >= ${least}`),
  ];
  const matching = sql<number>`sum(case when ${sql.join(passes, sql` and `)} then requests else 0 end)`;
  let days = db
    .selectFrom('charge_days')
    .select(({ fn }) => ['day', fn.sum<number>('requests').as('requests'), matching.as('matching')])
    .where('ledger_id', '=', ledgerId)
    // The sums of removed days are kept, but there is nothing to find.
    .where((eb) => {
      const removed = eb.selectFrom('sealed_days').where('removed_at_ms', 'is not', null);
      const last = removed.select((sealed) => sealed.fn.max('sealed_days.day').as('day'));
      return eb('charge_days.day', '>', eb.fn.coalesce(last, eb.val('')));
    });
  if (filter.fromMs !== undefined) days = days.where('day', '>=', dayOf(filter.fromMs));
  if (filter.toMs !== undefined) days = days.where('day', '<=', dayOf(filter.toMs));
  if (cursor) days = days.where('day', '<=', dayOf(cursor.createdAtMs));
  const rows = await days.groupBy('day').orderBy('day', 'desc').execute();
  const tagged = filter.tag === undefined ? null : await readTaggedDays(db, ledgerId, filter.tag);
  return rows.map((row) => (tagged?.has(row.day) === false ? { ...row, matching: 0 } : row));
}

async function readTaggedDays(
  db: Db,
  ledgerId: LedgerId,
  tag: string,
): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('tag_days')
    .select('day')
    .distinct()
    .where('ledger_id', '=', ledgerId)
    .where('tag', '=', tag)
    .execute();
  return new Set(rows.map(({ day }) => day));
}

function isKeyOf(db: Db, table: 'charges' | 'charge_days', member: string) {
  return sql<boolean>`${memberOfKey(db, `${table}.key_id`)} = ${member}`;
}

const columns = {
  keyId: 'key_id',
  modelId: 'model_id',
  endpoint: 'endpoint',
  provider: 'provider',
} as const;

/**
 * Builds the statement for a part of a page, newest first. It has a single upper time bound: with
 * two, the filter's and the cursor's, SQLite would search by the first and read all previous pages
 * again.
 */
export function selectCharges(
  db: Db,
  { ledgerId, cursor, holdId, ending, ...filter }: Omit<ChargeQuery, 'limit'>,
  { fromMs, toMs, rowsMax }: Span & { readonly rowsMax: number },
) {
  let query = selectFromCharges(db, ending).selectAll().where('ledger_id', '=', ledgerId);
  if (holdId !== undefined) query = query.where('id', '=', holdId);
  // The index has no ids, and the charge has the time of its entry.
  if (holdId !== undefined)
    query = query.where('created_at_ms', '=', (eb) =>
      eb
        .selectFrom('entries')
        .select('entries.created_at_ms')
        .where('entries.id', '=', holdId)
        .where('entries.kind', '=', 'settle'),
    );
  for (const condition of conditionsOf(db, filter)) query = query.where(condition);
  // A literal, because a partial index is used only when the SQL text contains its condition.
  if (ending !== undefined) query = query.where('ending', '=', sql.lit(ending));
  if (fromMs !== null) query = query.where('created_at_ms', '>=', fromMs);
  if (cursor && (toMs === null || cursor.createdAtMs < toMs)) {
    query = query.where((eb) =>
      eb(eb.refTuple('created_at_ms', 'id'), '<', eb.tuple(cursor.createdAtMs, cursor.id)),
    );
    // Leaves out newer partitions. On SQLite it would be a second bound.
    if (!isSqlite(db)) query = query.where('created_at_ms', '<=', cursor.createdAtMs);
  } else if (toMs !== null) {
    query = query.where('created_at_ms', '<', toMs);
  }
  return query.orderBy('created_at_ms', 'desc').orderBy('id', 'desc').limit(rowsMax);
}

export type ChargeOrder = 'cost' | 'duration' | 'first-token';

const orders = {
  cost: 'cost_micros',
  duration: 'duration_ms',
  'first-token': 'first_byte_ms',
} as const;

/**
 * Returns the charges with the highest values, highest first. Reads all charges of the time, so the
 * caller bounds it. Charges without the value are left out.
 */
export async function listTopCharges(
  db: Db,
  {
    ledgerId,
    order,
    limit,
    ...filter
  }: ChargeFilter & {
    readonly ledgerId: LedgerId;
    readonly order: ChargeOrder;
    readonly limit: number;
  },
): Promise<readonly Charge[]> {
  const column = orders[order];
  let query = db
    .selectFrom('charges')
    .selectAll()
    .where('ledger_id', '=', ledgerId)
    .where(column, 'is not', null);
  for (const condition of conditionsOf(db, filter)) query = query.where(condition);
  if (filter.ending !== undefined) query = query.where('ending', '=', filter.ending);
  if (filter.fromMs !== undefined) query = query.where('created_at_ms', '>=', filter.fromMs);
  if (filter.toMs !== undefined) query = query.where('created_at_ms', '<', filter.toMs);
  const rows = await query
    .orderBy(column, 'desc')
    .orderBy('created_at_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(chargesTable.recordOf);
}

/** 1970-01-01 was a Thursday. */
const firstWeekHour = 4 * 24;

function conditionsOf(db: Db, filter: ChargeFilter): readonly RawBuilder<boolean>[] {
  return [
    ...given(filter.costMinMicros, (least) => sql<boolean>`cost_micros >= ${least}`),
    ...given(filter.costMaxMicros, (most) => sql<boolean>`cost_micros <= ${most}`),
    ...given(filter.durationMinMs, (least) => sql<boolean>`duration_ms >= ${least}`),
    ...equalities(filter, ['keyId', 'modelId', 'endpoint', 'provider']),
    ...given(filter.member, (member) => isKeyOf(db, 'charges', member)),
    ...given(
      filter.client,
      (client) =>
        sql<boolean>`exists (select 1 from request_log where request_log.request_id = charges.id
          and ${isOfClient(client)})`,
    ),
    ...given(
      filter.tag,
      (tag) =>
        sql<boolean>`exists (select 1 from charge_tags where charge_tags.ledger_id = charges.ledger_id
          and charge_tags.tag = ${tag} and charge_tags.created_at_ms = charges.created_at_ms
          and charge_tags.charge_id = charges.id)`,
    ),
    ...given(
      filter.weekHour,
      (hour) =>
        sql<boolean>`(created_at_ms / ${sql.lit(hourMs)} + ${sql.lit(firstWeekHour)}) % 168 = ${hour}`,
    ),
  ];
}

/** Returns a condition, or none without a value. */
function given<Value, Condition>(
  value: Value | undefined,
  conditionOf: (value: Value) => Condition,
): readonly Condition[] {
  return value === undefined ? [] : [conditionOf(value)];
}

function equalities(
  filter: ChargeFilter,
  names: readonly (keyof typeof columns)[],
): readonly RawBuilder<boolean>[] {
  return names.flatMap((name) =>
    given(filter[name], (value) => sql<boolean>`${sql.ref(columns[name])} = ${value}`),
  );
}

/** SQLite does not know that few charges were cut off, and would rather read all in their order. */
function selectFromCharges(db: Db, ending: Charge['ending'] | undefined) {
  const isHinted = ending === 'cut-off' && isSqlite(db);
  const hinted = sql<Tables['charges']>`charges`.as<'charges'>(
    sql`charges indexed by charges_cut_off`,
  );
  return isHinted ? db.selectFrom(hinted) : db.selectFrom('charges');
}

/** Returns a credit or debit as booked, or null. */
export async function findAdjustment(
  db: Db,
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

/**
 * Returns a credit of the ledger; null when there is none with this id, and for the one at sign-up.
 * `number`: its place among these credits, from 1. `seq` follows the order of a ledger's decisions, and
 * entries are never removed: so a number stays, and none is left out.
 */
export async function findCredit(
  db: Db,
  { ledgerId, entryId }: { readonly ledgerId: LedgerId; readonly entryId: string },
): Promise<{
  readonly number: number;
  readonly amountMicros: Micros;
  readonly note: string | null;
  readonly createdAtMs: number;
} | null> {
  const row = await db
    .selectFrom('entries')
    .select(['seq', 'posted_delta_micros', 'note', 'created_at_ms'])
    .where('id', '=', entryId)
    .where('kind', '=', 'credit')
    .where('ledger_id', '=', ledgerId)
    .executeTakeFirst();
  const signUpId = signUpCreditId(accountIdOf(ledgerId));
  if (!row || entryId === signUpId) return null;
  const { number } = await db
    .selectFrom('entries')
    .select(({ fn }) => fn.countAll<number>().as('number'))
    .where('ledger_id', '=', ledgerId)
    .where('key_id', 'is', null)
    .where('kind', '=', 'credit')
    .where('id', '<>', signUpId)
    .where('seq', '<=', row.seq)
    .executeTakeFirstOrThrow();
  const { posted_delta_micros: amountMicros, note, created_at_ms: createdAtMs } = row;
  return { number, amountMicros, note, createdAtMs };
}

/**
 * Returns true when the ledger was ever credited more than a sign-up credit, by a payment or an
 * operator.
 */
export async function hasPaid(db: Db, ledgerId: LedgerId): Promise<boolean> {
  const credit = await db
    .selectFrom('entries')
    .select('seq')
    .where('ledger_id', '=', ledgerId)
    // Matches the partial index of credits and debits.
    .where('key_id', 'is', null)
    .where('kind', '=', 'credit')
    .where('posted_delta_micros', '>', micros(0))
    .where('id', '<>', signUpCreditId(accountIdOf(ledgerId)))
    .limit(1)
    .executeTakeFirst();
  return credit !== undefined;
}

/** Returns the price terms of a charge by its `priceId`, or null. */
export async function readPriceTerms(db: Db, priceId: string): Promise<PriceTerms | null> {
  const row = await db
    .selectFrom('prices')
    .select('terms')
    .where('id', '=', priceId)
    .executeTakeFirst();
  return row ? readKeptTerms(row.terms) : null;
}

/** Tokens of a charge, as they are shown. */
export function tokensOf(usage: Charge['usage']) {
  return {
    input: usage.inputTokens,
    cache_read: usage.cacheReadTokens,
    cache_write: usage.cacheWriteTokens,
    cache_write_1h: usage.cacheWrite1hTokens,
    output: usage.outputTokens,
    reasoning: usage.reasoningTokens,
  };
}
