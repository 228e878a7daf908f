// What a new installation begins with.
import { createAccount, findFirstAccount } from './accounts/manage-accounts.ts';
import type { Database } from './db/database.ts';
import { createKey } from './keys/manage-keys.ts';
import { createLedgers } from './ledger/create-ledgers.ts';

/** The first account; its test key only when it was made by this start. */
export type FirstAccount = { readonly id: string; readonly testKey: string | null };

/** An installation without accounts gets one with a test key, so that a newcomer has something to paste. */
export async function ensureFirstAccount(database: Database, digestKey: Buffer): Promise<FirstAccount> {
  const first = await findFirstAccount(database);
  if (first !== null) return { id: first, testKey: null };
  const id = await createAccount(database, { name: 'Default' }, createLedgers);
  const made = await createKey(database, digestKey, { accountId: id, mode: 'test', name: 'first test key' });
  return { id, testKey: made?.key ?? null };
}
