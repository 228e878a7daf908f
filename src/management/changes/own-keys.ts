// Changes the keys of providers that an account brings. Each change and its audit row are one
// transaction; running gateways follow within two seconds.
import { ApiError, invalidRequest, noSuch } from '../../canonical/errors.ts';
import { ownKeyProblem } from '../../config/providers.ts';
import type { Config } from '../../config/schema.ts';
import type { AuditedChanges } from '../../domain/audit/audited-changes.ts';
import { changedFields } from '../../domain/audit/changed-fields.ts';
import {
  type OwnKeyListing,
  type OwnKeyOrder,
  listOwnKeys,
  newOwnKey,
  toListing,
} from '../../domain/keys/own-keys.ts';
import type { Db } from '../../db/schema.ts';
import type { Secrets } from '../../lib/secrets.ts';
import { isChatKind, isImageKind } from '../../terms/provider-kind.ts';
import { requireAccount } from './accounts.ts';

type Settings = Pick<Config, 'providers'>;

/** At one provider. */
const ownKeysMax = 3;

/** Returns the names of the providers for which accounts may bring keys. */
export function ownKeyProviders({ providers }: Settings): string[] {
  return Object.entries(providers).flatMap(([name, provider]) => {
    const { enabled, kind, accounts_may_bring_keys: isAllowed } = provider;
    return enabled && isAllowed && (isChatKind(kind) || isImageKind(kind)) ? [name] : [];
  });
}

/** Throws ApiError 400, 404 or 409. */
export async function addOwnKey(
  changes: AuditedChanges,
  { secrets, config }: { readonly secrets: Secrets; readonly config: Settings },
  order: Omit<OwnKeyOrder, 'address'>,
): Promise<OwnKeyListing> {
  const { accountId, provider, apiKey } = order;
  const allowed = ownKeyProviders(config);
  if (!allowed.includes(provider)) {
    const names = allowed.join(', ') || 'there is none, so ask the operator';
    throw invalidRequest('provider', `\`provider\` must take own keys here: ${names}.`);
  }
  const { base_url: address, kind } = config.providers[provider]!;
  const problem = ownKeyProblem(kind, apiKey);
  if (problem !== null) throw invalidRequest('api_key', `\`api_key\` ${problem}`);
  const row = await newOwnKey(secrets, { ...order, address }, changes.clock.nowMs());
  const listing = toListing(row);
  return changes.commit(async (database) => {
    await requireAccount(database.read, accountId);
    const known = await listOwnKeys(database.write, accountId);
    if (known.filter((key) => key.provider === provider).length >= ownKeysMax) {
      const message = `There can be ${ownKeysMax} own keys for ${provider}. Remove one first.`;
      throw new ApiError('conflict', message);
    }
    await database.write.insertInto('own_keys').values(row).execute();
    const about = { subject: row.id, accountId, after: noted(listing) };
    return { result: listing, change: { action: 'own-key.create', ...about } };
  });
}

type Place = { readonly accountId: string; readonly id: string };

/** Throws ApiError 404. */
export function changeOwnKey(
  changes: AuditedChanges,
  place: Place,
  { order }: Pick<OwnKeyListing, 'order'>,
): Promise<OwnKeyListing> {
  return changes.commit(async (database) => {
    const before = await requireOwnKey(database.write, place);
    if (before.order === order) return { result: before, change: null };
    await database.write
      .updateTable('own_keys')
      .set({ goes_first: order === 'before' ? 1 : 0 })
      .where('id', '=', place.id)
      .execute();
    const after = { ...before, order };
    const about = { subject: place.id, accountId: place.accountId };
    const fields = changedFields(before, after)!;
    return { result: after, change: { action: 'own-key.update', ...about, ...fields } };
  });
}

/** Throws ApiError 404. */
export function removeOwnKey(changes: AuditedChanges, place: Place): Promise<void> {
  return changes.commit(async (database) => {
    const before = await requireOwnKey(database.write, place);
    await database.write.deleteFrom('own_keys').where('id', '=', place.id).execute();
    const about = { subject: place.id, accountId: place.accountId, before: noted(before) };
    return { change: { action: 'own-key.remove', ...about } };
  });
}

/** The digest is of an address of the operator's. */
function noted(listing: OwnKeyListing) {
  const { address_digest: _, ...shown } = listing;
  return shown;
}

async function requireOwnKey(write: Db, { accountId, id }: Place): Promise<OwnKeyListing> {
  const found = (await listOwnKeys(write, accountId)).find((key) => key.id === id);
  if (found) return found;
  throw noSuch('key');
}
