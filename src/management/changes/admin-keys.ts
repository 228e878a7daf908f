// Creates and revokes keys of the admin API. Each change and its audit row are one transaction.
import { noSuch } from '../../canonical/errors.ts';
import type { AuditedChanges } from '../../domain/audit/audited-changes.ts';
import {
  type AdminKeyListing,
  type AdminKeyOrder,
  insertAdminKey,
  type NewAdminKey,
  revokeAdminKey as revokeIn,
} from '../../domain/keys/admin-keys.ts';

export function createAdminKey(
  changes: AuditedChanges,
  order: AdminKeyOrder,
): Promise<NewAdminKey> {
  return changes.commit(async (database) => {
    const made = await insertAdminKey(database.write, order, changes.clock.nowMs());
    const { id: subject } = made.listing;
    return {
      result: made,
      change: { action: 'admin-key.create', subject, after: made.listing },
    };
  });
}

/** Revokes a key for good, at once in every gateway. Throws ApiError 404. */
export function revokeAdminKey(changes: AuditedChanges, id: string): Promise<AdminKeyListing> {
  return changes.commit(async (database) => {
    const outcome = await revokeIn(database.write, id, changes.clock.nowMs());
    if (!outcome) throw noSuch('admin key');
    const { listing, isChanged } = outcome;
    const fields = { before: { revoked_at: null }, after: { revoked_at: listing.revoked_at } };
    const change = { action: 'admin-key.revoke', subject: id, ...fields } as const;
    return { result: listing, change: isChanged ? change : null };
  });
}
