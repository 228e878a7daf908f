// Reads charges of models, to price them again.
import type { Kysely } from 'kysely';
import type { Tables } from '../../../db/schema.ts';
import type { Charge } from '../book.ts';
import { chargesTable } from '../columns.ts';

/** Returns the newest live charges of answers without web searches, at most `max`. */
export async function readChargesForPrices(
  db: Kysely<Tables>,
  { fromMs, max }: { readonly fromMs: number; readonly max: number },
): Promise<readonly Charge[]> {
  const rows = await db
    .selectFrom('charges')
    .selectAll()
    .where('created_at_ms', '>=', fromMs)
    .where('ledger_id', 'like', '%:live')
    .where('images', '=', 0)
    .where('web_searches', '=', 0)
    .orderBy('created_at_ms', 'desc')
    .limit(max)
    .execute();
  return rows.map(chargesTable.recordOf);
}
