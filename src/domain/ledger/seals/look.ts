// One look, every hour: seals the days that are over, and removes those that are old enough. Any
// number of gateways may look; one at a time works. It can be killed anywhere: the next look goes on.
import type { Database } from '../../../db/database.ts';
import { isSqlite } from '../../../db/dialect.ts';
import { systemClock } from '../../../lib/clock.ts';
import { type Problem, newAudit } from '../reports/audit.ts';
import { createPartitions } from './partitions.ts';
import { type Removal, type Retention, removeOldDays } from './remove-days.ts';
import { sealNextDay } from './seal-day.ts';
import { readNewestSeal, findBrokenChain, findWrongState, readSeals } from './seals.ts';
import { endTurn, readDatabaseClock, takeTurn, trustsClock } from './sealing-turn.ts';
import { auditSealed } from '../reports/verify.ts';
import { digestText } from './digests.ts';
import { writeState } from './state.ts';

/** An event of a look, for the log and the metrics. */
export type LookEvent =
  | {
      readonly kind: 'sealed';
      readonly day: string;
      readonly untilMs: number;
      readonly entries: number;
      readonly charges: number;
      /** Noted elsewhere, it proves later that no seal was replaced. */
      readonly digest: string;
    }
  /** The seal of this day had lost its state, or it was changed. */
  | { readonly kind: 'state-restored'; readonly day: string }
  | { readonly kind: 'not-sealed'; readonly day: string; readonly problem: Problem }
  /** The clock is far ahead of the last look; it must go on for many hours before it is believed. */
  | { readonly kind: 'clock-doubted'; readonly clock: string }
  /** The partitions of coming days could not be made. */
  | { readonly kind: 'no-partitions'; readonly message: string }
  | Removal
  /** At the end; `skipped`: another gateway looks now. `sealedUntilMs` is null before the first seal. */
  | { readonly kind: 'done' | 'skipped'; readonly sealedUntilMs: number | null };

export type LookOptions = {
  readonly database: Database;
  /** The name of this look; other looks have others. */
  readonly owner: string;
  /** null: charges are kept for ever. */
  readonly retention: Retention | null;
  readonly tell: (event: LookEvent) => void;
  /** For tests; otherwise the database's clock is used. */
  readonly nowMs?: () => number;
  /** For tests; otherwise a tenth of a second. */
  readonly pause?: () => Promise<void>;
};

/** Longer than SQLite's longest wait between two tries for the lock, so that the ledger gets it. */
const pauseMs = 120;

/** A day is closed so long after its end, when every transaction that began in it has ended. */
const closedAfterMs = 2 * 3_600_000;

export async function look(options: LookOptions): Promise<void> {
  const { database, owner, tell } = options;
  const clock = async () => options.nowMs?.() ?? (await readDatabaseClock(database.write));
  const tellEnd = async (kind: 'done' | 'skipped') => {
    const newest = await readNewestSeal(database.read);
    tell({ kind, sealedUntilMs: newest?.until_ms ?? null });
  };
  if (!(await takeTurn(database.write, owner, await clock()))) return tellEnd('skipped');
  try {
    const nowMs = await clock();
    if (await trustsClock(database.write, nowMs)) {
      if (!isSqlite(database.read)) await preparePartitions(options, nowMs);
      await sealDays(options, { closedMs: nowMs - closedAfterMs, clock });
    } else tell({ kind: 'clock-doubted', clock: new Date(nowMs).toISOString() });
    if (options.retention) {
      const keepTurn = async () => takeTurn(database.write, owner, await clock());
      const pause = options.pause ?? (() => systemClock.sleep(pauseMs));
      const { retention } = options;
      await removeOldDays(database, { retention, tell, keepTurn, clock, pause });
    }
    await tellEnd('done');
  } finally {
    await endTurn(database.write, owner);
  }
}

/** A failure must not stop sealing: the default partition takes the charges. */
async function preparePartitions({ database, tell }: LookOptions, nowMs: number): Promise<void> {
  try {
    await createPartitions(database.write, nowMs);
  } catch (error) {
    tell({ kind: 'no-partitions', message: (error as Error).message });
  }
}

type Closing = { readonly closedMs: number; readonly clock: () => Promise<number> };

async function sealDays(
  { database, owner, tell }: LookOptions,
  { closedMs, clock }: Closing,
): Promise<void> {
  const restoredDay = await restoreState(database);
  if (restoredDay !== null) tell({ kind: 'state-restored', day: restoredDay });
  for (;;) {
    const result = await sealNextDay(database, { closedMs, nowMs: await clock() });
    if (result.kind === 'refused')
      tell({ kind: 'not-sealed', day: result.day, problem: result.problem });
    if (result.kind !== 'sealed') return;
    const { day, until_ms: untilMs, entries, charges, digest } = result.seal;
    tell({ kind: 'sealed', day, untilMs, entries, charges, digest });
    if (!(await takeTurn(database.write, owner, await clock()))) return;
  }
}

/**
 * Restores the state of the newest seal after it was lost or changed: it follows from the sealed days,
 * and its digest, which is part of the chain, proves that it is the same. Returns the day of the seal,
 * or null when nothing was lost or it cannot be restored.
 */
async function restoreState({
  read,
  write,
}: Pick<Database, 'read' | 'write'>): Promise<string | null> {
  const seals = await readSeals(read);
  const [before, newest] = [seals.at(-2), seals.at(-1)];
  if (!newest || !findWrongState(newest) || findBrokenChain(seals)) return null;
  const ledgers = await read.selectFrom('ledgers').select('id').execute();
  const audit = newAudit(ledgers.map(({ id }) => id));
  if (await auditSealed(read, audit, seals)) return null;
  const state = writeState(audit, before?.until_ms ?? 0);
  if (digestText(state) !== newest.state_digest) return null;
  await write.updateTable('sealed_days').set({ state }).where('day', '=', newest.day).execute();
  return newest.day;
}
