// Seals the next day: audits its entries and charges, compares them with its daily sums, and stores
// digests of all of them with the state to continue from. A day that does not agree is not sealed,
// and so no later one.
import type { Database } from '../../../db/database.ts';
import type { Db } from '../../../db/schema.ts';
import { type Audit, auditEntry, newAudit, type Problem } from '../reports/audit.ts';
import { compareDays, findChargeWithoutEntry, readDaySums } from '../reports/compare-sums.ts';
import { compareTags, readTagDays } from '../reports/compare-tags.ts';
import { dayOf, nextDayMs } from '../../../lib/utc-time.ts';
import { DayDigests, digestSums, digestText } from './digests.ts';
import { type JournalRow, readJournal } from './journal.ts';
import { digestOfSeal, findWrongState, positionOf, readNewestSeal, type SealRow } from './seals.ts';
import { closeDays } from './sealing-turn.ts';
import { readState, writeState } from './state.ts';

export type Sealing =
  /** No further day is over. */
  | { readonly kind: 'up-to-date' }
  | { readonly kind: 'sealed'; readonly seal: SealRow }
  | { readonly kind: 'refused'; readonly day: string; readonly problem: Problem }
  /** Another gateway sealed it first. */
  | { readonly kind: 'sealed-by-another' };

type SealTimes = {
  /** Days that end at or before this may be sealed; Unix milliseconds. */
  readonly closedMs: number;
  readonly nowMs: number;
};

/** Reads in many short steps, and writes one row. */
export async function sealNextDay(
  { read, write }: Pick<Database, 'read' | 'write'>,
  { closedMs, nowMs }: SealTimes,
): Promise<Sealing> {
  const before = await readNewestSeal(read);
  const untilMs = await findNextEnd(read, before, closedMs);
  if (untilMs === null) return { kind: 'up-to-date' };
  const day = dayOf(untilMs - 1);
  const wrongState = before && findWrongState(before);
  if (wrongState) return { kind: 'refused', day, problem: wrongState };
  await closeDays(write, untilMs);
  const audited =
    (await auditDay(read, { before, untilMs, pagesBehind: pagesBehindMax })) ??
    (await auditDay(read, { before, untilMs, pagesBehind: Infinity }))!;
  if ('problem' in audited) return { kind: 'refused', day, problem: audited.problem };
  const fields = { day, ...audited, previous_digest: before?.digest ?? '' };
  const seal: SealRow = {
    ...fields,
    digest: digestOfSeal(fields),
    sealed_at_ms: nowMs,
    removing_since_ms: null,
    removed_at_ms: null,
  };
  const isStored = await storeSeal(write, seal);
  return isStored ? { kind: 'sealed', seal } : { kind: 'sealed-by-another' };
}

/**
 * Returns the end of the next day to seal; null when none is over. Passes over a gap in the
 * history, so that an old date costs no thousands of seals.
 */
async function findNextEnd(
  db: Db,
  before: SealRow | null,
  closedMs: number,
): Promise<number | null> {
  const nextMs = before ? nextDayMs(before.until_ms) : 0;
  let oldestMs = Infinity;
  for await (const page of readJournal(db, positionOf(before))) {
    for (const { entry } of page) oldestMs = Math.min(oldestMs, entry.created_at_ms);
    // Before the first seal, what comes first may all be dated far ahead.
    const isSearched = before !== null || oldestMs < closedMs;
    if (isSearched && page.some(({ entry }) => entry.seq > positionOf(before).afterSeq)) break;
  }
  const foundMs = oldestMs === Infinity ? Infinity : Math.max(nextMs, nextDayMs(oldestMs));
  if (foundMs <= closedMs) return foundMs;
  return before && nextMs <= closedMs ? nextMs : null;
}

/** The day is taken to end after so many pages of later entries; if it does not agree then, all are read. */
const pagesBehindMax = 5;
/** Entries of later days that stand before the last one of the day; see `Position`. */
const aheadMax = 1_000;

