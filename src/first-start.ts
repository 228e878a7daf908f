// What a new installation is given at its first start, so that a newcomer has something to paste and somewhere to sign in.
import { createAccount, findFirstAccount } from './accounts/manage-accounts.ts';
import type { Database } from './db/database.ts';
import { createKey } from './keys/manage-keys.ts';
import { createLedgers } from './ledger/create-ledgers.ts';
import { createFirstRunLink } from './users/first-run.ts';
import { tidySignIns } from './users/upkeep.ts';

export type FirstStart = {
  /** The first account; its test key only when it was made by this start. */
  readonly account: { readonly id: string; readonly testKey: string | null };
  /** Of a link that makes the first user; null when there are users. */
  readonly linkToken: string | null;
};

export async function prepareFirstStart(database: Database, digestKey: Buffer, nowMs: number): Promise<FirstStart> {
  await tidySignIns(database, nowMs);
  return { account: await ensureAccount(database, digestKey, nowMs), linkToken: await createFirstRunLink(database, nowMs) };
}

/** An installation without accounts gets one with a test key. */
async function ensureAccount(database: Database, digestKey: Buffer, nowMs: number): Promise<FirstStart['account']> {
  const first = await findFirstAccount(database);
  if (first !== null) return { id: first, testKey: null };
  const id = await createAccount(database, { name: 'Default' }, createLedgers, nowMs);
  const made = await createKey(database, digestKey, { accountId: id, mode: 'test', name: 'first test key' }, nowMs);
  return { id, testKey: made?.key ?? null };
}
