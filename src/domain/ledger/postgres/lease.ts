// Hold ownership among any number of machines, by the database's clock. A killed process is
// detected when its lease expires, because other machines cannot check its pid; the next sweep of
// any process then releases its holds.
import type { ClientBase, Pool } from 'pg';
import type { Expire } from '../core.ts';
import { likelyEndOf, overdueMs, type Owner } from '../lease.ts';
import { nowMs } from './statements.ts';

/** A killed process's holds are released within 50 seconds. */
export const sweepMs = 10_000;
const leaseMs = 40_000;

const renewText = `
with moment as materialized (select ${nowMs('$5')} as ms), earlier as (select expires_at_ms from hold_owners where owner = $1)
insert into hold_owners (owner, host, pid, process_started_at_ms, expires_at_ms)
select $1, $2, $3, $4, ms + ${leaseMs} from moment
on conflict (owner) do update set expires_at_ms = excluded.expires_at_ms
returning (select expires_at_ms > ms from earlier, moment) as was_valid`;

const abandonedText = `
with moment as materialized (select ${nowMs('$1')} as ms)
select holds.id, hold_owners.expires_at_ms from holds left join hold_owners on hold_owners.owner = holds.owner, moment
where hold_owners.owner is null or hold_owners.expires_at_ms <= moment.ms order by holds.id limit $2`;

const endExpiredText = `
with moment as materialized (select ${nowMs('$1')} as ms)
delete from hold_owners using moment
where expires_at_ms <= ms and not exists (select from holds where holds.owner = hold_owners.owner)`;

export class PostgresLease {
  readonly owner: string;
  readonly #self: Owner;
  readonly #clock: () => number | null;
  #hadEnded = false;

  constructor(self: Owner, clock: () => number | null = () => null) {
    this.owner = self.owner;
    this.#self = self;
    this.#clock = clock;
  }

  /**
   * Returns true when a transaction that places holds must renew the lease, because the lease may
   * end before it does, or has already ended.
   */
  isDue(endsAtMs: number | null, atMs: number): boolean {
    return endsAtMs === null || endsAtMs < atMs + leaseMs - overdueMs;
  }

  async renew(client: ClientBase | Pool): Promise<void> {
    const { owner, host, pid, processStartedAtMs } = this.#self;
    const { rows } = await client.query<{ was_valid: boolean | null }>(renewText, [
      owner,
      host,
      pid,
      processStartedAtMs,
      this.#clock(),
    ]);
    this.#hadEnded ||= rows[0]?.was_valid !== true;
  }

  /**
   * Returns true when a renewal since the last call found that the lease had expired or was
   * missing.
   */
  takeEnded(): boolean {
    const hadEnded = this.#hadEnded;
    this.#hadEnded = false;
    return hadEnded;
  }

  /** Returns up to `max` holds of dead owners. */
  async findAbandoned(pool: Pool, max: number): Promise<readonly Expire[]> {
    const { rows } = await pool.query<{ id: string; expires_at_ms: number | null }>(abandonedText, [
      this.#clock(),
      max,
    ]);
    return rows.map(({ id, expires_at_ms: expiresAtMs }) => ({
      type: 'expire',
      holdId: id,
      ownerEndedAtMs: expiresAtMs === null ? null : likelyEndOf(expiresAtMs, leaseMs),
    }));
  }

  /**
   * Ends leases of dead owners without holds. Leases with holds stay, because other sweeps need
   * them to know when the owner ended.
   */
  async endExpired(pool: Pool): Promise<void> {
    await pool.query(endExpiredText, [this.#clock()]);
  }

  async end(pool: Pool): Promise<void> {
    await pool.query('delete from hold_owners where owner = $1', [this.owner]);
  }
}
