// Changes the endpoints of alerts. Each change and its audit row are one transaction.
import { ApiError, invalidRequest, noSuch } from '../../canonical/errors.ts';
import type { Change } from '../../domain/audit/audit-log.ts';
import type { AuditedChanges } from '../../domain/audit/audited-changes.ts';
import { changedFields } from '../../domain/audit/changed-fields.ts';
import type { Channels } from '../../domain/alerts/channels.ts';
import {
  type EndpointListing,
  type EndpointOrder,
  findEndpoint,
  listEndpoints,
  newEndpoint,
  newSecretOf,
  type Owner,
  ownersAddress,
  toListing,
} from '../../domain/alerts/endpoints.ts';
import { sendAgain, writeTest } from '../../domain/alerts/outbox.ts';
import { listMembers } from '../../domain/users/members.ts';
import type { Database } from '../../db/database.ts';
import type { Db } from '../../db/schema.ts';
import type { Secrets } from '../../lib/secrets.ts';
import { type AlertType, typesHeardBy } from '../../terms/alert-events.ts';
import { requireAccount } from './accounts.ts';

type Place = { readonly owner: Owner; readonly id: string };

/** Each is written for every event. */
const endpointsMax = 10;

/** Throws ApiError 400, 404 or 409. `secret`: of a webhook; it is never shown again. */
export async function createAlertEndpoint(
  changes: AuditedChanges,
  { secrets, channels }: { readonly secrets: Secrets; readonly channels: Channels },
  order: EndpointOrder,
): Promise<{ readonly endpoint: EndpointListing; readonly secret: string | null }> {
  const { owner, kind, address } = order;
  checkTypes(owner, order.types);
  if (kind !== 'email') refuse(channels.addressProblem(address, owner));
  const { row, secret } = await newEndpoint(secrets, order, changes.clock.nowMs());
  const endpoint = toListing(row);
  return changes.commit(async (database) => {
    if (owner !== null) await requireAccount(database.read, owner);
    if (kind === 'email') await checkMailbox(database.read, { owner, address });
    if ((await listEndpoints(database.write, owner)).length >= endpointsMax)
      throw new ApiError('conflict', `There can be ${endpointsMax} endpoints. Remove one first.`);
    await database.write.insertInto('alert_endpoints').values(row).execute();
    const change = changeOf('create', { owner, id: row.id }, { after: endpoint });
    return { result: { endpoint, secret }, change };
  });
}

export type EndpointChange = {
  readonly types?: readonly AlertType[] | null | undefined;
  readonly isEnabled?: boolean | undefined;
};

/** A field that is left out stays as it is. Throws ApiError 400 or 404. */
export function changeAlertEndpoint(
  changes: AuditedChanges,
  place: Place,
  { types, isEnabled }: EndpointChange,
): Promise<EndpointListing> {
  if (types !== undefined) checkTypes(place.owner, types);
  const nowMs = changes.clock.nowMs();
  return changes.commit(async (database) => {
    const before = toListing(await requireEndpoint(database.write, place));
    const row = await database.write
      .updateTable('alert_endpoints')
      .set({
        id: place.id,
        ...(types !== undefined && { types: types && JSON.stringify(types) }),
        ...(isEnabled === true && { disabled_at_ms: null, disabled_reason: null }),
        ...(isEnabled === false && before.disabled_at === null && { disabled_at_ms: nowMs }),
      })
      .where('id', '=', place.id)
      .returningAll()
      .executeTakeFirstOrThrow();
    const fields = changedFields(before, toListing(row));
    return { result: toListing(row), change: fields && changeOf('update', place, fields) };
  });
}

/**
 * Returns a new secret of a webhook, which is never shown again, and until when the one before signs
 * beside it. Throws ApiError 404, and 409 for what has no secret.
 */
