// Reads charges, to price them again.
import { setImmediate } from 'node:timers/promises';
import type { Db } from '../../../db/schema.ts';
import { type PriceTerms, readKeptTerms } from '../../../terms/price-terms.ts';
import type { Charge } from '../book.ts';
import { chargesTable } from '../columns.ts';

/** `terms`: null when the charge was made before prices were kept. */
export type PricedCharge = { readonly charge: Charge; readonly terms: () => PriceTerms | null };

/**
 * Returns the newest live charges between two times, at most `max`. Only the charges of one ledger are
 * indexed by time, so it reads one short span of all ledgers after the other, and other work goes on
 * between them.
 */
export async function readChargesForPrices(
  db: Db,
  { fromMs, toMs, max }: Readonly<Record<'fromMs' | 'toMs' | 'max', number>>,
): Promise<readonly PricedCharge[]> {
  const charges: PricedCharge[] = [];
  let untilMs = toMs;
  let spanMs = 60_000;
  while (charges.length < max && untilMs > fromMs) {
    const sinceMs = Math.max(untilMs - spanMs, fromMs);
    const rows = await readSpan(db, { sinceMs, untilMs, max: max - charges.length });
    for (const { terms, ...row } of rows)
      charges.push({
        charge: chargesTable.recordOf(row),
        terms: () => (terms === null ? null : readKeptTerms(terms)),
      });
    untilMs = sinceMs;
    spanMs = rows.length < 1_000 ? spanMs * 2 : Math.ceil(spanMs / 2);
    await setImmediate();
  }
  return charges;
}

function readSpan(
  db: Db,
  { sinceMs, untilMs, max }: Readonly<Record<'sinceMs' | 'untilMs' | 'max', number>>,
) {
  return db
    .selectFrom('ledgers')
    .innerJoin('charges', 'charges.ledger_id', 'ledgers.id')
    .leftJoin('prices', 'prices.id', 'charges.price_id')
    .selectAll('charges')
    .select('prices.terms')
    .where('ledgers.mode', '=', 'live')
    .where('charges.created_at_ms', '>', sinceMs)
    .where('charges.created_at_ms', '<=', untilMs)
    .orderBy('charges.created_at_ms', 'desc')
    .limit(max)
    .execute();
}
