// The timing of leases, which is the same on both databases. A process has one lease for all its
// holds and renews it while it lives; a hold whose owner has no lease is abandoned.

/**
 * Short, so that the time of a kill is known precisely: the cost of killed requests is estimated
 * from it.
 */
export const renewalMs = 1_000;
/**
 * A lease that was not renewed for this long is renewed by the next transaction before it places a
 * hold.
 */
export const overdueMs = 10_000;

/**
 * The process that runs the requests. Its start time distinguishes it from an earlier process with
 * the same pid.
 */
export type Owner = {
  readonly owner: string;
  readonly host: string;
  readonly pid: number;
  readonly processStartedAtMs: number;
};

/** The owner was alive at its last renewal and dead at the next one; returns the middle. */
export function likelyEndOf(expiresAtMs: number, leaseMs: number): number {
  return expiresAtMs - leaseMs + renewalMs / 2;
}
