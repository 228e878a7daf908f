// What a new installation is given at its first start, so that a newcomer has something to paste and somewhere to sign in.
import { createAccountIn, findFirstAccount, readTerms } from './accounts/manage-accounts.ts';
import { recordChange } from './audit/audit-log.ts';
import type { Database } from './db/database.ts';
import { transact } from './db/transact.ts';
import { type DigestKey, digestKeyFrom } from './keys/key-text.ts';
import { createKey } from './keys/manage-keys.ts';
import { createLedgers } from './ledger/create-ledgers.ts';
import type { Secrets } from './lib/secrets.ts';
import { createFirstRunLink } from './users/first-run.ts';
import { renewSecondFactors } from './users/second-factor-secrets.ts';
import { tidySignIns } from './users/upkeep.ts';

export type FirstStart = {
  /** The first account; its test key only when it was made by this start. */
  readonly account: { readonly id: string; readonly testKey: string | null };
  /** Of a link that makes the first user; null when there are users. */
  readonly linkToken: string | null;
};

export async function prepareFirstStart(database: Database, secrets: Secrets, nowMs: number): Promise<FirstStart> {
  await tidySignIns(database, nowMs);
  await renewSecondFactors(database, secrets);
  return {
    account: await ensureAccount(database, digestKeyFrom(secrets[0]), nowMs),
    linkToken: await createFirstRunLink(database, nowMs),
  };
}

const actor = { kind: 'service', id: 'first-start', name: 'First start', address: null } as const;

/** An installation without accounts gets one with a test key. */
async function ensureAccount(database: Database, digestKey: DigestKey, nowMs: number): Promise<FirstStart['account']> {
  const first = await findFirstAccount(database);
  if (first !== null) return { id: first, testKey: null };
  return transact(database, async (write) => {
    const made = { ...database, write };
    const { id: accountId } = await createAccountIn(write, { name: 'Default' }, { createLedgers, nowMs });
    const note = (action: string, subject: string, after: object) =>
      recordChange(made, { actor, change: { action, subject, before: null, after }, accountId }, nowMs);
    await note('account.create', accountId, await readTerms(write, accountId));
    const key = await createKey(made, digestKey, { accountId, mode: 'test', name: 'first test key' }, nowMs);
    if (key) await note('key.create', key.id, key.listing);
    return { id: accountId, testKey: key?.key ?? null };
  });
}
