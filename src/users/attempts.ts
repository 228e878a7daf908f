// What is slowed down after some tries, however many addresses they come from and whichever gateway they reach: a count in the database for
// each e-mail address or user. Every try is counted before it is looked at, so that many at once get no further than many in turn.
import { createHash } from 'node:crypto';
import type { Database } from '../db/database.ts';

export type Attempts = {
  /** What is tried. */
  readonly kind: 'sign-in' | 'second-factor' | 'password-reset' | 'invitation' | 'sign-up' | 'password';
  /** For whom: an e-mail address, known here or not, or an id. */
  readonly of: string;
};

type Count = { readonly count: number; readonly startedAtMs: number; readonly blockedUntilMs: number };

export const freeAttempts = 10;
export const windowMs = 15 * 60_000;
const firstWaitMs = 30_000;
const waitMaxMs = 15 * 60_000;

/** Counts one try. Returns 0, or the seconds to wait when it must not be made. */
export async function takeAttempt(database: Database, attempts: Attempts, nowMs: number): Promise<number> {
  const subject = subjectOf(attempts);
  return database.transient.transaction().execute(async (transaction) => {
    // Also locks the row on PostgreSQL, where a second gateway may be counting.
    const row = await transaction
      .insertInto('attempts')
      .values({ subject, count: 0, started_at_ms: nowMs, blocked_until_ms: 0 })
      .onConflict((conflict) => conflict.column('subject').doUpdateSet({ subject }))
      .returningAll()
      .executeTakeFirstOrThrow();
    const known = { count: row.count, startedAtMs: row.started_at_ms, blockedUntilMs: row.blocked_until_ms };
    if (known.blockedUntilMs > nowMs) return Math.ceil((known.blockedUntilMs - nowMs) / 1_000);
    const { count, startedAtMs, blockedUntilMs } = countOne(known, nowMs);
    await transaction
      .updateTable('attempts')
      .set({ count, started_at_ms: startedAtMs, blocked_until_ms: blockedUntilMs })
      .where('subject', '=', subject)
      .execute();
    return 0;
  });
}

/** It succeeded: the count begins anew. */
export async function forgetAttempts(database: Database, attempts: Attempts): Promise<void> {
  await database.transient.deleteFrom('attempts').where('subject', '=', subjectOf(attempts)).execute();
}

/** Removes counts that say nothing any more. */
export async function tidyAttempts(database: Database, nowMs: number): Promise<void> {
  await database.transient
    .deleteFrom('attempts')
    .where('started_at_ms', '<', nowMs - windowMs)
    .where('blocked_until_ms', '<', nowMs - windowMs)
    .execute();
}

/** Ten in a quarter of an hour are free. From then on each is followed by a wait, twice as long as the last, until a quarter of an hour was quiet. */
export function countOne(known: Count, nowMs: number): Count {
  const isOver = nowMs >= known.startedAtMs + windowMs && nowMs >= known.blockedUntilMs + windowMs;
  const { count, startedAtMs } = isOver ? { count: 1, startedAtMs: nowMs } : { ...known, count: known.count + 1 };
  const beyond = count - freeAttempts;
  const waitMs = beyond < 0 ? 0 : Math.min(firstWaitMs * 2 ** Math.min(beyond, 10), waitMaxMs);
  return { count, startedAtMs, blockedUntilMs: waitMs === 0 ? 0 : nowMs + waitMs };
}

/** Strangers' addresses are not collected. */
function subjectOf({ kind, of }: Attempts): string {
  return `${kind}:${createHash('sha256').update(of.toLowerCase()).digest('base64url')}`;
}
