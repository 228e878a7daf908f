// Verifies the ledger: walks the journal, checks every rule at every step, and compares the result
// with every derived number. Uses none of the core's decisions, so that a wrong one is detected.
//
// It starts at the newest seal (seals/), whose state it continues. `all` starts at the first entry
// and checks the digests of every sealed day, so it also finds a sealed row that was changed,
// removed or inserted.
import { sql } from 'kysely';
import { isSqlite } from '../../../db/dialect.ts';
import type { Db } from '../../../db/schema.ts';
import { type Micros, micros } from '../../../lib/money.ts';
import { chargeDaysTable } from '../charge-days.ts';
import { dayOf } from '../../../lib/utc-time.ts';
import { DayDigests, digestSums } from '../seals/digests.ts';
import { readCovered, readJournal } from '../seals/journal.ts';
import { findBrokenSeal, positionOf, readSeals, type SealRow, wrongSeal } from '../seals/seals.ts';
import { readState } from '../seals/state.ts';
import { type Audit, auditEntry, newAudit, type Problem } from './audit.ts';
import { compareSums, findChargeWithoutEntry, readDaySums } from './compare-sums.ts';
import { compareTags, readTagDays } from './compare-tags.ts';

export type Verification =
  | {
      readonly ok: true;
      readonly ledgers: number;
      readonly entries: number;
      readonly charges: number;
      /**
       * The operator's losses, test mode included: cost that exceeded balance and caps, and the
       * cost of failed requests.
       */
      readonly uncollectedMicros: Micros;
      readonly failedMicros: Micros;
      /** The sealed day after which entries were read; absent when all were read. */
      readonly sealedDay?: string;
      /** The last day whose charges were removed; absent when none were. Only their files prove them. */
      readonly removedDay?: string;
    }
  | { readonly ok: false; readonly problem: Problem };

/**
 * A check by another module of what it books into the ledger. Resolves to null when everything
 * agrees.
 */
type Comparison = (snapshot: Db) => Promise<Problem | null>;

/** Verifies a snapshot of the database; concurrent writes do not matter. Changes nothing. */
export function verify(
  db: Db,
  comparisons: readonly Comparison[] = [],
  { all = false }: { readonly all?: boolean } = {},
): Promise<Verification> {
  return db
    .transaction()
    .setAccessMode('read only')
    .execute(async (snapshot) => {
      await keepCharges(snapshot);
      const ledgers = await snapshot.selectFrom('ledgers').select('id').execute();
      const ledgerIds = ledgers.map(({ id }) => id);
      const seals = await readSeals(snapshot);
      const newest = all ? undefined : seals.at(-1);
      const broken = findBrokenSeal(seals);
      if (broken) return { ok: false, problem: broken };
      const audit = newest ? readState(newest.state ?? '', ledgerIds) : newAudit(ledgerIds);
      const sinceMs = newest?.until_ms;
      const removed = seals.findLast((seal) => seal.removed_at_ms !== null);
      const removing = seals.findLast((seal) => seal.removing_since_ms !== null);
      const removingUntilMs = removing?.until_ms ?? 0;
      const steps: readonly Comparison[] = [
        (within) => findRemoved(within, removed),
        (within) => auditSealed(within, audit, newest ? [] : seals),
        (within) => auditRest(within, audit, seals.at(-1)),
        (within) => findChargeWithoutEntry(within, { fromMs: sinceMs }),
        (within) => compareSums(within, audit, sinceMs),
        (within) => compareTags(within, { fromMs: sinceMs ?? removingUntilMs }),
        ...comparisons,
      ];
      for (const step of steps) {
        const problem = await step(snapshot);
        if (problem) return { ok: false, problem };
      }
      const { entries, charges, uncollected, failed } = audit;
      const losses = { uncollectedMicros: micros(uncollected), failedMicros: micros(failed) };
      const from = {
        ...(newest && { sealedDay: newest.day }),
        ...(removed && { removedDay: removed.day }),
      };
      return { ok: true, ledgers: ledgers.length, entries, charges, ...losses, ...from };
    });
}

/**
 * On PostgreSQL a dropped partition is gone from every snapshot. The lock comes before the snapshot
 * is taken, and lasts as long.
 */
