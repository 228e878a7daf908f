// Creates, changes and purges accounts. Each change and its audit row are one transaction.
import { type ApiError, noSuch } from '../../canonical/errors.ts';
import {
  changeTerms,
  findAccounts,
  insertAccount,
  raiseCacheGeneration,
  readTerms,
  type AccountChange,
  type AccountTerms,
  type NewAccount,
} from '../../domain/accounts/manage-accounts.ts';
import type { AuditedChanges } from '../../domain/audit/audited-changes.ts';
import { changedFields } from '../../domain/audit/changed-fields.ts';
import { mailOwners } from '../../domain/alerts/endpoints.ts';
import { readThresholds, writeThresholds } from '../../domain/alerts/thresholds.ts';
import { eraseResults } from '../../domain/batches/batch-store.ts';
import { removeErasedOf } from '../../domain/bodies/upkeep.ts';
import { removePurgedOf } from '../../domain/cache/upkeep.ts';
import { dropBodies } from '../../domain/idempotency/purge.ts';
import { createLedgers } from '../../domain/ledger/create-ledgers.ts';
import { forgiveLosses as forgiveIn } from '../../domain/ledger/reports/caused-losses.ts';
import type { Database } from '../../db/database.ts';
import type { Db } from '../../db/schema.ts';
import { transact } from '../../db/transact.ts';
import type { Micros } from '../../lib/money.ts';

/** Creates an account and returns its terms. Changes nothing when the given id exists. */
export function createAccount(
  changes: AuditedChanges,
  account: NewAccount,
): Promise<{ readonly id: string; readonly terms: AccountTerms }> {
  return changes.commit(async (database) => {
    const { id, isNew } = await openAccount(database.write, account, changes.clock.nowMs());
    const terms = await readTerms(database.write, id);
    return {
      result: { id, terms },
      change: isNew ? { action: 'account.create', subject: id, accountId: id, after: terms } : null,
    };
  });
}

/**
 * Creates an account and its ledgers in one transaction, for callers that write their own audit
 * row.
 */
export function openAccount(
  write: Db,
  account: NewAccount,
  nowMs: number,
): Promise<{ readonly id: string; readonly isNew: boolean }> {
  return transact(write, async (transaction) => {
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
 * finishes an interrupted one. Throws ApiError 404.
 */
export async function updateAccount(
  changes: AuditedChanges,
  accountId: string,
  change: AccountChange,
): Promise<Erased | null> {
  await changes.commit(async (database) => {
    const terms = await changeTerms(database.write, accountId, change);
    if (!terms) throw noSuchAccount();
    const fields = changedFields(terms.before, terms.after);
    return {
      change: fields && { action: 'account.update', subject: accountId, accountId, ...fields },
    };
  });
  return change.retainResponses === false ? eraseResponses(changes.unrecorded, accountId) : null;
}

/** Erases an account's stored answers. Throws ApiError 404. */
export async function purgeAccount(changes: AuditedChanges, accountId: string): Promise<Erased> {
  await changes.commit(async (database) => {
    if (!(await raiseCacheGeneration(database.write, accountId))) throw noSuchAccount();
    return { change: { action: 'account.purge', subject: accountId, accountId } };
  });
  return eraseResponses(changes.unrecorded, accountId);
}

/**
 * Call after the cache generation was raised, so that no gateway serves the answers while they are
 * erased.
 */
async function eraseResponses(database: Database, accountId: string): Promise<Erased> {
  await eraseResults(database, accountId);
  return {
    cached_responses_erased: await removePurgedOf(database, accountId),
    replayed_responses_erased: await dropBodies(database, accountId),
    kept_bodies_erased: await removeErasedOf(database, accountId),
  };
}

/** Stops counting an account's losses until now against its loss budget. Throws ApiError 404. */
export function forgiveLosses(
  changes: AuditedChanges,
  accountId: string,
): Promise<{ readonly forgiven_loss_micros: Micros }> {
  return changes.commit(async ({ read, write }) => {
    await requireAccount(read, accountId);
    const after = { forgiven_loss_micros: await forgiveIn(write, accountId) };
    return {
      result: after,
      change: { action: 'account.forgive-losses', subject: accountId, accountId, after },
    };
  });
}

/**
 * Sets the live balances below which owners are told. With the first one, they are told by e-mail.
 * Returns false when they were set already. The account must exist.
 */
export function setLowBalanceThresholds(
  changes: AuditedChanges,
  accountId: string,
  thresholds: readonly Micros[],
): Promise<boolean> {
  return changes.commit(async ({ write }) => {
    const before = { thresholds_micros: await readThresholds(write, accountId) };
    const after = { thresholds_micros: thresholds.toSorted((one, other) => one - other) };
    if (!changedFields(before, after)) return { result: false, change: null };
    await writeThresholds(write, accountId, thresholds);
    if (before.thresholds_micros.length === 0)
      await mailOwners(write, accountId, { types: ['balance.low'], nowMs: changes.clock.nowMs() });
    return {
      result: true,
      change: { action: 'account.low-balance', subject: accountId, accountId, before, after },
    };
  });
}

/** Throws ApiError 404. */
export async function requireAccount(read: Db, accountId: string): Promise<void> {
  if ((await findAccounts(read, [accountId])).length === 0) throw noSuchAccount();
}

export function noSuchAccount(): ApiError {
  return noSuch('account');
}
