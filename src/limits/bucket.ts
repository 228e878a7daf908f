// The arithmetic of a token bucket: it holds a minute's worth, fills evenly, and may owe what was used beyond what was taken. Over any
// stretch of time it gives at most its capacity and what flowed in. postgres-limits.ts says the same in SQL, and a test compares them.

/** What may be used, a minute and at once. `id` tells it from all others. */
export type Budget = { readonly id: string; readonly perMinute: number };

/** `level`: what is left; below 0 it is owed. */
export type Bucket = { readonly level: number; readonly updatedMs: number };

/** The bucket as it is now; one that was never used is full. A clock that steps back adds nothing, and time goes on from there. */
export function refill(bucket: Bucket | undefined, perMinute: number, nowMs: number): Bucket {
  if (!bucket) return { level: perMinute, updatedMs: nowMs };
  const elapsedMs = Math.max(0, nowMs - bucket.updatedMs);
  return { level: Math.min(perMinute, bucket.level + (elapsedMs * perMinute) / 60_000), updatedMs: nowMs };
}

/** `returned`: what was taken and not used, or, negative, used and not taken. Gives whole units, up to `wanted` of them. */
export function draw(
  bucket: Bucket,
  { perMinute, returned, wanted }: { readonly perMinute: number; readonly returned: number; readonly wanted: number },
): { readonly bucket: Bucket; readonly granted: number } {
  const level = Math.min(perMinute, bucket.level + returned);
  const granted = Math.min(wanted, Math.max(0, Math.floor(level)));
  return { bucket: { ...bucket, level: level - granted }, granted };
}

/** How long until the level is reached; a bucket that does not fill is given a minute, for want of a better answer. */
export function msUntil(level: number, { now, perMinute }: { readonly now: number; readonly perMinute: number }): number {
  return perMinute === 0 ? 60_000 : Math.max(0, Math.ceil(((level - now) * 60_000) / perMinute));
}
