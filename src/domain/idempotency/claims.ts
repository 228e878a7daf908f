// The table of idempotent requests: the running ones and the stored answers. A claim is a single
// statement, so only one process can win it. The ledger stores the answer, in the transaction that
// charges it.
import { type Selectable, sql } from 'kysely';
import type { SealedResponse } from '../../terms/sealed-answer.ts';
import type { AnswerWorth } from '../../terms/stored-response.ts';
import { belowGeneration } from '../../db/below-generation.ts';
import type { Database } from '../../db/database.ts';
import type { Db, Tables } from '../../db/schema.ts';
import type { RequestName } from './request-name.ts';

export type ClaimRow = Selectable<Tables['idempotent_responses']>;

type Claimant = {
  readonly requestId: string;
  /** The process; its lease in the ledger shows that it is alive. */
  readonly owner: string;
  readonly nowMs: number;
};

/**
 * Returns the row of a used key; null for a free key, which was never used, has expired, or belongs
 * to a dead process.
 */
export async function findClaim(
  read: Db,
  { keyId, keyDigest }: RequestName,
  nowMs: number,
): Promise<ClaimRow | null> {
  const row = await read
    .selectFrom('idempotent_responses as claim')
    .leftJoin('hold_owners', 'hold_owners.owner', 'claim.owner')
    .selectAll('claim')
    .select('hold_owners.owner as living_owner')
    .where('claim.key_id', '=', keyId)
    .where('claim.key_digest', '=', keyDigest)
    .executeTakeFirst();
  if (!row) return null;
  const isFree =
    row.expires_at_ms === null ? row.living_owner === null : row.expires_at_ms <= nowMs;
  return isFree ? null : row;
}

/** Returns the model of the request's charge; undefined: it was not charged, or not yet. */
export async function findChargedModel(
  database: Database,
  { request_id: requestId }: ClaimRow,
): Promise<string | undefined> {
  const { read } = database;
  const charge = read.selectFrom('charges').select('model_id').where('id', '=', requestId);
  return (await charge.executeTakeFirst())?.model_id;
}

/** Claims the key. Returns true when the claimant has it. */
export async function takeClaim(
  transient: Db,
  name: RequestName,
  { requestId, owner, nowMs }: Claimant,
): Promise<boolean> {
  const { rows } = await sql<{ request_id: string }>`
    insert into idempotent_responses (key_id, key_digest, fingerprint, state, owner, request_id)
    values (${name.keyId}, ${name.keyDigest}, ${name.fingerprint}, 'running', ${owner}, ${requestId})
    on conflict (key_id, key_digest) do update set
      fingerprint = excluded.fingerprint, state = 'running', owner = excluded.owner, request_id = excluded.request_id,
      status = null, content_type = null, headers = null, body = null, stored_at_ms = null, expires_at_ms = null,
      cost_micros = null, input_tokens = null, output_tokens = null
    where idempotent_responses.expires_at_ms <= ${nowMs}
      or (idempotent_responses.expires_at_ms is null
        and not exists (select 1 from hold_owners where hold_owners.owner = idempotent_responses.owner))
    returning request_id`.execute(transient);
  return rows.length > 0;
}

type StoreOptions = {
  readonly requestId: string;
  readonly sealed: SealedResponse;
  readonly worth: AnswerWorth | undefined;
  readonly nowMs: number;
};

/**
 * Stores the answer of a free request, without its body when the account's answers were erased
 * since the request began. Returns true when the request still held the key.
 */
export async function storeClaim(
  write: Db,
  { keyId, keyDigest, generation }: RequestName,
  { requestId, sealed, worth, nowMs }: StoreOptions,
): Promise<boolean> {
  const isErased = sql`(select ${belowGeneration} from accounts join api_keys
    on api_keys.account_id = accounts.id where api_keys.id = ${keyId}) > ${generation}`;
  const body = sealed.body === null ? null : Buffer.from(sealed.body, 'base64');
  const { numUpdatedRows } = await write
    .updateTable('idempotent_responses')
    .set({
      state: 'stored',
      status: sealed.status,
      content_type: sealed.contentType,
      headers: sealed.headers,
      // The row of a running request has no body. From the column, PostgreSQL learns the type.
      body: sql`case when ${isErased} then body else ${body} end`,
      stored_at_ms: nowMs,
      expires_at_ms: nowMs + sealed.keptForMs,
      cost_micros: worth?.costMicros,
      input_tokens: worth?.inputTokens,
      output_tokens: worth?.outputTokens,
    })
    .where('key_id', '=', keyId)
    .where('key_digest', '=', keyDigest)
    .where('request_id', '=', requestId)
    .where('state', '=', 'running')
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** Frees the key of a failed request. A row that was stored in the meantime stays. */
export async function releaseClaim(
  transient: Db,
  { keyId, keyDigest }: RequestName,
  requestId: string,
): Promise<void> {
  await transient
    .deleteFrom('idempotent_responses')
    .where('key_id', '=', keyId)
    .where('key_digest', '=', keyDigest)
    .where('request_id', '=', requestId)
    .where('state', '=', 'running')
    .execute();
}

/**
 * Removes up to `max` expired or orphaned rows, so that other writers never wait long. Returns how
 * many were removed.
 */
export async function removeEnded(
  database: Database,
  { nowMs, max }: { readonly nowMs: number; readonly max: number },
): Promise<number> {
  // Found without the write lock. A row that was claimed again since has another request id and
  // stays.
  const ended = await database.read
    .selectFrom('idempotent_responses')
    .select('request_id')
    .where((where) =>
      where.or([
        where('expires_at_ms', '<=', nowMs),
        where.and([
          where('expires_at_ms', 'is', null),
          where('owner', 'not in', (from) => from.selectFrom('hold_owners').select('owner')),
        ]),
      ]),
    )
    .limit(max)
    .execute();
  if (ended.length === 0) return 0;
  const requestIds = ended.map((row) => row.request_id);
  await database.transient
    .deleteFrom('idempotent_responses')
    .where('request_id', 'in', requestIds)
    .where((where) =>
      where.or([where('expires_at_ms', 'is', null), where('expires_at_ms', '<=', nowMs)]),
    )
    .execute();
  return ended.length;
}
