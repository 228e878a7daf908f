// The ledger on PostgreSQL, opened: its own connections, its lease, and the sweep that gives back what dead processes held. Loaded only
// where PostgreSQL is used.
import assert from 'node:assert/strict';
import type { Pool } from 'pg';
import { explainPostgresError } from '../db/postgres-error.ts';
import { connectPool } from '../db/postgres-pool.ts';
import { type Clock, readSharedTime, type SharedTime } from '../lib/clock.ts';
import { type BatchRunner, createBatcher } from './batcher.ts';
import type { Ledger } from './commands.ts';
import { PostgresLease, renewalMs } from './postgres-lease.ts';
import { createRetryingRunner } from './retrying-runner.ts';
import { ledgerSettings } from './postgres-statements.ts';
import { PostgresStore, sweepMax } from './postgres-store.ts';
import type { Owner } from './sqlite-lease.ts';

/** One for batches, one for what is sent again and again in the background, one for the lease. */
const connectionsMax = 3;
/** Also how long a batch waits for the locks of another; a longer wait is a failure, and tried again. */
const statementTimeoutMs = 5_000;

export type PostgresLedgerOptions = {
  readonly url: string;
  readonly onTrouble: (error: unknown) => void;
  readonly clock: Clock;
};

type GatewayLedgerOptions = PostgresLedgerOptions & { readonly self: Owner; readonly databaseTime?: SharedTime | undefined };

/** For the gateway: places holds, and keeps their lease. Throws when the server cannot be used. */
export async function openPostgresLedger(options: GatewayLedgerOptions): Promise<Ledger> {
  const { url, onTrouble, self, clock, databaseTime } = options;
  const pool = ledgerPool(url);
  const nowMs = databaseTime && (() => readSharedTime(databaseTime));
  const lease = new PostgresLease(self, nowMs);
  const store = new PostgresStore(pool, { lease, clock: nowMs });
  await openOrClose(url, pool, async () => {
    await assertUsable(pool, store);
    await lease.renew(pool);
  });
  const runner = createRetryingRunner(store, { onTrouble, clock });
  const stopSweeping = sweepRegularly(store, { clock, onFailure: runner.noteFailure });
  return createBatcher(closedWith(runner, { pool, before: stopSweeping }));
}

/** For a command-line process: no holds, no lease. */
export async function openPostgresAdminLedger({ url, onTrouble, clock }: PostgresLedgerOptions): Promise<Ledger> {
  const pool = ledgerPool(url);
  const store = new PostgresStore(pool);
  await openOrClose(url, pool, () => assertUsable(pool, store));
  return createBatcher(closedWith(createRetryingRunner(store, { onTrouble, clock }), { pool }));
}

/** The pool as every writer of the ledger needs it. */
export function ledgerPool(url: string): Pool {
  return connectPool(url, { max: connectionsMax, statementTimeoutMs, pipeline: true, settings: ledgerSettings });
}

async function openOrClose(url: string, pool: Pool, open: () => Promise<void>): Promise<void> {
  try {
    await open();
  } catch (error) {
    await pool.end();
    throw explainPostgresError(error, url);
  }
}

/** A commit that is answered before it is on the disk is lost with the machine, and a charge with it. An empty batch asks every table. */
async function assertUsable(pool: Pool, store: PostgresStore): Promise<void> {
  await store.run([]);
  const { rows } = await pool.query<{ value: string }>(`select current_setting('synchronous_commit') as value`);
  assert.notEqual(rows[0]?.value, 'off', 'synchronous_commit is off for this connection');
}

type Sweeping = { readonly clock: Clock; readonly onFailure: (error: unknown) => void };

function sweepRegularly(store: PostgresStore, { clock, onFailure }: Sweeping): () => void {
  const sweepAll = async () => {
    while ((await store.sweep()) === sweepMax);
  };
  return clock.every(renewalMs, () => void sweepAll().catch(onFailure));
}

function closedWith(runner: BatchRunner, { pool, before = () => {} }: { pool: Pool; before?: () => void }): BatchRunner {
  return {
    ...runner,
    close: async () => {
      before();
      await runner.close();
      await pool.end();
    },
  };
}
