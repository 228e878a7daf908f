// What an account pays, beside the list prices.
import type { Database } from '../db/database.ts';

export type AccountPrices = {
  /** Of everything that has no multiplier of its own, in millionths of the list prices. */
  readonly multiplierPpm: number;
  /** Of single models by id. */
  readonly modelMultipliersPpm: ReadonlyMap<string, number>;
};

/** null: there is no such account. */
export async function readAccountPrices(database: Database, accountId: string): Promise<AccountPrices | null> {
  const account = await database.read
    .selectFrom('accounts')
    .select('price_multiplier_ppm')
    .where('id', '=', accountId)
    .executeTakeFirst();
  if (!account) return null;
  const models = await database.read.selectFrom('account_model_prices').selectAll().where('account_id', '=', accountId).execute();
  return {
    multiplierPpm: account.price_multiplier_ppm,
    modelMultipliersPpm: new Map(models.map((row) => [row.model_id, row.multiplier_ppm])),
  };
}
