// Where an account's owners and operators are told of events. Addresses may hold keys, as those of
// Slack do, so they are encrypted with the secrets that sign webhooks, and shown only in part.
import type { Kysely, Selectable, SelectQueryBuilder } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { AlertEndpointsTable, Tables } from '../../db/schema.ts';
import { newIdWithPrefix } from '../../lib/ids.ts';
import { isoTimeOf } from '../../lib/iso-time.ts';
import { createSealer, type Sealer } from '../../lib/sealed-bytes.ts';
import type { Secret, Secrets } from '../../lib/secrets.ts';
import type { AlertType } from '../../terms/alert-events.ts';
import { newSigningSecret } from './signature.ts';

/** An account's id; null: the operators. */
export type Owner = string | null;
type EndpointKind = AlertEndpointsTable['kind'];

export type EndpointListing = {
  readonly id: string;
  readonly kind: EndpointKind;
  readonly address: string;
  /** null: all. */
  readonly types: readonly AlertType[] | null;
  readonly is_private: boolean;
  readonly created_at: string;
  readonly disabled_at: string | null;
  readonly disabled_reason: string | null;
};

type EndpointRow = Selectable<AlertEndpointsTable>;

/** What is encrypted. `secrets`: the current first, then the one before, which signs for a day. */
type Sealed = {
  readonly address: string;
  readonly secrets: readonly { readonly text: string; readonly untilMs: number | null }[];
};

export type EndpointOrder = {
  readonly owner: Owner;
  readonly kind: EndpointKind;
  readonly address: string;
  readonly types: readonly AlertType[] | null;
  readonly isPrivate: boolean;
};

/** The address in an e-mail endpoint that stands for every owner of the account. */
export const ownersAddress = 'owners';
const overlapMs = 24 * 60 * 60_000;

export function byOwner<Shape, Table extends keyof Shape, Row>(
  query: SelectQueryBuilder<Shape, Table, Row>,
  owner: Owner,
): SelectQueryBuilder<Shape, Table, Row> {
  const column = 'alert_endpoints.account_id' as never;
  return owner === null
    ? query.where(column, 'is', null as never)
    : query.where(column, '=', owner as never);
}

export async function listEndpoints(
  db: Kysely<Tables>,
  owner: Owner,
): Promise<readonly EndpointListing[]> {
  const rows = await byOwner(db.selectFrom('alert_endpoints'), owner)
    .selectAll()
    .orderBy('created_at_ms')
    .orderBy('id')
    .execute();
  return rows.map(toListing);
}

export async function findEndpoint(
  db: Kysely<Tables>,
  { owner, id }: { readonly owner: Owner; readonly id: string },
): Promise<EndpointRow | undefined> {
  const query = db.selectFrom('alert_endpoints').selectAll().where('id', '=', id);
  return byOwner(query, owner).executeTakeFirst();
}

export function toListing(row: EndpointRow): EndpointListing {
  return {
    id: row.id,
    kind: row.kind,
    address: row.shown_address,
    types: row.types === null ? null : (JSON.parse(row.types) as AlertType[]),
    is_private: row.is_private === 1,
    created_at: new Date(row.created_at_ms).toISOString(),
    disabled_at: isoTimeOf(row.disabled_at_ms),
    disabled_reason: row.disabled_reason,
  };
}

/** Returns a row to insert, and the secret of a webhook, which is never shown again. */
export async function newEndpoint(
  secrets: Secrets,
  { owner, kind, address, types, isPrivate }: EndpointOrder,
  nowMs: number,
): Promise<{ readonly row: EndpointRow; readonly secret: string | null }> {
  const id = newIdWithPrefix('end');
  const secret = kind === 'webhook' ? newSigningSecret() : null;
  const sealed =
    kind === 'email'
      ? { sealed: null, secret_id: null }
      : await seal(secrets, id, {
          address,
          secrets: secret === null ? [] : [{ text: secret, untilMs: null }],
        });
  const row = {
    id,
    account_id: owner,
    kind,
    shown_address: kind === 'email' ? address : shownAddress(kind, new URL(address)),
    types: types && JSON.stringify(types),
    is_private: isPrivate ? (1 as const) : (0 as const),
    ...sealed,
    created_at_ms: nowMs,
    disabled_at_ms: null,
    disabled_reason: null,
  };
  return { row, secret };
}

