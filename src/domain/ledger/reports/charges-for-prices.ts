// Reads charges, to price them again.
import type { Kysely } from 'kysely';
import type { Tables } from '../../../db/schema.ts';
import { type PriceTerms, readKeptTerms } from '../../../terms/price-terms.ts';
import type { Charge } from '../book.ts';
import { chargesTable } from '../columns.ts';

/** `terms`: null when the charge was made before prices were kept. */
export type PricedCharge = { readonly charge: Charge; readonly terms: () => PriceTerms | null };

/** Returns the newest live charges, at most `max`. */
export async function readChargesForPrices(
  db: Kysely<Tables>,
  { fromMs, max }: { readonly fromMs: number; readonly max: number },
): Promise<readonly PricedCharge[]> {
  const rows = await db
    .selectFrom('charges')
    .leftJoin('prices', 'prices.id', 'charges.price_id')
    .selectAll('charges')
    .select('prices.terms')
    .where('created_at_ms', '>=', fromMs)
    .where('ledger_id', 'like', '%:live')
    .orderBy('created_at_ms', 'desc')
    .limit(max)
    .execute();
  return rows.map(({ terms, ...row }) => ({
    charge: chargesTable.recordOf(row),
    terms: () => (terms === null ? null : readKeptTerms(terms)),
  }));
}
