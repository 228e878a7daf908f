// `npm run bench -- --growth`: whole books of a month with many charges (`--charges 3000000`): what a
// charge takes on disk, the reads of the dashboard, sealing, verify from the seal, and the removal of
// a day. Runs on SQLite and PostgreSQL (TOLLGATE_BENCH_POSTGRES, or that of the tests).
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { type Database, openDatabase } from '../src/db/database.ts';
import { isSqlite } from '../src/db/dialect.ts';
import { sumDays } from '../src/domain/ledger/reports/daily-sums.ts';
import { listCharges, readBalance } from '../src/domain/ledger/reports/queries.ts';
import { verify } from '../src/domain/ledger/reports/verify.ts';
import { exportDay } from '../src/domain/ledger/seals/export-file.ts';
import { readCovered } from '../src/domain/ledger/seals/journal.ts';
import {
  countPartitions,
  createPartitions,
  dropPartitions,
} from '../src/domain/ledger/seals/partitions.ts';
import { removeOldDays } from '../src/domain/ledger/seals/remove-days.ts';
import { sealNextDay } from '../src/domain/ledger/seals/seal-day.ts';
import { positionOf, readSeals } from '../src/domain/ledger/seals/seals.ts';
import { createDatabase } from '../tests/support/postgres.ts';
import {
  dayMs,
  type History,
  insertAccounts,
  insertDay,
  ledgerIdOf,
  readBytes,
  sumLedgers,
} from './growth-history.ts';
import { median } from './statistics.ts';
import { formatTable } from './table.ts';

/** The last one is not sealed. */
const days = 32;
const accounts = 100;
const repeats = 100;
/** `verify --all` takes minutes for millions. */
const wholeToo = process.env['TOLLGATE_BENCH_WHOLE'] !== undefined;

/** `only`: one store. */
export async function benchGrowth(charges: number, only?: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));
  const stores = {
    SQLite: `sqlite:${join(folder, 'ledger.db')}`,
    PostgreSQL: process.env['TOLLGATE_BENCH_POSTGRES'] ?? (await createDatabase()),
  };
  try {
    const columns: string[][] = [];
    for (const [name, url] of Object.entries(stores).filter(([one]) => !only || one === only))
      columns.push([name, ...(await benchStore(url, charges, join(folder, name)))]);
    const [titles, ...rows] = columns[0]!.map((_, row) => columns.map((column) => column[row]!));
    return formatTable(
      ['', ...titles!],
      rows.map((row, index) => [measured[index]!, ...row]),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const measured = [
  'charges',
  'bytes for each',
  'balance',
  'newest page',
  'overview of all accounts, 30 days',
  'seal a day, median',
  'verify from the seal, a whole day behind it',
  'verify --all',
  'export a day, and read it back',
  'remove an exported day, and read its file again',
  'drop the partition of a day',
];

async function benchStore(url: string, charges: number, folder: string): Promise<string[]> {
  const database = openDatabase(url, { noQueryTimeout: true });
  await database.migrate();
  const history: History = {
    // Behind the first partition, which ends with today.
    firstMs: (Math.floor(Date.now() / dayMs) + 2) * dayMs,
    days,
    chargesPerDay: Math.ceil(charges / days),
    accounts,
  };
  await insertAccounts(database.write, history);
  const bytesBefore = await readBytes(database.write);
  for (let day = 0; day < days; day++) {
    if (!isSqlite(database.read))
      await createPartitions(database.write, history.firstMs + day * dayMs);
    await insertDay(database.write, history, day);
  }
  await sumLedgers(database.write);
  // As autovacuum does in time.
  if (!isSqlite(database.read))
    await sql`analyze charges, entries, charge_days`.execute(database.write);
  const count = days * history.chargesPerDay;
  const bytes = ((await readBytes(database.write)) - bytesBefore) / count;
  const times = [
    ...(await readTimes(database, history)),
    ...(await sealTimes(database, history)),
    ...(await removalTimes(database, folder)),
  ];
  await database.close();
  return [count.toLocaleString('en'), bytes.toFixed(0), ...times];
}

async function readTimes({ read }: Database, { firstMs }: History): Promise<string[]> {
  const ledgerId = ledgerIdOf(7);
  const dayOf = (day: number) => new Date(firstMs + day * dayMs).toISOString().slice(0, 10);
  const reads = [
    () => readBalance(read, ledgerId),
    () => listCharges(read, { ledgerId, limit: 100, cursor: null }),
    () =>
      sumDays(read, {
        ids: [''],
        of: { mode: 'live' },
        fromDay: dayOf(days - 30),
        toDay: dayOf(days - 1),
        by: 'account',
      }),
  ];
  const texts: string[] = [];
  for (const one of reads) {
    const timesMs: number[] = [];
    for (let repeat = 0; repeat < repeats; repeat++) timesMs.push(await timeMs(one));
    texts.push(`${median(timesMs).toFixed(1)} ms`);
  }
  return texts;
}

async function sealTimes(database: Database, { firstMs }: History): Promise<string[]> {
  const closedMs = firstMs + (days - 1) * dayMs;
  const timesMs: number[] = [];
  for (let day = 1; day < days; day++)
    timesMs.push(await timeMs(() => sealNextDay(database, { closedMs, nowMs: closedMs })));
  const check = async (all: boolean) => {
    const result = await verify(database.read, [], { all });
    if (!result.ok) throw new Error(JSON.stringify(result.problem));
  };
  return [
    seconds(median(timesMs)),
    seconds(await timeMs(() => check(false))),
    wholeToo ? seconds(await timeMs(() => check(true))) : '–',
  ];
}

async function removalTimes(database: Database, exportFolder: string): Promise<string[]> {
  mkdirSync(exportFolder);
  const seals = await readSeals(database.read);
  const [first, second] = [seals[0]!, seals[1]!];
  const span = { before: positionOf(null), seal: positionOf(first) };
  const exportMs = await timeMs(() =>
    exportDay(exportFolder, first, () => readCovered(database.read, span)),
  );
  const options = {
    retention: { chargesDays: seals.length - 1, exportFolder },
    tell: (event: { readonly kind: string }) => {
      if (event.kind !== 'removed') throw new Error(JSON.stringify(event));
    },
    keepTurn: async () => true,
    clock: async () => second.until_ms,
    // The rows alone are measured; a gateway also waits a tenth of a second every 500.
    pause: async () => {},
  };
  const removalMs = await timeMs(() => removeOldDays(database, options));
  const dropMs = isSqlite(database.read)
    ? null
    : await timeMs(async () =>
        dropPartitions(database.write, await countPartitions(database.read, second.until_ms)),
      );
  return [seconds(exportMs), seconds(removalMs), dropMs === null ? '–' : seconds(dropMs)];
}

async function timeMs(action: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await action();
  return performance.now() - startMs;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`;
}
