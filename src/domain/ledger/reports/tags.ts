// Reads the tags of charges.
import type { Db } from '../../../db/schema.ts';
import type { Charge } from '../book.ts';

/** Returns the tags by charge id, in order. Charges without tags are missing. */
export async function readTagsOf(
  db: Db,
  charges: readonly Pick<Charge, 'id' | 'ledgerId' | 'createdAtMs'>[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const tags = new Map<string, readonly string[]>();
  if (charges.length === 0) return tags;
  const rows = await db
    .selectFrom('charge_tags')
    .select(['charge_id', 'tag'])
    .where('ledger_id', 'in', [...new Set(charges.map(({ ledgerId }) => ledgerId))])
    .where('created_at_ms', 'in', [...new Set(charges.map(({ createdAtMs }) => createdAtMs))])
    .where(
      'charge_id',
      'in',
      charges.map(({ id }) => id),
    )
    .orderBy('tag')
    .execute();
  for (const { charge_id: id, tag } of rows) tags.set(id, [...(tags.get(id) ?? []), tag]);
  return tags;
}