export async function replaceAlertSecret(
  changes: AuditedChanges,
  parts: { readonly database: Pick<Database, 'read'>; readonly secrets: Secrets },
  place: Place,
): Promise<{ readonly secret: string; readonly earlier_until: string }> {
  const row = await requireEndpoint(parts.database.read, place);
  if (row.kind !== 'webhook')
    throw new ApiError('conflict', 'Only webhooks are signed, so this endpoint has no secret.');
  const made = await newSecretOf(parts.secrets, row, changes.clock.nowMs()).catch(() => null);
  if (!made)
    throw new ApiError('conflict', 'Its address cannot be decrypted. Remove it, and add it again.');
  const earlier_until = new Date(made.untilMs).toISOString();
  return changes.commit(async (database) => {
    const { numUpdatedRows } = await database.write
      .updateTable('alert_endpoints')
      .set(made.sealed)
      .where('id', '=', row.id)
      .where('sealed', '=', row.sealed)
      .executeTakeFirst();
    if (numUpdatedRows === 0n)
      throw new ApiError('conflict', 'The endpoint was changed meanwhile. Try again.');
    const change = changeOf('replace-secret', place, { after: { earlier_until } });
    return { result: { secret: made.secret, earlier_until }, change };
  });
}

/** Also removes its deliveries. Throws ApiError 404. */
export function removeAlertEndpoint(changes: AuditedChanges, place: Place): Promise<void> {
  return changes.commit(async (database) => {
    const before = toListing(await requireEndpoint(database.write, place));
    await database.write.deleteFrom('alert_endpoints').where('id', '=', place.id).execute();
    return { change: changeOf('remove', place, { before }) };
  });
}

/** Writes a test event for an endpoint. Throws ApiError 404, and 409 when it is switched off. */
export function sendTestAlert(changes: AuditedChanges, place: Place): Promise<void> {
  return changes.commit(async (database) => {
    const row = await requireEndpoint(database.write, place);
    if (row.disabled_at_ms !== null)
      throw new ApiError('conflict', 'This endpoint is switched off. Switch it on first.');
    await writeTest(database.write, row, changes.clock.nowMs());
    return { change: changeOf('send', place, { after: { type: 'test' } }) };
  });
}

/** Sends a delivery again under its event's id. Throws ApiError 404. */
export function sendAlertAgain(changes: AuditedChanges, { owner, id }: Place): Promise<void> {
  return changes.commit(async (database) => {
    const nowMs = changes.clock.nowMs();
    const again = await sendAgain(database.write, { owner, id, nowMs });
    if (!again) throw noSuch('delivery');
    const endpoint = { owner, id: again.endpointId };
    return { change: changeOf('send', endpoint, { after: { delivery: id } }) };
  });
}

function changeOf(
  action: 'create' | 'update' | 'replace-secret' | 'remove' | 'send',
  { owner, id }: Place,
  fields: Pick<Change, 'before' | 'after'>,
) {
  return { action: `alert.${action}` as const, subject: id, accountId: owner, ...fields };
}

async function requireEndpoint(db: Db, place: Place) {
  const row = await findEndpoint(db, place);
  if (row) return row;
  throw noSuch('endpoint');
}

function checkTypes(owner: Owner, types: readonly AlertType[] | null): void {
  const heard = typesHeardBy(owner === null ? 'operators' : 'accounts');
  const wrong = types?.find((type) => !heard.includes(type));
  if (wrong !== undefined)
    throw invalidRequest('types', `\`types\` may be ${heard.join(', ')}; got ${wrong}.`);
}

function refuse(problem: string | null): void {
  if (problem !== null) throw invalidRequest('address', `\`address\` ${problem}`);
}

/** An account's mail goes to its own users, so that nobody makes the gateway write to others. */
async function checkMailbox(
  read: Db,
  { owner, address }: Pick<EndpointOrder, 'owner' | 'address'>,
): Promise<void> {
  if (owner === null) {
    if (!/^[^\s@<>",;]+@[^\s@<>",;]+$/.test(address)) refuse('is no e-mail address.');
    return;
  }
  if (address === ownersAddress) return;
  const members = await listMembers(read, owner);
  if (members.some(({ email }) => email === address)) return;
  refuse(`must be \`${ownersAddress}\` or the e-mail address of a user of this account.`);
}
