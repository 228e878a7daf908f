import { sql } from 'kysely';

/**
 * The generation of an account below which everything stored is erased; for an account that stores
 * nothing, above its current one.
 */
export const belowGeneration = sql<number>`(accounts.cache_generation + 1 - accounts.retain_responses)`;

const pageIds = 500;

/** Takes generations by id; returns the ids whose generation is erased by now. */
export async function outdatedOf(
  generations: ReadonlyMap<string, number>,
  read: (
    ids: readonly string[],
  ) => Promise<readonly { readonly id: string; readonly from_generation: number }[]>,
): Promise<string[]> {
  const ids = [...generations.keys()];
  const outdated: string[] = [];
  for (let start = 0; start < ids.length; start += pageIds) {
    const rows = await read(ids.slice(start, start + pageIds));
    for (const { id, from_generation: from } of rows)
      if (generations.get(id)! < from) outdated.push(id);
  }
  return outdated;
}
