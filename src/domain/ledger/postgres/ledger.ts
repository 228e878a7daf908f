// Opens the ledger on PostgreSQL: its connections, its lease, and the sweep that releases holds of
// dead processes. Loaded only when PostgreSQL is used.
import assert from 'node:assert/strict';
import type { Pool } from 'pg';
import { poolStateOf } from '../../../db/pool-state.ts';
import { explainPostgresError } from '../../../db/postgres/error.ts';
import { connectPool } from '../../../db/postgres/pool.ts';
import { type Clock, readSharedTime, type SharedTime } from '../../../lib/clock.ts';
import { type BatchRunner, createBatcher } from '../batcher.ts';
import type { Ledger } from '../commands.ts';
import { type Owner, renewalMs } from '../lease.ts';
import { createRetryingRunner } from '../retrying-runner.ts';
import { PostgresLease, sweepMs } from './lease.ts';
import { ledgerSettings } from './statements.ts';
import { PostgresStore, sweepMax } from './store.ts';

/** One for batches, one for background retries, one for the lease. */
const connectionsMax = 3;
/**
 * The longest time of a statement, which includes its wait for another batch's locks. A longer wait
 * is a failure and is retried.
 */
const statementTimeoutMs = 5_000;

type PostgresLedgerOptions = {
  readonly url: string;
  readonly onTrouble: (error: unknown) => void;
  readonly clock: Clock;
};

type GatewayLedgerOptions = PostgresLedgerOptions & {
  readonly self: Owner;
  readonly databaseTime?: SharedTime | undefined;
};

/**
 * Opens the ledger for the gateway: places holds and renews their lease. Throws when the server
 * cannot be used.
 */
export async function openPostgresLedger(options: GatewayLedgerOptions): Promise<Ledger> {
  const { url, onTrouble, self, clock, databaseTime } = options;
  const pool = ledgerPool(url);
  const nowMs = databaseTime && (() => readSharedTime(databaseTime));
  const lease = new PostgresLease(self, nowMs);
  const store = new PostgresStore(pool, { lease, clock: nowMs });
  await openOrClose(url, pool, async () => {
    await assertUsable(pool, store);
    await lease.renew(pool);
    // The lease is new, so it was not valid before.
    lease.takeEnded();
  });
  const runner = createRetryingRunner(store, { onTrouble, clock });
  const stopLease = keepLease(store, { clock, onFailure: runner.noteFailure });
  const ledger = createBatcher(closedWith(runner, { pool, before: stopLease }));
  return { ...ledger, pool: () => poolStateOf('ledger', pool, connectionsMax) };
}

/** Opens the ledger for a command-line process: no holds, no lease. */
export async function openPostgresAdminLedger({
  url,
  onTrouble,
  clock,
}: PostgresLedgerOptions): Promise<Ledger> {
  const pool = ledgerPool(url);
  const store = new PostgresStore(pool);
  await openOrClose(url, pool, () => assertUsable(pool, store));
  return createBatcher(closedWith(createRetryingRunner(store, { onTrouble, clock }), { pool }));
}

/** Opens a pool with the settings of every ledger writer. */
export function ledgerPool(url: string): Pool {
  return connectPool(url, {
    max: connectionsMax,
    statementTimeoutMs,
    settings: ledgerSettings,
  });
}

async function openOrClose(url: string, pool: Pool, open: () => Promise<void>): Promise<void> {
  try {
    await open();
  } catch (error) {
    await pool.end();
    throw explainPostgresError(error, url);
  }
}

/**
 * Throws when the database cannot be used. Without synchronous commits, a server crash could lose
 * an acknowledged charge. An empty batch checks that every table can be read.
 */
async function assertUsable(pool: Pool, store: PostgresStore): Promise<void> {
  await store.run([]);
  const { rows } = await pool.query<{ value: string }>(
    `select current_setting('synchronous_commit') as value`,
  );
  assert.notEqual(rows[0]?.value, 'off', 'synchronous_commit is off for this connection');
}

type LeaseOptions = { readonly clock: Clock; readonly onFailure: (error: unknown) => void };

function keepLease(store: PostgresStore, { clock, onFailure }: LeaseOptions): () => void {
  let isRenewing = false;
  const renew = async () => {
    // While the server does not answer, renewals do not queue up.
    if (isRenewing) return;
    isRenewing = true;
    await store.renewLease().finally(() => (isRenewing = false));
  };
  const sweepAll = async () => {
    while ((await store.sweep()) === sweepMax);
  };
  const stopRenewing = clock.every(renewalMs, () => void renew().catch(onFailure));
  const stopSweeping = clock.every(sweepMs, () => void sweepAll().catch(onFailure));
  return () => {
    stopRenewing();
    stopSweeping();
  };
}

function closedWith(
  runner: BatchRunner,
  { pool, before = () => {} }: { pool: Pool; before?: () => void },
): BatchRunner {
  return {
    ...runner,
    close: async () => {
      before();
      await runner.close();
      await pool.end();
    },
  };
}
