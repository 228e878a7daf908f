// Reads the kept bodies of a request.
import type { Db } from '../../db/schema.ts';
import type { Secrets } from '../../lib/secrets.ts';
import { belowGeneration } from '../../db/below-generation.ts';
import { bodySealer, sealContext } from './kept-bodies.ts';

export type KeptBody = {
  readonly text: string;
  /** The length as it was sent. */
  readonly bytes: number;
  /** Less than all of it is kept. */
  readonly isCut: boolean;
};

type Bodies = {
  /** null: there was none. */
  readonly request: KeptBody | null;
  readonly answer: KeptBody | null;
  readonly isStreamed: boolean;
  readonly expiresAtMs: number;
};

type BodyKey = { readonly accountId: string; readonly requestId: string };

/** Returns null when none are kept, `unreadable` when they are under a secret that is not accepted. */
export async function readBodies(
  read: Db,
  secrets: Secrets,
  { accountId, requestId, nowMs }: BodyKey & { readonly nowMs: number },
): Promise<Bodies | 'unreadable' | null> {
  const row = await read
    .selectFrom('kept_bodies')
    .innerJoin('accounts', 'accounts.id', 'kept_bodies.account_id')
    .selectAll('kept_bodies')
    .where('account_id', '=', accountId)
    .where('request_id', '=', requestId)
    .where('expires_at_ms', '>', nowMs)
    .where('generation', '>=', belowGeneration)
    .executeTakeFirst();
  if (!row) return null;
  const sealer = bodySealer(secrets);
  const open = async (part: 'request' | 'answer'): Promise<KeptBody | null> => {
    const [sealed, bytes] = [row[part], row[`${part}_bytes`]];
    if (sealed === null || bytes === null) return null;
    const kept = await sealer.open(sealed, sealContext({ accountId, requestId }, part));
    return { text: kept.toString(), bytes, isCut: kept.length < bytes };
  };
  try {
    const [request, answer] = [await open('request'), await open('answer')];
    const isStreamed = row.streamed === 1;
    return { request, answer, isStreamed, expiresAtMs: row.expires_at_ms };
  } catch {
    return 'unreadable';
  }
}
