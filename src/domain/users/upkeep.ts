// Removes expired links, sessions and counts.
import type { Database } from '../../db/database.ts';
import { tidyAttempts } from './attempts.ts';
import { handedOverLifetimeMs } from './one-time-link.ts';

export async function tidySignIns(database: Database, nowMs: number): Promise<void> {
  const { write } = database;
  await write
    .deleteFrom('sign_in_links')
    .where('expires_at_ms', '<', nowMs - handedOverLifetimeMs)
    .execute();
  await write
    .deleteFrom('user_sessions')
    .where('expires_at', '<', new Date(nowMs).toISOString())
    .execute();
  await write
    .deleteFrom('user_verifications')
    .where('expires_at', '<', new Date(nowMs).toISOString())
    .execute();
  await write.deleteFrom('used_passkey_challenges').where('expires_at_ms', '<', nowMs).execute();
  await tidyAttempts(database.transient, nowMs);
}