/** Makes the owners hear of low balances by e-mail, unless an endpoint of the account has them. */
export async function mailOwners(
  write: Kysely<Tables>,
  accountId: string,
  nowMs: number,
): Promise<void> {
  const endpoints = await listEndpoints(write, accountId);
  if (endpoints.some(({ kind }) => kind === 'email')) return;
  await write
    .insertInto('alert_endpoints')
    .values({
      id: newIdWithPrefix('end'),
      account_id: accountId,
      kind: 'email',
      shown_address: ownersAddress,
      types: JSON.stringify(['balance.low']),
      sealed: null,
      secret_id: null,
      created_at_ms: nowMs,
      disabled_at_ms: null,
      disabled_reason: null,
    })
    .execute();
}

/** The last part of Slack's addresses is a key, and so is the query of some receivers'. */
function shownAddress(kind: EndpointKind, { origin, pathname, search }: URL): string {
  if (kind === 'slack') return `${origin}/…${pathname.slice(-4)}`;
  return origin + pathname + (search === '' ? '' : '?…');
}

/** Returns a webhook's columns with a new secret, beside which the one before signs for a day. */
export async function withNewSecret(
  secrets: Secrets,
  { id, sealed }: EndpointRow,
  nowMs: number,
): Promise<{ readonly columns: SealedColumns; readonly secret: string }> {
  const { address, secrets: before } = await open(secrets, id, sealed!);
  const secret = newSigningSecret();
  const previous = before.slice(0, 1).map(({ text }) => ({ text, untilMs: nowMs + overlapMs }));
  const signing = [{ text: secret, untilMs: null }, ...previous];
  return { columns: await seal(secrets, id, { address, secrets: signing }), secret };
}

/** Where an endpoint's events go now, and the secrets that sign them. */
export type EndpointTarget = Pick<EndpointRow, 'id' | 'kind' | 'account_id'> & {
  readonly isPrivate: boolean;
  readonly address: string;
  readonly signingSecrets: readonly string[];
};

/** Throws when the address is under a secret that is not accepted. */
export async function readTarget(
  secrets: Secrets,
  { id, kind, account_id, is_private, shown_address, sealed }: EndpointRow,
  nowMs: number,
): Promise<EndpointTarget> {
  const target = { id, kind, account_id, isPrivate: is_private === 1 };
  if (sealed === null) return { ...target, address: shown_address, signingSecrets: [] };
  const { address, secrets: signing } = await open(secrets, id, sealed);
  const valid = signing.filter(({ untilMs }) => untilMs === null || untilMs > nowMs);
  return { ...target, address, signingSecrets: valid.map(({ text }) => text) };
}

type SealedColumns = { readonly sealed: string; readonly secret_id: string };

async function seal(secrets: Secrets, id: string, content: Sealed): Promise<SealedColumns> {
  const sealed = await sealerOf(secrets).seal(Buffer.from(JSON.stringify(content)), id);
  return { sealed: sealed.toString('base64'), secret_id: secrets[0].id };
}

async function open(secrets: Secrets, id: string, sealed: string): Promise<Sealed> {
  const bytes = await sealerOf(secrets).open(Buffer.from(sealed, 'base64'), id);
  return JSON.parse(bytes.toString()) as Sealed;
}

function sealerOf(secrets: Secrets): Sealer {
  return createSealer(secrets, 'alert endpoints');
}

/** Encrypts endpoints anew that are under an earlier accepted secret. Others stay as they are. */
export async function renewEndpoints(database: Database, secrets: Secrets): Promise<void> {
  for (const { id, sealed } of await underOthers(database, secrets[0])) {
    const content = await open(secrets, id, sealed!).catch(() => null);
    if (!content) continue;
    await database.write
      .updateTable('alert_endpoints')
      .set(await seal(secrets, id, content))
      .where('id', '=', id)
      .where('sealed', '=', sealed)
      .execute();
  }
}

/** Returns the ids of endpoints that are encrypted under another secret. */
export async function endpointsUnderOthers(
  database: Database,
  current: Secret,
): Promise<readonly string[]> {
  return (await underOthers(database, current)).map(({ id }) => id);
}

function underOthers({ read }: Database, { id }: Secret) {
  return read
    .selectFrom('alert_endpoints')
    .select(['id', 'sealed'])
    .where('secret_id', '!=', id)
    .execute();
}
