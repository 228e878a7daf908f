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

/** Ends a session of the user (`=`), or all but this one (`!=`). Returns how many ended. */
export async function endSessions(
  write: Db,
  userId: string,
  which: readonly [is: '=' | '!=', sessionId: string],
): Promise<number> {
  await endDeviceLogins(write, userId);
  const ended = write.deleteFrom('user_sessions').where('user_id', '=', userId);
  const { numDeletedRows } = await ended.where('id', ...which).executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
