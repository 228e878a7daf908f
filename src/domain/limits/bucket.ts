// Token bucket arithmetic: a bucket holds a minute's budget, refills evenly, and may go below zero.
// Over any period it grants at most its capacity plus what flowed in. postgres-limits.ts implements
// the same in SQL, and a test compares them.

/** A limit per minute; the same amount can be used at once. `id` identifies the bucket. */
export type Budget = { readonly id: string; readonly perMinute: number };

/** `level`: what is left; a negative level is owed. */
export type Bucket = { readonly level: number; readonly updatedMs: number };

/**
 * Returns the bucket at `nowMs`; an unused one is full. A clock that goes back adds nothing, and
 * time continues from there.
 */
export function refill(bucket: Bucket | undefined, perMinute: number, nowMs: number): Bucket {
  if (!bucket) return { level: perMinute, updatedMs: nowMs };
  const elapsedMs = Math.max(0, nowMs - bucket.updatedMs);
  return {
    level: Math.min(perMinute, bucket.level + (elapsedMs * perMinute) / 60_000),
    updatedMs: nowMs,
  };
}

/**
 * Draws from a bucket. `returned`: units taken but not used; negative for units used but not taken.
 * Grants whole units, up to `wanted`.
 */
export function draw(
  bucket: Bucket,
  {
    perMinute,
    returned,
    wanted,
  }: { readonly perMinute: number; readonly returned: number; readonly wanted: number },
): { readonly bucket: Bucket; readonly granted: number } {
  const level = Math.min(perMinute, bucket.level + returned);
  const granted = Math.min(wanted, Math.max(0, Math.floor(level)));
  return { bucket: { ...bucket, level: level - granted }, granted };
}

/** Returns how long it takes to reach the level; a minute for a bucket that never refills. */
export function msUntil(
  level: number,
  { now, perMinute }: { readonly now: number; readonly perMinute: number },
): number {
  return perMinute === 0 ? 60_000 : Math.max(0, Math.ceil(((level - now) * 60_000) / perMinute));
}
