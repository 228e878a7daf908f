// Limits guesses of passwords and codes. The database keeps one count for each e-mail address or
// user, so it does not matter how many client addresses or gateways the attempts come through.
// Every attempt is counted before it is checked, so concurrent attempts get no further than
// sequential ones.
import { createHash } from 'node:crypto';
import type { Db, Tables } from '../../db/schema.ts';
import { dayMs } from '../../lib/utc-time.ts';

export type Attempts = {
  readonly kind:
    | 'sign-in'
    | 'second-factor'
    | 'passkey'
    | 'password-reset'
    | 'invitation'
    | 'account-invitations'
    | 'sign-up'
    | 'password'
    | 'device-code'
    | 'alert'
    | 'changes';
  /** An e-mail address, with or without a user, or an id. */
  readonly of: string;
};

type Count = Omit<Tables['attempts'], 'subject'>;

type Limit = { readonly free: number; readonly windowMs: number };

export const usualLimit: Limit = { free: 10, windowMs: 15 * 60_000 };
/** All e-mails that an account has sent to others, whoever they are. */
const invitationsLimit: Limit = { free: 30, windowMs: dayMs };
/** Each leaves a row in the audit log. Nobody makes so many by hand. */
const changesLimit: Limit = { free: 300, windowMs: 15 * 60_000 };
const limits: Partial<Readonly<Record<Attempts['kind'], Limit>>> = {
  'account-invitations': invitationsLimit,
  changes: changesLimit,
};
const windowMaxMs = dayMs;
const firstWaitMs = 30_000;
const waitMaxMs = 15 * 60_000;

/** Counts one attempt. Returns 0, or the seconds to wait when the attempt must not be made. */
export async function takeAttempt(
  transient: Db,
  attempts: Attempts,
  nowMs: number,
): Promise<number> {
  const subject = subjectOf(attempts);
  return transient.transaction().execute(async (transaction) => {
    // Also locks the row on PostgreSQL, where a second gateway may be counting.
    const row = await transaction
      .insertInto('attempts')
      .values({ subject, count: 0, started_at_ms: nowMs, blocked_until_ms: 0 })
      .onConflict((conflict) => conflict.column('subject').doUpdateSet({ subject }))
      .returningAll()
      .executeTakeFirstOrThrow();
    const restMs = row.blocked_until_ms - nowMs;
    // No wait is longer than the maximum; more is left only when the clock was set back.
    if (restMs > 0 && restMs <= waitMaxMs) return Math.ceil(restMs / 1_000);
    await transaction
      .updateTable('attempts')
      .set(countAttempt(row, nowMs, limits[attempts.kind]))
      .where('subject', '=', subject)
      .execute();
    return 0;
  });
}

/** Resets the count after a success. */
export async function forgetAttempts(transient: Db, attempts: Attempts): Promise<void> {
  await transient.deleteFrom('attempts').where('subject', '=', subjectOf(attempts)).execute();
}

/** Counts further attempts of `to` as those of `from`. */
export async function moveAttempts(transient: Db, from: Attempts, to: Attempts): Promise<void> {
  await transient
    .updateTable('attempts')
    .set({ subject: subjectOf(to) })
    .where('subject', '=', subjectOf(from))
    .execute();
}

/** Removes counts that no longer delay anything. */
export async function tidyAttempts(transient: Db, nowMs: number): Promise<void> {
  await transient
    .deleteFrom('attempts')
    .where('started_at_ms', '<', nowMs - windowMaxMs)
    .where('blocked_until_ms', '<', nowMs - windowMaxMs)
    .execute();
}

/**
 * Some attempts within the window are free, usually ten in 15 minutes. Each further one starts a wait
 * twice as long as the last, until a whole window passes without an attempt.
 */
export function countAttempt(
  previous: Count,
  nowMs: number,
  { free, windowMs }: Limit = usualLimit,
): Count {
  const isOver =
    nowMs >= previous.started_at_ms + windowMs && nowMs >= previous.blocked_until_ms + windowMs;
  const [count, startedAtMs] = isOver ? [1, nowMs] : [previous.count + 1, previous.started_at_ms];
  const beyond = count - free;
  const waitMs = beyond < 0 ? 0 : Math.min(firstWaitMs * 2 ** Math.min(beyond, 10), waitMaxMs);
  const blockedUntilMs = waitMs === 0 ? 0 : nowMs + waitMs;
  return { count, started_at_ms: startedAtMs, blocked_until_ms: blockedUntilMs };
}

/** Hashed, so that addresses of people who are not users are not collected. */
function subjectOf({ kind, of }: Attempts): string {
  return `${kind}:${createHash('sha256').update(of.toLowerCase()).digest('base64url')}`;
}
