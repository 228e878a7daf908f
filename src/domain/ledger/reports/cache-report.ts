// The report on providers' prompt caches, for accounts and for the operator, in the form in which the
// APIs and the command line show it. Reads charges, so its work is bounded by their number.
import { setImmediate } from 'node:timers/promises';
import type { Db } from '../../../db/schema.ts';
import { isoTimeOf } from '../../../lib/iso-time.ts';
import { dayOf, hourMs } from '../../../lib/utc-time.ts';
import { missReasons } from '../../../terms/prompt-cache.ts';
import type { Charge } from '../book.ts';
import { accountIdOf, type LedgerId } from '../commands.ts';
import { cacheCounts, explainTurns, type CacheCounts, type ExplainedTurn } from './cache-turns.ts';
import { listCharges, readPriceTerms, type ChargeFilter } from './queries.ts';
import type { UsageCursor } from './usage-cursor.ts';

export const cacheGroups = ['model', 'key', 'day', 'conversation'] as const;

export type CacheQuery = Pick<ChargeFilter, 'holdId' | 'keyId' | 'modelId'> & {
  readonly ledgerIds: readonly LedgerId[];
  /** Unix milliseconds; `toMs` is exclusive. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly by: (typeof cacheGroups)[number] | 'account';
  /** The most charges to read: the newest. */
  readonly chargesMax?: number;
  readonly upstreamModelOf: (modelId: string, provider: string) => string;
};

type CacheMiss = NonNullable<ExplainedTurn['missed']> & { readonly requests: number };
/** `missed`: in the order of `missReasons`, each with the turn at which it occurred first. */
type CacheSums = CacheCounts & { missed: readonly CacheMiss[] };

export type CacheReport = {
  readonly total: CacheSums;
  /** In order of what the missed tokens cost, then of the whole cost. */
  readonly rows: readonly (CacheSums & {
    readonly id: string;
    /** The model and key of the conversation's last request, and its time. */
    readonly model_id: string;
    readonly key_id: string;
    readonly last_at: string;
  })[];
  /** Not null: there were too many charges, and those before then are not counted. */
  readonly cut_at: string | null;
};

/** The most days of a report for an account. */
export const cacheDaysMax = 31;
const rowsMax = 100;
/** Charges are read and explained in steps: SQLite is read in this thread, which has other work. */
const stepRows = 500;

/** The last report of each account. A report holds all of its charges, so they run one by one. */
const running = new Map<string, Promise<unknown>>();

export function reportCaches(db: Db, query: CacheQuery): Promise<CacheReport> {
  const account = query.ledgerIds.join();
  const report = (running.get(account) ?? Promise.resolve()).then(() => readReport(db, query));
  const ended = report.catch(() => {});
  running.set(account, ended);
  void ended.then(() => running.get(account) === ended && running.delete(account));
  return report;
}

async function readReport(db: Db, query: CacheQuery): Promise<CacheReport> {
  const { ledgerIds, fromMs, by, chargesMax = 20_000 } = query;
  const groups = new Map<string, { readonly sums: CacheSums; readonly last: Charge }>();
  const total = noSums();
  let left = chargesMax;
  let cutAtMs: number | null = null;
  for (const ledgerId of ledgerIds) {
    const { charges, isCut } = await readNewest(db, query, ledgerId, left);
    left -= charges.length;
    if (isCut) cutAtMs = Math.max(cutAtMs ?? 0, charges[0]?.createdAtMs ?? query.toMs);
    let steps = 0;
    for (const turn of explainTurns(await withPrices(db, query, charges))) {
      if (++steps % stepRows === 0) await setImmediate();
      const { charge } = turn;
      if (charge.createdAtMs < fromMs || !isAsked(charge, query)) continue;
      const id = groupOf(charge, by);
      const { sums } = groups.get(id) ?? { sums: noSums() };
      groups.set(id, { sums, last: charge });
      add(total, turn);
      add(sums, turn);
    }
  }
  const rows = [...groups].map(([id, { sums, last }]) => {
    const of = { model_id: last.modelId, key_id: last.keyId };
    return { id, ...of, last_at: isoTimeOf(last.createdAtMs)!, ...sums };
  });
  return {
    total,
    rows: rows
      .toSorted((a, b) => missedCost(b) - missedCost(a) || b.cost_micros - a.cost_micros)
      .slice(0, rowsMax),
    cut_at: isoTimeOf(cutAtMs),
  };
}

