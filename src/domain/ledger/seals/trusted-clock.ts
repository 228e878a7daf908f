// Decides whether a day may be closed by the clock. A clock that suddenly is more than three hours ahead of
// the last look closes nothing, until looks over many hours agree with it: a day that was sealed too
// early could not be opened again. The last look is stored, so a restart changes nothing.

export type ClockLooks = {
  /** The clock at the last look that trusted it; null before the first. */
  readonly trustedMs: number | null;
  /** The first and last look of a clock that is not trusted yet; null while it is. */
  readonly doubtedSinceMs: number | null;
  readonly doubtedAtMs: number | null;
};

const jumpMs = 3 * 3_600_000;
/** A doubted clock is trusted after it ran for so long, with looks no further apart than a pause. */
export const doubtMs = 12 * 3_600_000;
const pauseMs = 3 * 3_600_000;

/** Returns what to store. The clock is trusted if `trustedMs` is the time of this look. */
export function lookAtClock({ trustedMs, doubtedSinceMs, doubtedAtMs }: ClockLooks, nowMs: number) {
  const trusted: ClockLooks = { trustedMs: nowMs, doubtedSinceMs: null, doubtedAtMs: null };
  if (trustedMs !== null && nowMs <= trustedMs + jumpMs) return trusted;
  const hasGoneOn =
    doubtedSinceMs !== null &&
    doubtedAtMs !== null &&
    nowMs >= doubtedAtMs &&
    nowMs <= doubtedAtMs + pauseMs;
  if (!hasGoneOn) return { trustedMs, doubtedSinceMs: nowMs, doubtedAtMs: nowMs };
  if (nowMs - doubtedSinceMs >= doubtMs) return trusted;
  return { trustedMs, doubtedSinceMs, doubtedAtMs: nowMs };
}
