// Verifies the ledger: walks the journal from its first entry, checks every rule at every step, and
// compares the result with every derived number. Uses none of the core's decisions, so that a wrong
// one is detected.
import type { Kysely } from 'kysely';
import type { Tables } from '../../../db/schema.ts';
import { type Micros, micros } from '../../../lib/money.ts';
import { auditEntry, type Audit, newAudit, type PricedCharge, type Problem } from './audit.ts';
import { compareSums } from './compare-sums.ts';
import type { EntryRow } from '../rows.ts';

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
    }
  | { readonly ok: false; readonly problem: Problem };

const pageRows = 2_000;

/**
 * A check by another module of what it books into the ledger. Resolves to null when everything
 * agrees.
 */
type Comparison = (snapshot: Kysely<Tables>) => Promise<Problem | null>;

/**
 * Verifies a snapshot of the database; concurrent writes do not matter. Reads every entry and
 * charge, and changes nothing.
 */
export function verify(
  db: Kysely<Tables>,
  comparisons: readonly Comparison[] = [],
): Promise<Verification> {
  return db
    .transaction()
    .setAccessMode('read only')
    .execute(async (snapshot) => {
      const ledgers = await snapshot.selectFrom('ledgers').select('id').execute();
      const audit = newAudit(ledgers.map(({ id }) => id));
      const steps = [auditJournal, findChargeWithoutEntry, compareSums, ...comparisons];
      for (const step of steps) {
        const problem = await step(snapshot, audit);
        if (problem) return { ok: false, problem };
      }
      const { entries, charges, uncollected, failed } = audit;
      const losses = { uncollectedMicros: micros(uncollected), failedMicros: micros(failed) };
      return { ok: true, ledgers: ledgers.length, entries, charges, ...losses };
    });
}

async function auditJournal(db: Kysely<Tables>, audit: Audit): Promise<Problem | null> {
  for (let afterSeq = 0; ;) {
    const page = await readPage(db, afterSeq);
    const last = page.at(-1);
    if (!last) return null;
    for (const { entry, charge } of page) {
      const problem = auditEntry(audit, entry, charge);
      if (problem) return problem;
    }
    afterSeq = last.entry.seq;
  }
}

type Audited = { readonly entry: EntryRow; readonly charge: PricedCharge | null };

async function readPage(db: Kysely<Tables>, afterSeq: number): Promise<readonly Audited[]> {
  const entries = await db
    .selectFrom('entries')
    .selectAll()
    .where('seq', '>', afterSeq)
    .orderBy('seq')
    .limit(pageRows)
    .execute();
  const charges = await readCharges(db, afterSeq, entries.at(-1)?.seq ?? afterSeq);
  const chargeById = new Map(charges.map((charge) => [charge.id, charge]));
  return entries.map((entry) => ({
    entry,
    charge: entry.kind === 'settle' ? (chargeById.get(entry.id) ?? null) : null,
  }));
}

/** Returns the charges of the settle entries of one page. */
async function readCharges(
  db: Kysely<Tables>,
  afterSeq: number,
  lastSeq: number,
): Promise<readonly PricedCharge[]> {
  return db
    .selectFrom('charges')
    .innerJoin('entries', 'entries.id', 'charges.id')
    .leftJoin('prices', 'prices.id', 'charges.price_id')
    .selectAll('charges')
    .select('prices.terms')
    .where('entries.kind', '=', 'settle')
    .where('entries.seq', '>', afterSeq)
    .where('entries.seq', '<=', lastSeq)
    .execute();
}

/** Finds a charge without a settle entry. */
async function findChargeWithoutEntry(db: Kysely<Tables>): Promise<Problem | null> {
  const found = await db
    .selectFrom('charges')
    .leftJoin('entries', (join) =>
      join.onRef('entries.id', '=', 'charges.id').on('entries.kind', '=', 'settle'),
    )
    .select('charges.id')
    .where('entries.seq', 'is', null)
    .orderBy('charges.id')
    .executeTakeFirst();
  return found
    ? { table: 'charges', id: found.id, column: 'id', expected: 'a settle entry', found: null }
    : null;
}
