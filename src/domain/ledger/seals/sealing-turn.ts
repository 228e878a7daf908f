// The row `sealing`: which gateway seals now, and its view of the clock. A turn ends by itself, so a
// killed gateway is replaced within half an hour.
import { sql } from 'kysely';
import { isSqlite } from '../../../db/dialect.ts';
import type { Db } from '../../../db/schema.ts';
import { systemClock } from '../../../lib/clock.ts';
import { lookAtClock } from './trusted-clock.ts';
import { camelCase, snakeCase } from '../../../lib/snake-case.ts';

const turnMs = 30 * 60_000;

/**
 * The time by which days are closed: the database's clock on PostgreSQL, where gateways could
 * disagree; on SQLite that of the only writer's machine.
 */
export async function readDatabaseClock(db: Db): Promise<number> {
  if (isSqlite(db)) return systemClock.nowMs();
  const { rows } = await sql<{ ms: number }>`
    select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as ms`.execute(db);
  return rows[0]!.ms;
}

/** Takes or prolongs the turn. Returns false while another gateway has it. */
export async function takeTurn(write: Db, owner: string, nowMs: number): Promise<boolean> {
  const result = await write
    .updateTable('sealing')
    .set({ owner, claimed_until_ms: nowMs + turnMs })
    .where((eb) =>
      eb.or([
        eb('owner', 'is', null),
        eb('owner', '=', owner),
        eb('claimed_until_ms', '<=', nowMs),
        // The clock has gone back.
        eb('claimed_until_ms', '>', nowMs + turnMs),
      ]),
    )
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

export async function endTurn(write: Db, owner: string): Promise<void> {
  await write.updateTable('sealing').set({ owner: null }).where('owner', '=', owner).execute();
}

/** Notes a look at the clock. Returns true when days may be closed by it. */
export async function trustsClock(write: Db, nowMs: number): Promise<boolean> {
  const columns = ['trusted_ms', 'doubted_since_ms', 'doubted_at_ms'] as const;
  const row = await write.selectFrom('sealing').select(columns).executeTakeFirstOrThrow();
  const looks = lookAtClock(camelCase(row), nowMs);
  await write.updateTable('sealing').set(snakeCase(looks)).execute();
  return looks.trustedMs === nowMs;
}

/**
 * Closes the days before this. Resolves when every transaction has ended that may still date an
 * entry into them, or whose entries are not visible yet.
 */
export async function closeDays(write: Db, untilMs: number): Promise<void> {
  await write
    .updateTable('sealing')
    .set({ closed_until_ms: untilMs })
    .where('closed_until_ms', '<', untilMs)
    .execute();
  // SQLite has one writer.
  if (!isSqlite(write)) await waitForWriters(write);
}

const writerPauseMs = 50;
const writersAttemptsMax = 1_200;

/** Batches and sign-ups read the end of the closed days after they locked a row of `ledgers`. */
async function waitForWriters(write: Db): Promise<void> {
  let before = await readWriters(write);
  for (let attempt = 1; before.size > 0; attempt++) {
    if (attempt === writersAttemptsMax)
      throw new Error('a transaction that has locked rows of `ledgers` does not end');
    await systemClock.sleep(writerPauseMs);
    before = before.intersection(await readWriters(write));
  }
}

/** Returns the transactions that have locked rows of `ledgers`. */
async function readWriters(write: Db): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    select virtualtransaction as id from pg_locks
    where locktype = 'relation' and relation = 'ledgers'::regclass
      and database = (select oid from pg_database where datname = current_database())
      and mode in ('RowShareLock', 'RowExclusiveLock')`.execute(write);
  return new Set(rows.map(({ id }) => id));
}

/** Returns the end of the closed days, in Unix milliseconds; it stays so until the transaction ends. */
export async function holdClosedUntil(transaction: Db): Promise<number> {
  const query = transaction.selectFrom('sealing').select('closed_until_ms');
  // Sign-ups do not wait for each other. SQLite has one writer.
  const held = isSqlite(transaction) ? query : query.forShare();
  return (await held.executeTakeFirstOrThrow()).closed_until_ms;
}
