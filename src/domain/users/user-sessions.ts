// Lists and ends a user's sessions. A session without its row is refused from the next request on.
import type { Db } from '../../db/schema.ts';
import { endDeviceLogins } from './device-logins.ts';

/** Lists sessions that have not expired, newest first. `renewedAt` is accurate to the day. */
export async function listSessions(read: Db, userId: string, nowMs: number) {
  const rows = await read
    .selectFrom('user_sessions')
    .select(['id', 'created_at as createdAt', 'updated_at as renewedAt', 'expires_at as expiresAt'])
    .select(['ip_address as address', 'user_agent as userAgent'])
    .where('user_id', '=', userId)
    .orderBy('id', 'desc')
    .execute();
  return rows.filter(({ expiresAt }) => new Date(expiresAt).getTime() > nowMs);
}

/** Ends a session. Returns false when it was not one of the user's. */
export async function endSession(
  write: Db,
  { userId, sessionId }: { readonly userId: string; readonly sessionId: string },
): Promise<boolean> {
  await endDeviceLogins(write, userId);
  const [result] = await write
    .deleteFrom('user_sessions')
    .where('user_id', '=', userId)
    .where('id', '=', sessionId)
    .execute();
  return result!.numDeletedRows > 0n;
}

/** Ends the user's other sessions. Returns their number. */
export async function endOtherSessions(
  write: Db,
  { userId, sessionId }: { readonly userId: string; readonly sessionId: string },
): Promise<number> {
  await endDeviceLogins(write, userId);
  const [result] = await write
    .deleteFrom('user_sessions')
    .where('user_id', '=', userId)
    .where('id', '!=', sessionId)
    .execute();
  return Number(result!.numDeletedRows);
}
