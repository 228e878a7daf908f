// Who keeps which holds, among any number of machines, by the database's clock. A process that was killed is noticed when its lease ends,
// since no other can look at its pid: the next sweep after that, of whoever sweeps first, gives back what it held.
import type { ClientBase, Pool } from 'pg';
import type { Expire } from './core.ts';
import { nowMs } from './postgres-statements.ts';
import { likelyEndOf, type Owner } from './sqlite-lease.ts';

/** With a sweep as often as a renewal, what a killed process held is back in 50 seconds at the latest. */
export const renewalMs = 10_000;
const leaseMs = 40_000;

const renewText = `
with moment as materialized (select ${nowMs('$5')} as ms), earlier as (select expires_at_ms from hold_owners where owner = $1)
insert into hold_owners (owner, host, pid, process_started_at_ms, expires_at_ms)
select $1, $2, $3, $4, ms + ${leaseMs} from moment
on conflict (owner) do update set expires_at_ms = excluded.expires_at_ms
returning (select expires_at_ms > ms from earlier, moment) as was_valid`;

const endExpiredText = `
with moment as materialized (select ${nowMs('$1')} as ms)
delete from hold_owners using moment where expires_at_ms <= ms
returning owner, expires_at_ms`;

const abandonedText = `
select id, owner from holds where not exists (select from hold_owners where hold_owners.owner = holds.owner) order by id limit $1`;

export class PostgresLease {
  readonly owner: string;
  readonly #self: Owner;
  readonly #clock: () => number | null;
  /** When the owners whose leases it has ended have probably ended: one sweep may not give back all that they held. */
  readonly #endedAtMs = new Map<string, number>();

  constructor(self: Owner, clock: () => number | null = () => null) {
    this.owner = self.owner;
    this.#self = self;
    this.#clock = clock;
  }

  /** Whether a transaction that places holds must renew it: it may not outlast a lease that is about to end, or has ended unnoticed. */
  isDue(endsAtMs: number | null, atMs: number): boolean {
    return endsAtMs === null || endsAtMs < atMs + leaseMs - renewalMs;
  }

  /** Returns whether the lease was there and had not run out. */
  async renew(client: ClientBase | Pool): Promise<boolean> {
    const { owner, host, pid, processStartedAtMs } = this.#self;
    const { rows } = await client.query<{ was_valid: boolean | null }>(renewText, [
      owner,
      host,
      pid,
      processStartedAtMs,
      this.#clock(),
    ]);
    return rows[0]?.was_valid ?? false;
  }

  /** Ends the leases of owners that are gone, and returns up to `max` holds that are nobody's now. */
  async findAbandoned(pool: Pool, max: number): Promise<readonly Expire[]> {
    const ended = await pool.query<{ owner: string; expires_at_ms: number }>(endExpiredText, [this.#clock()]);
    for (const row of ended.rows) this.#endedAtMs.set(row.owner, likelyEndOf(row, leaseMs));
    const { rows } = await pool.query<{ id: string; owner: string }>(abandonedText, [max]);
    return rows.map(({ id, owner }) => ({ type: 'expire', holdId: id, ownerEndedAtMs: this.#endedAtMs.get(owner) ?? null }));
  }

  async end(pool: Pool): Promise<void> {
    await pool.query('delete from hold_owners where owner = $1', [this.owner]);
  }
}
