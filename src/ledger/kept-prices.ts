// The prices that charges were made at.
import type { Kysely } from 'kysely';
import { readKeptTerms, type PriceTerms } from '../canonical/price-terms.ts';
import type { Tables } from '../db/schema.ts';

/** By a charge's `priceId`. null: there is none of this id. */
export async function readPriceTerms(db: Kysely<Tables>, priceId: string): Promise<PriceTerms | null> {
  const row = await db.selectFrom('prices').select('terms').where('id', '=', priceId).executeTakeFirst();
  return row ? readKeptTerms(row.terms) : null;
}