/**
 * Returns the newest charges in order of time, with those of an hour before, which explain the first
 * ones: providers keep prompts no longer.
 */
async function readNewest(
  db: Db,
  { fromMs, toMs }: CacheQuery,
  ledgerId: LedgerId,
  most: number,
): Promise<{ readonly charges: readonly Charge[]; readonly isCut: boolean }> {
  const found: Charge[] = [];
  let cursor: UsageCursor | null = null;
  const range = { ledgerId, fromMs: fromMs - hourMs, toMs };
  while (found.length < most) {
    await setImmediate();
    const limit = Math.min(stepRows, most - found.length);
    const page = await listCharges(db, { ...range, limit, cursor });
    found.push(...page.charges);
    cursor = page.next;
    if (!cursor) break;
  }
  const isCut = most === 0 || (cursor !== null && found.at(-1)!.createdAtMs >= fromMs);
  return { charges: found.toReversed(), isCut };
}

/**
 * Leaves out what the gateway counted itself, which says nothing about the cache, and requests with
 * searches, whose input is that of several calls together.
 */
async function withPrices(db: Db, { upstreamModelOf }: CacheQuery, charges: readonly Charge[]) {
  const known = charges.filter(
    (one) => one.conversation && one.usageSource === 'upstream' && one.webSearches === 0,
  );
  const terms = new Map<string | null, Awaited<ReturnType<typeof readPriceTerms>>>();
  for (const { priceId } of known)
    if (priceId && !terms.has(priceId)) terms.set(priceId, await readPriceTerms(db, priceId));
  return known.flatMap((charge) => {
    const prices = terms.get(charge.priceId)?.list;
    const upstreamModel = upstreamModelOf(charge.modelId, charge.provider);
    return prices ? [{ charge, prices, upstreamModel }] : [];
  });
}

function isAsked(charge: Charge, { holdId, keyId, modelId }: CacheQuery): boolean {
  return (
    charge.id === (holdId ?? charge.id) &&
    charge.keyId === (keyId ?? charge.keyId) &&
    charge.modelId === (modelId ?? charge.modelId)
  );
}

function groupOf(charge: Charge, by: CacheQuery['by']): string {
  const { modelId: model, keyId: key, ledgerId } = charge;
  if (by === 'day') return dayOf(charge.createdAtMs);
  return { model, key, account: accountIdOf(ledgerId), conversation: charge.conversation! }[by];
}

function noSums(): CacheSums {
  const zeros = Object.fromEntries(cacheCounts.map((name) => [name, 0])) as CacheCounts;
  return { ...zeros, missed: [] };
}

function add(sums: CacheSums, { missed, ...turn }: ExplainedTurn): void {
  for (const name of cacheCounts) sums[name] += turn[name];
  if (!missed) return;
  const none = { ...missed, requests: 0, tokens: 0, cost_micros: 0 };
  const before = sums.missed.find(({ reason }) => reason === missed.reason) ?? none;
  const after = {
    ...before,
    requests: before.requests + 1,
    tokens: before.tokens + missed.tokens,
    cost_micros: before.cost_micros + missed.cost_micros,
  };
  sums.missed = [...sums.missed.filter((one) => one !== before), after].toSorted(
    (one, other) => missReasons.indexOf(one.reason) - missReasons.indexOf(other.reason),
  );
}

function missedCost({ missed }: CacheSums): number {
  return missed.reduce((sum, { cost_micros: cost }) => sum + cost, 0);
}
