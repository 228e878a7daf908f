// What a cap's window will have spent at its end, if spending goes on as so far.

/** A share of the window that must be over: an eighth, so three hours of a day. */
const leastShare = 1 / 8;

type Spent = {
  readonly spentMicros: number;
  /** The UTC window, in Unix milliseconds; `endMs` is exclusive. */
  readonly startMs: number;
  readonly endMs: number;
  /** When the key was created: before, it could spend nothing. */
  readonly createdAtMs: number;
  readonly nowMs: number;
};

/**
 * Returns what is spent by now plus the average so far for the rest of the window, rounded up to a
 * microdollar. Null: nothing is spent, or too little of the window is over to tell.
 */
export function forecastMicros(spent: Spent): number | null {
  const { spentMicros, startMs, endMs, createdAtMs, nowMs } = spent;
  const elapsedMs = nowMs - Math.max(startMs, createdAtMs);
  if (spentMicros <= 0 || elapsedMs < (endMs - startMs) * leastShare) return null;
  const rest =
    (BigInt(spentMicros) * BigInt(endMs - nowMs) + BigInt(elapsedMs) - 1n) / BigInt(elapsedMs);
  return spentMicros + Number(rest);
}
