// Lists and ends a user's sessions. A session without its row is refused from the next request on.
import type { Database } from '../../db/database.ts';

type SessionRecord = {
  readonly id: string;
  readonly createdAt: Date;
  /** Accurate to the day. */
  readonly renewedAt: Date;
  readonly expiresAt: Date;
  readonly address: string;
  readonly userAgent: string;
};

/** Lists sessions that have not expired, newest first. */
export async function listSessions(
  database: Pick<Database, 'read'>,
  userId: string,
  nowMs: number,
): Promise<SessionRecord[]> {
  const rows = await database.read
    .selectFrom('user_sessions')
    .select(['id', 'created_at', 'updated_at', 'expires_at', 'ip_address', 'user_agent'])
    .where('user_id', '=', userId)
    .orderBy('id', 'desc')
    .execute();
  return rows
    .map((row) => ({
      id: row.id,
      createdAt: new Date(row.created_at),
      renewedAt: new Date(row.updated_at),
      expiresAt: new Date(row.expires_at),
      address: row.ip_address ?? '',
      userAgent: row.user_agent ?? '',
    }))
    .filter(({ expiresAt }) => expiresAt.getTime() > nowMs);
}

/** Ends a session. Returns false when it was not one of the user's. */
export async function endSession(
  database: Database,
  { userId, sessionId }: { readonly userId: string; readonly sessionId: string },
): Promise<boolean> {
  const [result] = await database.write
    .deleteFrom('user_sessions')
    .where('user_id', '=', userId)
    .where('id', '=', sessionId)
    .execute();
  return result!.numDeletedRows > 0n;
}

/** Ends the user's other sessions. Returns their number. */
export async function endOtherSessions(
  database: Database,
  { userId, sessionId }: { readonly userId: string; readonly sessionId: string },
): Promise<number> {
  const [result] = await database.write
    .deleteFrom('user_sessions')
    .where('user_id', '=', userId)
    .where('id', '!=', sessionId)
    .execute();
  return Number(result!.numDeletedRows);
}
