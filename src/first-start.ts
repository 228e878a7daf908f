// Prepares a new installation at its first start: a test key to paste, and a link to the dashboard.
import { findFirstAccount } from './domain/accounts/manage-accounts.ts';
import { AuditedChanges } from './domain/audit/audited-changes.ts';
import type { Database } from './db/database.ts';
import type { Clock } from './lib/clock.ts';
import type { Secrets } from './lib/secrets.ts';
import { createAccount } from './management/changes/accounts.ts';
import { createKey } from './management/changes/keys.ts';
import { encryptAnew } from './management/changes/secrets.ts';
import { createFirstRunLink } from './domain/users/first-run.ts';
import { tidySignIns } from './domain/users/upkeep.ts';

export type FirstStart = {
  /** The oldest account. `testKey` is set only when this start created it. */
  readonly account: { readonly id: string; readonly testKey: string | null };
  /** The token of the link that creates the first user; null when there are users. */
  readonly linkToken: string | null;
};

export async function prepareFirstStart(
  database: Database,
  secrets: Secrets,
  clock: Clock,
): Promise<FirstStart> {
  const nowMs = clock.nowMs();
  await tidySignIns(database, nowMs);
  await encryptAnew(database, secrets);
  return {
    account: await ensureAccount(database, secrets, clock),
    linkToken: await createFirstRunLink(database, nowMs),
  };
}

const actor = { kind: 'service', id: 'first-start', name: 'First start', address: null } as const;

/** Returns the oldest account. Creates one with a test key when there is none. */
async function ensureAccount(
  database: Database,
  secrets: Secrets,
  clock: Clock,
): Promise<FirstStart['account']> {
  const first = await findFirstAccount(database.read);
  if (first !== null) return { id: first, testKey: null };
  return new AuditedChanges({ database, actorOf: () => actor, clock }).together(async (changes) => {
    const { id } = await createAccount(changes, { name: 'Default' });
    const order = { accountId: id, mode: 'test', name: 'first test key' } as const;
    return { id, testKey: (await createKey(changes, secrets[0], order)).key };
  });
}
