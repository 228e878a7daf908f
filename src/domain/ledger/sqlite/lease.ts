// Hold ownership on SQLite: all processes share a machine, so a killed process is detected at once,
// before its lease expires.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Tables } from '../../../db/schema.ts';
import type { Expire } from '../core.ts';
import { likelyEndOf, overdueMs, type Owner } from '../lease.ts';

const leaseMs = 60_000;

type OwnerRow = Tables['hold_owners'];

export class SqliteLease {
  readonly #self: Owner;
  readonly #isRunning: (pid: number) => boolean;
  readonly #renew: StatementSync;
  readonly #list: StatementSync;
  readonly #remove: StatementSync;
  readonly #abandoned: StatementSync;
  #overdueAtMs = 0;

  constructor(
    connection: DatabaseSync,
    self: Owner,
    isRunning: (pid: number) => boolean = isProcessRunning,
  ) {
    this.#self = self;
    this.#isRunning = isRunning;
    this.#renew = connection.prepare(
      `insert into hold_owners (owner, host, pid, process_started_at_ms, expires_at_ms) values (?, ?, ?, ?, ?)
       on conflict do update set expires_at_ms = excluded.expires_at_ms`,
    );
    this.#list = connection.prepare('select * from hold_owners');
    this.#remove = connection.prepare('delete from hold_owners where owner = ?');
    this.#abandoned = connection.prepare(
      `select id, owner from holds
       where owner not in (select owner from hold_owners) or owner in (select value from json_each(?)) limit ?`,
    );
  }

  renew(nowMs: number): void {
    const { owner, host, pid, processStartedAtMs } = this.#self;
    this.#renew.run(owner, host, pid, processStartedAtMs, nowMs + leaseMs);
    this.#overdueAtMs = nowMs + overdueMs;
  }

  /**
   * Called first in every transaction: after a pause in which other processes considered this one
   * dead, it must not place holds without a lease.
   */
  renewWhenOverdue(nowMs: number): void {
    // A clock set far back makes the lease overdue too; otherwise it would not be renewed for that
    // long.
    if (nowMs >= this.#overdueAtMs || nowMs < this.#overdueAtMs - overdueMs) this.renew(nowMs);
  }

  /** Called when the transaction that may have renewed the lease was rolled back. */
  forgetRenewal(): void {
    this.#overdueAtMs = 0;
  }

  /**
   * Returns up to `max` holds of dead owners. Ends an owner's lease only when all its holds are
   * returned, because the lease is the only record of when the owner ended.
   */
  findAbandoned(nowMs: number, max: number): readonly Expire[] {
    const rows = this.#list.all() as OwnerRow[];
    const gone = rows.filter((row) => row.expires_at_ms <= nowMs || this.#isDeadNeighbour(row));
    const endedAtMs = new Map(
      gone.map((row) => [row.owner, likelyEndOf(row.expires_at_ms, leaseMs)]),
    );
    const holds = this.#abandoned.all(JSON.stringify([...endedAtMs.keys()]), max) as {
      id: string;
      owner: string;
    }[];
    if (holds.length < max) for (const owner of endedAtMs.keys()) this.#remove.run(owner);
    return holds.map(({ id, owner }) => ({
      type: 'expire',
      holdId: id,
      ownerEndedAtMs: endedAtMs.get(owner) ?? null,
    }));
  }

  end(): void {
    this.#remove.run(this.#self.owner);
  }

  #isDeadNeighbour(row: OwnerRow): boolean {
    if (row.host !== this.#self.host) return false;
    // In a container every start may get the same pid.
    if (row.pid === this.#self.pid)
      return row.process_started_at_ms !== this.#self.processStartedAtMs;
    return !this.#isRunning(row.pid);
  }
}

function isProcessRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process runs as another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
