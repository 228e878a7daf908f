// Where an account's owners and operators are told of events. Addresses may hold keys, as those of
// Slack do, so they are encrypted with the secrets that sign webhooks, and shown only in part.
import type { Selectable, SelectQueryBuilder } from 'kysely';
import type { Db, Tables } from '../../db/schema.ts';
import { SealedRows } from '../../db/sealed-rows.ts';
import { newIdWithPrefix } from '../../lib/ids.ts';
import { isoTimeOf } from '../../lib/iso-time.ts';
import type { Secrets } from '../../lib/secrets.ts';
import type { AlertType } from '../../terms/alert-events.ts';
import { newSigningSecret } from './signature.ts';

/** An account's id; null: the operators. */
export type Owner = string | null;
export type EndpointRow = Selectable<Tables['alert_endpoints']>;

export type EndpointListing = ReturnType<typeof toListing>;

export type EndpointOrder = Pick<EndpointListing, 'kind' | 'address' | 'types'> & {
  readonly owner: Owner;
};

export const sealedEndpoints = new SealedRows<{ readonly id: string }>({
  table: 'alert_endpoints',
  key: 'id',
  column: 'sealed',
  purpose: 'alert endpoints',
  contextOf: ({ id }) => id,
});

/**
 * What is encrypted. `secret` signs webhooks; null: none does. `earlier`: those that it has replaced,
 * the newest first, which sign beside it for a time.
 */
type Content = {
  readonly address: string;
  readonly secret: string | null;
  readonly earlier?: readonly { readonly secret: string; readonly untilMs: number }[];
};

/** How long a replaced secret signs beside the new one, so that receivers can change in between. */
const earlierMs = 24 * 60 * 60_000;
/** Each is a part of a header. */
const earlierMax = 3;

/** The address in an e-mail endpoint that stands for every owner of the account. */
export const ownersAddress = 'owners';

export function byOwner<Shape, Table extends keyof Shape, Row>(
  query: SelectQueryBuilder<Shape, Table, Row>,
  owner: Owner,
): SelectQueryBuilder<Shape, Table, Row> {
  const isOwn = owner === null ? 'is' : '=';
  return query.where('alert_endpoints.account_id' as never, isOwn, owner as never);
}

export async function listEndpoints(db: Db, owner: Owner): Promise<readonly EndpointListing[]> {
  const query = byOwner(db.selectFrom('alert_endpoints').selectAll(), owner);
  return (await query.orderBy('created_at_ms').orderBy('id').execute()).map(toListing);
}

export async function findEndpoint(
  db: Db,
  { owner, id }: { readonly owner: Owner; readonly id: string },
): Promise<EndpointRow | undefined> {
  const query = db.selectFrom('alert_endpoints').selectAll().where('id', '=', id);
  return byOwner(query, owner).executeTakeFirst();
}

export function toListing(row: EndpointRow) {
  return {
    id: row.id,
    kind: row.kind,
    address: row.shown_address,
    types: row.types === null ? null : (JSON.parse(row.types) as AlertType[]),
    created_at: new Date(row.created_at_ms).toISOString(),
    disabled_at: isoTimeOf(row.disabled_at_ms),
    disabled_reason: row.disabled_reason,
  };
}

/** Returns a row to insert, and the secret of a webhook, which is never shown again. */
export async function newEndpoint(
  secrets: Secrets,
  order: EndpointOrder,
  nowMs: number,
): Promise<{ readonly row: EndpointRow; readonly secret: string | null }> {
  const { kind, address } = order;
  const row = rowOf(order, nowMs);
  if (kind === 'email') return { row, secret: null };
  const secret = kind === 'webhook' ? newSigningSecret() : null;
  // The last part of Slack's addresses is a key, and so is the query of some receivers'.
  const { origin, pathname, search } = new URL(address);
  const path = kind === 'slack' ? `/…${pathname.slice(-4)}` : pathname;
  const shown_address = origin + path + (search === '' ? '' : '?…');
  const sealed = await sealedEndpoints.seal(secrets, row, JSON.stringify({ address, secret }));
  return { row: { ...row, shown_address, ...sealed }, secret };
}

/** Of an e-mail, which has no secrets. */
function rowOf({ owner, kind, address, types }: EndpointOrder, nowMs: number): EndpointRow {
  return {
    id: newIdWithPrefix('end'),
    account_id: owner,
    kind,
    shown_address: address,
    types: types && JSON.stringify(types),
    sealed: null,
    secret_id: null,
    created_at_ms: nowMs,
    disabled_at_ms: null,
    disabled_reason: null,
  };
}

/** Makes the owners hear of these events by e-mail, unless an e-mail of the account tells them. */
export async function mailOwners(
  write: Db,
  owner: string,
  { types, nowMs }: { readonly types: readonly AlertType[]; readonly nowMs: number },
): Promise<void> {
  const mails = (await listEndpoints(write, owner)).filter(({ kind }) => kind === 'email');
  const heard = mails.flatMap((mail) => mail.types ?? types);
  const missing = types.filter((type) => !heard.includes(type));
  if (missing.length === 0) return;
  const known = mails.find(({ address }) => address === ownersAddress);
  const order = { owner, kind: 'email', address: ownersAddress, types: missing } as const;
  if (!known) await write.insertInto('alert_endpoints').values(rowOf(order, nowMs)).execute();
  else
    await write
      .updateTable('alert_endpoints')
      .set({ types: JSON.stringify([...known.types!, ...missing]) })
      .where('id', '=', known.id)
      .execute();
}

/** Where an endpoint's events go, and what signs them. */
export type EndpointTarget = Pick<EndpointRow, 'id' | 'kind' | 'account_id'> & Content;

/** Throws when the address is under a secret that is not accepted. */
export async function readTarget(
  secrets: Secrets,
  { id, kind, account_id, shown_address, sealed }: EndpointRow,
): Promise<EndpointTarget> {
  const content =
    sealed === null
      ? { address: shown_address, secret: null }
      : (JSON.parse(await sealedEndpoints.open(secrets, { id }, sealed)) as Content);
  return { id, kind, account_id, ...content };
}

/**
 * Returns what to write for a new secret of a webhook, and the secret, which is never shown again. Throws
 * when the row is under a secret that is not accepted.
 */
export async function newSecretOf(secrets: Secrets, row: EndpointRow, nowMs: number) {
  const { address, secret, earlier = [] } = await readTarget(secrets, row);
  const made = newSigningSecret();
  const untilMs = nowMs + earlierMs;
  const kept = [{ secret: secret!, untilMs }, ...earlier.filter((one) => one.untilMs > nowMs)];
  const content = { address, secret: made, earlier: kept.slice(0, earlierMax) };
  return {
    secret: made,
    untilMs,
    sealed: await sealedEndpoints.seal(secrets, row, JSON.stringify(content)),
  };
}
