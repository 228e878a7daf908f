// Creates and changes API keys. Each change and its audit row are one transaction.
import { ApiError, invalidRequest, noSuch } from '../../canonical/errors.ts';
import type { Config } from '../../config/schema.ts';
import type { Db } from '../../db/schema.ts';
import type { AuditedChanges } from '../../domain/audit/audited-changes.ts';
import { changedFields } from '../../domain/audit/changed-fields.ts';
import { digestKeyFrom } from '../../domain/keys/key-text.ts';
import { readKeyOwners, writeKeyOwner } from '../../domain/keys/key-owners.ts';
import { type KeyListing, type KeyLocator, toListing } from '../../domain/keys/list-keys.ts';
import {
  alterKey,
  insertKey,
  lockKey,
  type KeyChange,
  type KeyOrder,
  type NewKey,
  replaceKeyText,
} from '../../domain/keys/manage-keys.ts';
import { lockMembers } from '../../domain/users/members.ts';
import type { Secret } from '../../lib/secrets.ts';
import { noSuchAccount, requireAccount } from './accounts.ts';
import { noSuchMember } from './members.ts';

/**
 * Creates a key. `secret`: the installation's current secret. Throws ApiError 404, or 400 when its
 * owner is no member.
 */
export function createKey(
  changes: AuditedChanges,
  secret: Secret,
  order: KeyOrder,
): Promise<NewKey> {
  return changes.commit(async (database) => {
    const { accountId, ownerId } = order;
    if (
      ownerId !== undefined &&
      !(await isMember(database.write, { accountId, userId: ownerId }))
    ) {
      await requireAccount(database.read, accountId);
      throw invalidRequest(
        'owner_id',
        'The owner must be a member of the account. Send the id of one, or leave the field out.',
      );
    }
    const made = await insertKey(
      database.write,
      digestKeyFrom(secret),
      order,
      changes.clock.nowMs(),
    );
    if (!made) throw noSuchAccount();
    const { id: subject, listing } = made;
    const after = ownerId === undefined ? listing : { ...listing, owner: ownerId };
    return {
      result: made,
      change: { action: 'key.create', subject, accountId, after },
    };
  });
}

/** Locks the members, so that who is one stays one until the key is theirs. */
async function isMember(
  write: Db,
  { accountId, userId }: { readonly accountId: string; readonly userId: string },
): Promise<boolean> {
  const members = await lockMembers(write, accountId);
  return members.some((member) => member.user_id === userId);
}

/**
 * Gives a key a new text, which is returned once. The one before works for `overlapMs` more.
 * Running gateways follow within seconds. Throws ApiError 404 or 409.
 */
export function rotateKey(
  changes: AuditedChanges,
  secret: Secret,
  rotation: KeyLocator & { readonly overlapMs: number },
): Promise<NewKey> {
  return changes.commit(async (database) => {
    const nowMs = changes.clock.nowMs();
    const outcome = await replaceKeyText(database.write, digestKeyFrom(secret), rotation, nowMs);
    if (outcome.kind !== 'rotated') throw notChangeable(outcome.kind);
    const { before, made } = outcome;
    const overlapEndsAt = new Date(nowMs + rotation.overlapMs).toISOString();
    return {
      result: made,
      change: {
        action: 'key.rotate',
        subject: made.id,
        accountId: before.account_id,
        before: { hint: before.hint },
        after: { hint: made.listing.hint, earlier_key_works_until: overlapEndsAt },
      },
    };
  });
}

/**
 * Gives a key to a member of its account, or to nobody. What it has spent in this day and month
 * counts in the budget of its new owner at once. Running gateways follow within seconds. Throws
 * ApiError 404.
 */
export function assignKey(
  changes: AuditedChanges,
  { userId, ...locator }: KeyLocator & { readonly userId: string | null },
): Promise<KeyListing> {
  return changes.commit(async (database) => {
    const row = await lockKey(database.write, locator);
    if (!row) throw noSuchKey();
    const { id: keyId, account_id: accountId } = row;
    if (userId !== null && !(await isMember(database.write, { accountId, userId })))
      throw noSuchMember();
    const owners = await readKeyOwners(database.write, [keyId]);
    const before = { owner: owners.get(keyId)?.user_id ?? null };
    await writeKeyOwner(database.write, { keyId, accountId, mode: row.mode, userId });
    const fields = changedFields(before, { owner: userId });
    const about = { action: 'key.assign', subject: keyId, accountId } as const;
    return { result: toListing(row), change: fields && { ...about, ...fields } };
  });
}

/**
 * Returns null, or a clause that says why a key cannot keep bodies for so many days. `days`: null
 * switches it off.
 */
export function bodyDaysProblem(
  { bodies }: Pick<Config, 'bodies'>,
  days: number | null,
): string | null {
  if (days === null) return null;
  if (!bodies.enabled) return 'must be left out: no bodies are kept here (`bodies.enabled`).';
  if (Number.isInteger(days) && days >= 1 && days <= bodies.days_max) return null;
  return `must be a whole number of days from 1 to ${bodies.days_max} (\`bodies.days_max\`).`;
}

/**
 * Returns the key after the change. Running gateways follow within seconds. Throws ApiError 404 or
 * 409.
 */
export function changeKey(
  changes: AuditedChanges,
  locator: KeyLocator,
  change: KeyChange,
): Promise<KeyListing> {
  return changes.commit(async (database) => {
    const outcome = await alterKey(database.write, locator, change, changes.clock.nowMs());
    if (outcome.kind !== 'changed') throw notChangeable(outcome.kind);
    const { before, after } = outcome;
    const fields = changedFields(before, after);
    const about = {
      action: `key.${change.action}` as const,
      subject: after.id,
      accountId: after.account_id,
    };
    return { result: after, change: fields && { ...about, ...fields } };
  });
}

export function noSuchKey(): ApiError {
  return noSuch('key');
}

function notChangeable(why: 'unknown' | 'revoked'): ApiError {
  if (why === 'unknown') return noSuchKey();
  return new ApiError('conflict', 'This key is revoked for good. Create another.');
}
