import { sql } from 'kysely';

/**
 * The generation of an account below which everything stored is erased; for an account that stores
 * nothing, above its current one.
 */
export const belowGeneration = sql<number>`(accounts.cache_generation + 1 - accounts.retain_responses)`;