async function keepCharges(snapshot: Db): Promise<void> {
  if (!isSqlite(snapshot)) await sql`lock table charges in access share mode`.execute(snapshot);
}

/** Finds a charge of the days whose charges were removed: this one was put back or forged. */
async function findRemoved(db: Db, newest: SealRow | undefined): Promise<Problem | null> {
  if (!newest) return null;
  const found = await db
    .selectFrom('charges')
    .select('id')
    .where('ledger_id', 'in', (eb) => eb.selectFrom('ledgers').select('ledgers.id'))
    .where('created_at_ms', '<', newest.until_ms)
    .limit(1)
    .executeTakeFirst();
  return found
    ? { table: 'charges', id: found.id, column: 'id', expected: 'no row', found: 'a row' }
    : null;
}

/** Audits sealed days, and compares each with its seal. */
export async function auditSealed(
  db: Db,
  audit: Audit,
  seals: readonly SealRow[],
): Promise<Problem | null> {
  let before: SealRow | undefined;
  for (const seal of seals) {
    const problem = await auditSeal(db, audit, { before, seal });
    if (problem) return problem;
    before = seal;
  }
  return null;
}

type Pair = { readonly before: SealRow | undefined; readonly seal: SealRow };

async function auditSeal(db: Db, audit: Audit, { before, seal }: Pair): Promise<Problem | null> {
  const digests = new DayDigests();
  const isRemoved = seal.removing_since_ms !== null;
  // Microdollars charged in a removed day, by ledger, from its settle entries.
  const taken = new Map<string, number>();
  const span = { before: positionOf(before), seal: positionOf(seal) };
  for await (const page of readCovered(db, span)) {
    for (const row of page) {
      const { entry, charge } = row;
      const problem = auditEntry(audit, entry, isRemoved ? { left: charge } : charge);
      if (problem) return problem;
      digests.add(row);
      if (isRemoved && entry.kind === 'settle')
        taken.set(entry.ledger_id, (taken.get(entry.ledger_id) ?? 0) - entry.posted_delta_micros);
    }
  }
  const differing = (rows: 'entries' | 'charges' | 'tags') => {
    const [column, digest] = [`${rows}_digest` as const, digests[rows].end()];
    return digest === seal[column] ? null : wrongSeal(seal, column, seal[column], digest);
  };
  const wrong = differing('entries');
  if (wrong) return wrong;
  return isRemoved
    ? addRemoved(db, audit, { before, seal, taken })
    : (differing('charges') ?? differing('tags'));
}

/** Adds the sums of a day whose charges were removed: they are as they were sealed. */
async function addRemoved(
  db: Db,
  audit: Audit,
  { before, seal, taken }: Pair & { readonly taken: ReadonlyMap<string, number> },
): Promise<Problem | null> {
  const days = { fromDay: before ? dayOf(before.until_ms) : '', toDay: seal.day };
  const sums = await readDaySums(db, days);
  const { chargeDays } = sums;
  const digest = digestSums({ ...sums, tagDays: await readTagDays(db, days) });
  if (digest !== seal.sums_digest) return wrongSeal(seal, 'sums_digest', seal.sums_digest, digest);
  const rest = new Map(taken);
  for (const row of chargeDays) {
    audit.chargeDays.set(chargeDaysTable.idOf(row), row);
    const ledger = audit.ledgers.get(row.ledger_id);
    if (ledger) {
      ledger.input_tokens += row.input_tokens;
      ledger.output_tokens += row.output_tokens;
    }
    rest.set(row.ledger_id, (rest.get(row.ledger_id) ?? 0) - row.cost_micros);
  }
  const differing = [...rest].find(([, amount]) => amount !== 0);
  return differing
    ? {
        table: 'charge_days',
        id: `${differing[0]} ${seal.day}`,
        column: 'cost_micros',
        expected: taken.get(differing[0]) ?? 0,
        found: (taken.get(differing[0]) ?? 0) - differing[1],
      }
    : null;
}

/** Audits what no seal covers. */
async function auditRest(
  db: Db,
  audit: Audit,
  newest: SealRow | undefined,
): Promise<Problem | null> {
  for await (const page of readJournal(db, positionOf(newest))) {
    for (const { entry, charge } of page) {
      const problem = auditEntry(audit, entry, charge);
      if (problem) return problem;
    }
  }
  return null;
}
