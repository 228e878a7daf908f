// Files with the lines of batches, encrypted in pieces, so that none is ever in memory as a whole.
import type { Selectable } from 'kysely';
import { ApiError } from '../../canonical/errors.ts';
import type { Database } from '../../db/database.ts';
import type { Tables } from '../../db/schema.ts';
import { newIdWithPrefix } from '../../lib/ids.ts';
import { createSealer, type Sealer } from '../../lib/sealed-bytes.ts';
import type { Secrets } from '../../lib/secrets.ts';
import { dayMs, hourMs } from '../../lib/utc-time.ts';
import type { Mode } from '../../terms/mode.ts';
import { type Page, pageOf } from './page.ts';

export type BatchFile = Selectable<Tables['batch_files']>;

/** Whose files and batches: those of all keys of an account in one mode. */
export type Owner = { readonly accountId: string; readonly mode: Mode };

type NewFile = Owner & {
  readonly name: string;
  readonly pieces: AsyncIterable<Buffer>;
  readonly nowMs: number;
  readonly expiresAtMs: number;
};

const partBytes = 256 * 1024;

export class BatchFiles {
  readonly #database: Database;
  readonly #sealer: Sealer;

  constructor(database: Database, secrets: Secrets) {
    this.#database = database;
    this.#sealer = createSealer(secrets, 'batch files');
  }

  /** A file that breaks off stays invisible, and is removed after an hour. */
  async put({ accountId, mode, name, pieces, nowMs, expiresAtMs }: NewFile): Promise<BatchFile> {
    const { write } = this.#database;
    const id = newIdWithPrefix('file');
    const row = { id, account_id: accountId, mode, name, created_at_ms: nowMs };
    await write
      .insertInto('batch_files')
      .values({ ...row, bytes: null, expires_at_ms: nowMs + hourMs })
      .execute();
    let [bytes, part] = [0, 0];
    for await (const piece of inParts(pieces)) {
      const sealed = await this.#sealer.seal(piece, contextOf(id, part));
      await write.insertInto('batch_file_parts').values({ file_id: id, part, sealed }).execute();
      bytes += piece.length;
      part += 1;
    }
    const whole = { bytes, expires_at_ms: expiresAtMs };
    await write.updateTable('batch_files').set(whole).where('id', '=', id).execute();
    return { ...row, ...whole };
  }

  async find(owner: Owner, id: string, nowMs: number): Promise<BatchFile | null> {
    return (await this.#of(owner, nowMs).where('id', '=', id).executeTakeFirst()) ?? null;
  }

  /** Returns null when the page begins after a file that is not there. */
  async list(owner: Owner, page: Page, nowMs: number): Promise<readonly BatchFile[] | null> {
    const from = page.after === undefined ? null : await this.find(owner, page.after, nowMs);
    if (page.after !== undefined && !from) return null;
    return pageOf(this.#of(owner, nowMs), page, from).execute();
  }

  /**
   * Throws when a piece was sealed under a secret that has ended. Throws ApiError `not_found` when the
   * file is removed meanwhile.
   */
  async *read({ id, bytes }: BatchFile): AsyncGenerator<Buffer> {
    for (let [part, left] = [0, bytes!]; left > 0; part += 1) {
      const row = await this.#database.read
        .selectFrom('batch_file_parts')
        .select('sealed')
        .where('file_id', '=', id)
        .where('part', '=', part)
        .executeTakeFirst();
      if (!row) throw new ApiError('not_found', 'The file was removed while it was read.');
      const piece = await this.#sealer.open(row.sealed, contextOf(id, part));
      left -= piece.length;
      yield piece;
    }
  }

  /** Removes a file for its owner. It counts in the limit of its day. */
  async hide(id: string): Promise<void> {
    const hidden = this.#database.write.updateTable('batch_files').set({ expires_at_ms: 0 });
    await hidden.where('id', '=', id).execute();
    await this.#removeParts(id);
  }

  /** Removes a file as if it had never been there. */
  async remove(id: string): Promise<void> {
    await this.#removeParts(id);
    await this.#database.write.deleteFrom('batch_files').where('id', '=', id).execute();
  }

  async #removeParts(id: string): Promise<void> {
    const { write } = this.#database;
    // A part at a time, so that other writers never wait long.
    for (;;) {
      const last = await this.#database.read
        .selectFrom('batch_file_parts')
        .select('part')
        .where('file_id', '=', id)
        .orderBy('part', 'desc')
        .limit(1)
        .executeTakeFirst();
      if (!last) break;
      await write
        .deleteFrom('batch_file_parts')
        .where('file_id', '=', id)
        .where('part', '>', last.part - 16)
        .execute();
    }
  }

  async removeExpired(nowMs: number): Promise<void> {
    const expired = this.#database.read
      .selectFrom('batch_files')
      .select('id')
      .where('expires_at_ms', '<=', nowMs)
      .limit(100);
    for (const { id } of await expired.where('created_at_ms', '<=', nowMs - dayMs).execute())
      await this.remove(id);
    for (const { id } of await expired.where('expires_at_ms', '>', 0).execute())
      await this.hide(id);
  }

  /** Returns the bytes of the account's files that were created since a time. */
  async bytesSince(accountId: string, sinceMs: number): Promise<number> {
    const { bytes } = await this.#database.read
      .selectFrom('batch_files')
      .select(({ fn }) => fn.sum<number | null>('bytes').as('bytes'))
      .where('account_id', '=', accountId)
      .where('created_at_ms', '>', sinceMs)
      .executeTakeFirstOrThrow();
    return bytes ?? 0;
  }

  #of({ accountId, mode }: Owner, nowMs: number) {
    return this.#database.read
      .selectFrom('batch_files')
      .selectAll()
      .where('account_id', '=', accountId)
      .where('mode', '=', mode)
      .where('bytes', 'is not', null)
      .where('expires_at_ms', '>', nowMs);
  }
}

function contextOf(id: string, part: number): string {
  return `${id} ${part}`;
}

async function* inParts(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let waiting: Buffer[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    waiting.push(piece);
    bytes += piece.length;
    if (bytes < partBytes) continue;
    yield Buffer.concat(waiting);
    [waiting, bytes] = [[], 0];
  }
  if (bytes > 0) yield Buffer.concat(waiting);
}