type DayAudit = {
  readonly before: SealRow | null;
  readonly untilMs: number;
  readonly pagesBehind: number;
};
/** The fields of a seal that are computed from the day's rows and the seal before. */
type Audited = Omit<
  SealRow,
  'day' | 'previous_digest' | 'digest' | 'sealed_at_ms' | 'removing_since_ms' | 'removed_at_ms'
>;

/** Returns null when the day does not agree and not all later entries were read. */
async function auditDay(
  db: Db,
  { before, untilMs, pagesBehind }: DayAudit,
): Promise<Audited | { readonly problem: Problem } | null> {
  const from = positionOf(before);
  const audit = await startAudit(db, before);
  const walk: Walk = { digests: new DayDigests(), deferred: [], lastSeq: from.lastSeq };
  let behind = 0;
  for await (const page of readJournal(db, from)) {
    const { problem, covered } = addPage(audit, walk, { page, untilMs });
    if (problem) return { problem };
    behind = covered === 0 && page.length > 0 ? behind + 1 : 0;
    if (behind >= pagesBehind) break;
  }
  const days = { fromDay: before ? dayOf(before.until_ms) : '', toDay: dayOf(untilMs - 1) };
  const sums = await readDaySums(db, days);
  const problem =
    compareDays(audit, sums) ??
    (await findChargeWithoutEntry(db, { fromMs: from.untilMs, toMs: untilMs })) ??
    (await compareTags(db, { fromMs: from.untilMs, toMs: untilMs }));
  if (problem) return behind >= pagesBehind ? null : { problem };
  const state = writeState(audit, before?.until_ms ?? 0);
  const { digests, lastSeq, deferred } = walk;
  const ahead = deferred.filter((seq) => seq <= lastSeq);
  return {
    until_ms: untilMs,
    after_seq: ahead.length > aheadMax ? ahead[aheadMax]! - 1 : lastSeq,
    last_seq: lastSeq,
    ahead: JSON.stringify(ahead.slice(0, aheadMax)),
    entries: digests.entries.count,
    charges: digests.charges.count,
    entries_digest: digests.entries.end(),
    charges_digest: digests.charges.end(),
    sums_digest: digestSums({ ...sums, tagDays: await readTagDays(db, days) }),
    tags_digest: digests.tags.end(),
    state_digest: digestText(state),
    state,
  };
}

async function startAudit(db: Db, before: SealRow | null): Promise<Audit> {
  const ledgers = await db.selectFrom('ledgers').select('id').execute();
  const ids = ledgers.map(({ id }) => id);
  return before ? readState(before.state ?? '', ids) : newAudit(ids);
}

type Walk = {
  readonly digests: DayDigests;
  /** The first entries that are dated behind the day. */
  readonly deferred: number[];
  lastSeq: number;
};

type Page = { readonly page: readonly JournalRow[]; readonly untilMs: number };

function addPage(
  audit: Audit,
  walk: Walk,
  { page, untilMs }: Page,
): { readonly problem: Problem | null; readonly covered: number } {
  let covered = 0;
  for (const row of page) {
    const { entry, charge } = row;
    if (entry.created_at_ms >= untilMs) {
      if (walk.deferred.length <= aheadMax) walk.deferred.push(entry.seq);
      continue;
    }
    covered += 1;
    const problem = auditEntry(audit, entry, charge);
    if (problem) return { problem, covered };
    walk.lastSeq = Math.max(walk.lastSeq, entry.seq);
    walk.digests.add(row);
  }
  return { problem: null, covered };
}

/** Returns false when another gateway has sealed a day meanwhile. */
async function storeSeal(write: Db, seal: SealRow): Promise<boolean> {
  return write.transaction().execute(async (transaction) => {
    // Gateways take turns here.
    await transaction.updateTable('sealing').set({ id: 1 }).execute();
    const newest = await readNewestSeal(transaction);
    if ((newest?.digest ?? '') !== seal.previous_digest) return false;
    await transaction.insertInto('sealed_days').values(seal).execute();
    await transaction
      .updateTable('sealed_days')
      .set({ state: null })
      .where('day', '<', seal.day)
      .where('state', 'is not', null)
      .execute();
    return true;
  });
}
