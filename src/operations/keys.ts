// Creates and changes API keys. Each change and its audit row are one transaction.
import type { AuditedChanges } from '../domain/audit/audited-changes.ts';
import { changedFields } from '../domain/audit/changed-fields.ts';
import { digestKeyFrom } from '../domain/keys/key-text.ts';
import type { KeyLocator } from '../domain/keys/list-keys.ts';
import {
  alterKey,
  insertKey,
  type KeyChange,
  type KeyOrder,
  type KeyOutcome,
  type NewKey,
} from '../domain/keys/manage-keys.ts';
import type { Secret } from '../lib/secrets.ts';

/**
 * Creates a key. `secret`: the installation's current secret. Returns null when the account does
 * not exist.
 */
export function createKey(
  changes: AuditedChanges,
  secret: Secret,
  order: KeyOrder,
): Promise<NewKey | null> {
  return changes.commit(async (database) => {
    const made = await insertKey(database, digestKeyFrom(secret), order, changes.clock.nowMs());
    if (!made) return { result: null, change: null };
    const { id: subject, listing: after } = made;
    return {
      result: made,
      change: { action: 'key.create', subject, accountId: order.accountId, before: null, after },
    };
  });
}

/** Changes a key. Running gateways follow within seconds. */
export function changeKey(
  changes: AuditedChanges,
  locator: KeyLocator,
  change: KeyChange,
): Promise<KeyOutcome> {
  return changes.commit<KeyOutcome>(async (database) => {
    const outcome = await alterKey(database, locator, change, changes.clock.nowMs());
    if (outcome.kind !== 'changed') return { result: outcome, change: null };
    const { before, after } = outcome;
    const fields = changedFields(before, after);
    const about = {
      action: `key.${change.action}` as const,
      subject: after.id,
      accountId: after.account_id,
    };
    return { result: outcome, change: fields && { ...about, ...fields } };
  });
}
