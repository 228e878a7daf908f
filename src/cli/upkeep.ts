// `tollgate migrate` and `tollgate verify`
import { compareBookings } from '../billing/compare-bookings.ts';
import { loadConfig } from '../config/load.ts';
import { openDatabase } from '../db/database.ts';
import { type Verification, verify } from '../ledger/verify.ts';
import { withInstallation } from './installation.ts';
import { dollars, printResult, type JsonOption } from './output.ts';

export async function migrateCommand(options: JsonOption): Promise<void> {
  const config = loadConfig({ env: process.env, cwd: process.cwd() });
  const database = openDatabase(config.database.url);
  try {
    const migrations = await database.migrate();
    printResult(
      options,
      { migrations },
      migrations.length === 0 ? 'The database is up to date.' : `Done: ${migrations.join(', ')}`,
    );
  } finally {
    await database.close();
  }
}

/** Exits with 1 when a row disagrees. */
export async function verifyCommand(options: JsonOption): Promise<void> {
  await withInstallation(async ({ database }) => {
    const result = await verify(database.read, [compareBookings]);
    if (!result.ok) process.exitCode = 1;
    const text = result.ok
      ? `The books are whole: ${result.ledgers} ledgers, ${result.entries} entries, ${result.charges} charges. ` +
        `Lost: ${dollars(result.uncollectedMicros)} for want of room, ${dollars(result.failedMicros)} on failed requests.`
      : `The books disagree in ${result.problem.table} ${result.problem.id}, ${result.problem.column}: ` +
        `expected ${JSON.stringify(result.problem.expected)}, found ${JSON.stringify(result.problem.found)}.`;
    printResult(options, result.ok ? toJson(result) : result, text);
  });
}

function toJson({ uncollectedMicros, failedMicros, ...counts }: Extract<Verification, { ok: true }>): object {
  return { ...counts, uncollected_micros: uncollectedMicros, failed_micros: failedMicros };
}
