// Creates, changes and purges accounts. Each change and its audit row are one transaction.
import {
  changeTerms,
  insertAccount,
  raiseCacheGeneration,
  readTerms,
  type AccountChange,
  type AccountTerms,
  type NewAccount,
} from '../../domain/accounts/manage-accounts.ts';
import type { AuditedChanges } from '../../domain/audit/audited-changes.ts';
import { changedFields } from '../../domain/audit/changed-fields.ts';
import { readThreshold, setThreshold } from '../../domain/billing/low-balance.ts';
import { removeErasedOf } from '../../domain/bodies/upkeep.ts';
import { removePurgedOf } from '../../domain/cache/purged-accounts.ts';
import { dropBodies } from '../../domain/idempotency/purge.ts';
import { createLedgers } from '../../domain/ledger/create-ledgers.ts';
import { forgiveLosses as forgiveIn } from '../../domain/ledger/reports/provoked-losses.ts';
import type { Database } from '../../db/database.ts';
import { transact } from '../../db/transact.ts';
import type { Micros } from '../../lib/money.ts';

/** Creates an account and returns its terms. Changes nothing when the given id exists. */
export function createAccount(
  changes: AuditedChanges,
  account: NewAccount,
): Promise<{ readonly id: string; readonly terms: AccountTerms }> {
  return changes.commit(async (database) => {
    const { id, isNew } = await openAccount(database, account, changes.clock.nowMs());
    const terms = await readTerms(database.write, id);
    return {
      result: { id, terms },
      change: isNew ? changeOf('create', id, { before: null, after: terms }) : null,
    };
  });
}

/**
 * Creates an account and its ledgers in one transaction, for callers that write their own audit
 * row.
 */
export function openAccount(
  database: Pick<Database, 'write'>,
  account: NewAccount,
  nowMs: number,
): Promise<{ readonly id: string; readonly isNew: boolean }> {
  return transact(database, async (transaction) => {
    const made = await insertAccount(transaction, account, nowMs);
    if (made.isNew) await createLedgers(transaction, { accountId: made.id, nowMs });
    return made;
  });
}

/**
 * The numbers of erased answers: in the cache, and kept for replay under an Idempotency-Key; and of
 * requests whose bodies are erased.
 */
type Erased = {
  readonly cached_responses_erased: number;
  readonly replayed_responses_erased: number;
  readonly kept_bodies_erased: number;
};

/**
 * Changes an account's terms. Running gateways follow within seconds. With `retainResponses: false`
 * it also erases the stored answers, even when nothing was retained before, so a repeated call
 * finishes an interrupted one. Returns null when the account does not exist.
 */
export async function updateAccount(
  changes: AuditedChanges,
  accountId: string,
  change: AccountChange,
): Promise<{ readonly erased: Erased | null } | null> {
  const isThere = await changes.commit(async (database) => {
    const terms = await changeTerms(database, accountId, change);
    const fields = terms && changedFields(terms.before, terms.after);
    return { result: terms !== null, change: fields && changeOf('update', accountId, fields) };
  });
  if (!isThere) return null;
  return {
    erased:
      change.retainResponses === false ? await eraseResponses(changes.database, accountId) : null,
  };
}

/** Erases an account's stored answers. Returns null when the account does not exist. */
export async function purgeAccount(
  changes: AuditedChanges,
  accountId: string,
): Promise<Erased | null> {
  const isThere = await changes.commit(async (database) => {
    const result = await raiseCacheGeneration(database, accountId);
    return {
      result,
      change: result ? changeOf('purge', accountId, { before: null, after: null }) : null,
    };
  });
  return isThere ? eraseResponses(changes.database, accountId) : null;
}

/**
 * Call after the cache generation was raised, so that no gateway serves the answers while they are
 * erased.
 */
async function eraseResponses(database: Database, accountId: string): Promise<Erased> {
  return {
    cached_responses_erased: await removePurgedOf(database, accountId),
    replayed_responses_erased: await dropBodies(database, accountId),
    kept_bodies_erased: await removeErasedOf(database, accountId),
  };
}

/** Stops counting an account's losses until now against its loss budget. The account must exist. */
export function forgiveLosses(
  changes: AuditedChanges,
  accountId: string,
): Promise<{ readonly forgiven_loss_micros: Micros }> {
  return changes.commit(async ({ write }) => {
    const after = { forgiven_loss_micros: await forgiveIn(write, accountId) };
    return {
      result: after,
      change: changeOf('forgive-losses', accountId, { before: null, after }),
    };
  });
}

/**
 * Sets the live balance below which the owners are warned; null: no warning. Returns false when it
 * was set already. The account must exist.
 */
export function setLowBalanceThreshold(
  changes: AuditedChanges,
  accountId: string,
  threshold: Micros | null,
): Promise<boolean> {
  return changes.commit(async (database) => {
    const before = { threshold_micros: await readThreshold(database.write, accountId) };
    if (before.threshold_micros === threshold) return { result: false, change: null };
    await setThreshold(database, accountId, threshold);
    const after = { threshold_micros: threshold };
    return { result: true, change: changeOf('low-balance', accountId, { before, after }) };
  });
}

function changeOf(
  action: 'create' | 'update' | 'purge' | 'forgive-losses' | 'low-balance',
  accountId: string,
  fields: { readonly before: object | null; readonly after: object | null },
) {
  return { action: `account.${action}` as const, subject: accountId, accountId, ...fields };
}
