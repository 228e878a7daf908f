// Answers of the admin API under Idempotency-Keys. A change in the database and its answer are one
// transaction: after a crash, either both are there or neither is. A credit or debit is booked by
// the ledger, in a transaction of its own. There the claim comes first, the ledger books only once
// under an id that follows from the Idempotency-Key, and the answer is kept afterwards.
import { sql } from 'kysely';
import type { Db } from '../../db/schema.ts';
import { createSealer, type Sealer } from '../../lib/sealed-bytes.ts';
import type { Secrets } from '../../lib/secrets.ts';
import type { RequestName } from './request-name.ts';

/** `keyId`: the admin key. */
type Name = Pick<RequestName, 'keyId' | 'keyDigest' | 'fingerprint'>;

type Claimed =
  /** Nobody has run the request, or it ran without keeping its answer. */
  | { readonly kind: 'open' }
  | { readonly kind: 'kept'; readonly answer: string }
  /** The Idempotency-Key was used with another request. */
  | { readonly kind: 'conflict' }
  /** The request succeeded, but its answer was sealed under a secret that has ended. */
  | { readonly kind: 'unreadable' };

const keptForMs = 24 * 60 * 60_000;
const removeMax = 200;

export class KeptAnswers {
  readonly #sealer: Sealer;
  readonly #onError: (error: unknown) => void;

  constructor({
    secrets,
    onError,
  }: {
    readonly secrets: Secrets;
    readonly onError: (error: unknown) => void;
  }) {
    this.#sealer = createSealer(secrets, 'admin answers');
    this.#onError = onError;
  }

  /**
   * Claims the key for this request. While another transaction claims it, this waits for its end.
   */
  async claim(db: Db, name: Name, nowMs: number): Promise<Claimed> {
    const { keyId, keyDigest, fingerprint } = name;
    const { rows } = await sql<object>`
      insert into admin_answers (admin_key_id, key_digest, fingerprint, expires_at_ms)
      values (${keyId}, ${keyDigest}, ${fingerprint}, ${nowMs + keptForMs})
      on conflict (admin_key_id, key_digest) do update set
        fingerprint = excluded.fingerprint, body = null, expires_at_ms = excluded.expires_at_ms
      where admin_answers.expires_at_ms <= ${nowMs}
      returning key_digest`.execute(db);
    if (rows.length > 0) return { kind: 'open' };
    const row = await db
      .selectFrom('admin_answers')
      .select(['fingerprint', 'body'])
      .where('admin_key_id', '=', keyId)
      .where('key_digest', '=', keyDigest)
      .executeTakeFirstOrThrow();
    if (row.fingerprint !== fingerprint) return { kind: 'conflict' };
    return row.body === null ? { kind: 'open' } : this.#open(row.body, name);
  }

  async keep(db: Db, name: Name, answer: string): Promise<void> {
    const body = await this.#sealer.seal(Buffer.from(answer), contextOf(name));
    await db
      .updateTable('admin_answers')
      .set({ body })
      .where('admin_key_id', '=', name.keyId)
      .where('key_digest', '=', name.keyDigest)
      .where('fingerprint', '=', name.fingerprint)
      .execute();
  }

  /** Gives up the claim of a request that was refused. An answer that is kept stays. */
  async release(db: Db, name: Name): Promise<void> {
    await db
      .deleteFrom('admin_answers')
      .where('admin_key_id', '=', name.keyId)
      .where('key_digest', '=', name.keyDigest)
      .where('fingerprint', '=', name.fingerprint)
      .where('body', 'is', null)
      .execute();
  }

  async #open(sealed: Uint8Array, name: Name): Promise<Claimed> {
    try {
      return {
        kind: 'kept',
        answer: (await this.#sealer.open(sealed, contextOf(name))).toString(),
      };
    } catch (error) {
      this.#onError(error);
      return { kind: 'unreadable' };
    }
  }
}

/** Removes expired answers in small steps, so that other writers never wait long. */
export async function removeExpiredAnswers(write: Db, nowMs: number): Promise<void> {
  for (let removed = removeMax; removed === removeMax;) {
    const { numAffectedRows } = await sql`
      delete from admin_answers where (admin_key_id, key_digest) in (
        select admin_key_id, key_digest from admin_answers
        where expires_at_ms <= ${nowMs} limit ${sql.lit(removeMax)}
      )`.execute(write);
    removed = Number(numAffectedRows ?? 0);
  }
}

function contextOf({ keyId, keyDigest }: Name): string {
  return `${keyId} ${keyDigest}`;
}
