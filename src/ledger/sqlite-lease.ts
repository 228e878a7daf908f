// Who keeps which holds. A process has one lease for all its holds and renews it while it lives; a hold whose owner has no lease is
// abandoned. On SQLite all processes share a machine, so that one that was killed is noticed at once, not when its lease ends.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Expire } from './core.ts';

export const leaseRenewalMs = 10_000;
const leaseMs = 60_000;

/** The process that runs the requests. The time of its start tells it from another that had the same pid before. */
export type Owner = {
  readonly owner: string;
  readonly host: string;
  readonly pid: number;
  readonly processStartedAtMs: number;
};

type OwnerRow = { owner: string; host: string; pid: number; process_started_at_ms: number; expires_at_ms: number };

export class SqliteLease {
  readonly #self: Owner;
  readonly #isRunning: (pid: number) => boolean;
  readonly #renew: StatementSync;
  readonly #list: StatementSync;
  readonly #remove: StatementSync;
  readonly #abandoned: StatementSync;
  #renewAtMs = 0;
  /** When the owners whose leases it has ended have probably ended: one sweep may not give back all that they held. */
  readonly #endedAtMs = new Map<string, number>();

  constructor(connection: DatabaseSync, self: Owner, isRunning: (pid: number) => boolean = isProcessRunning) {
    this.#self = self;
    this.#isRunning = isRunning;
    this.#renew = connection.prepare(
      `insert into hold_owners (owner, host, pid, process_started_at_ms, expires_at_ms) values (?, ?, ?, ?, ?)
       on conflict do update set expires_at_ms = excluded.expires_at_ms`,
    );
    this.#list = connection.prepare('select * from hold_owners');
    this.#remove = connection.prepare('delete from hold_owners where owner = ?');
    this.#abandoned = connection.prepare(
      'select id, owner from holds where owner not in (select owner from hold_owners) limit ?',
    );
  }

  /** First in every transaction: after a pause in which others took this process for dead, it may place no hold without a lease. */
  renewWhenDue(nowMs: number): void {
    // A clock that was set back far makes the lease due as well: else it would not be renewed for as long.
    if (nowMs < this.#renewAtMs && nowMs >= this.#renewAtMs - leaseRenewalMs) return;
    const { owner, host, pid, processStartedAtMs } = this.#self;
    this.#renew.run(owner, host, pid, processStartedAtMs, nowMs + leaseMs);
    this.#renewAtMs = nowMs + leaseRenewalMs;
  }

  /** The transaction that may have renewed the lease was undone. */
  forgetRenewal(): void {
    this.#renewAtMs = 0;
  }

  /** Ends the leases of owners that are gone, and returns up to `max` holds that are nobody's now. */
  findAbandoned(nowMs: number, max: number): readonly Expire[] {
    for (const row of this.#list.all() as OwnerRow[]) {
      if (row.expires_at_ms > nowMs && !this.#isDeadNeighbour(row)) continue;
      this.#remove.run(row.owner);
      this.#endedAtMs.set(row.owner, likelyEndOf(row, leaseMs));
    }
    const rows = this.#abandoned.all(max) as { id: string; owner: string }[];
    return rows.map(({ id, owner }) => ({ type: 'expire', holdId: id, ownerEndedAtMs: this.#endedAtMs.get(owner) ?? null }));
  }

  end(): void {
    this.#remove.run(this.#self.owner);
  }

  #isDeadNeighbour(row: OwnerRow): boolean {
    if (row.host !== this.#self.host) return false;
    // In a container every start may get the same pid.
    if (row.pid === this.#self.pid) return row.process_started_at_ms !== this.#self.processStartedAtMs;
    return !this.#isRunning(row.pid);
  }
}

/** It lived when it last renewed its lease, and no longer when it was to do so again. */
export function likelyEndOf({ expires_at_ms: expiresAtMs }: { readonly expires_at_ms: number }, ofLeaseMs: number): number {
  return expiresAtMs - ofLeaseMs + leaseRenewalMs / 2;
}

function isProcessRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it runs, as another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
