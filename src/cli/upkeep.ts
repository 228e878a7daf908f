// `tollgate migrate`, `tollgate verify` and `tollgate backup`
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { compareBookings } from '../domain/billing/compare-bookings.ts';
import { loadConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { loadSecrets, secretFileOf } from '../config/secret.ts';
import { isPostgresUrl, openDatabase, sqlitePathOf } from '../db/database.ts';
import { DatabaseUnusable } from '../db/database-error.ts';
import { backUpSqlite, findDamage } from '../db/sqlite/backup.ts';
import { type Verification, verify } from '../domain/ledger/reports/verify.ts';
import { snakeCase } from '../lib/snake-case.ts';
import { recordBackup } from '../management/changes/backups.ts';
import {
  changesOfCommand,
  type Installation,
  requireFile,
  withInstallation,
} from './installation.ts';
import { CommandFailed, dollars, type Output } from './output.ts';

export async function migrateCommand(): Promise<Output> {
  const config = loadConfig({ env: process.env, cwd: process.cwd() });
  const database = openDatabase(config.database.url);
  try {
    const migrations = await database.migrate();
    return [
      { migrations },
      migrations.length === 0 ? 'The database is up to date.' : `Applied: ${migrations.join(', ')}`,
    ];
  } finally {
    await database.close();
  }
}

/** Exits with 1 when the ledger's tables disagree or, with `all`, when the file is damaged. */
export async function verifyCommand(
  { database, config }: Installation,
  { all }: { readonly all: boolean },
): Promise<Output> {
  const { url } = config.database;
  const damage = all && !isPostgresUrl(url) ? findDamage(sqlitePathOf(url)) : null;
  if (damage !== null)
    throw new DatabaseUnusable(
      `The database ${sqlitePathOf(url)} is damaged: ${damage}. Restore a backup: see "Restore" in docs/operations.md.`,
    );
  const result = await verify(database.read, [compareBookings], { all });
  if (!result.ok) process.exitCode = 1;
  const text = result.ok
    ? `The books are whole: ${result.ledgers} ledgers, ${result.entries} entries, ${result.charges} charges. ` +
      `Losses: ${dollars(result.uncollectedMicros)} uncollected, ${dollars(result.failedMicros)} on failed requests.${startOf(result)}`
    : `The books disagree in ${result.problem.table} ${result.problem.id}, ${result.problem.column}: ` +
      `expected ${JSON.stringify(result.problem.expected)}, found ${JSON.stringify(result.problem.found)}.`;
  return [result.ok ? snakeCase(result) : result, text];
}

type Whole = Extract<Verification, { ok: true }>;

function startOf({ sealedDay, removedDay }: Whole): string {
  const removed =
    removedDay === undefined
      ? ''
      : ` Charges up to ${removedDay} were removed: only their files prove them.`;
  const start =
    sealedDay === undefined
      ? ''
      : ` Entries were read from the end of ${sealedDay} on, which is sealed; --all reads all.`;
  return start + removed;
}

/** Copies the database in this process, so the running gateway keeps serving. */
export async function backupCommand(
  file: string | undefined,
  { done }: { readonly done: boolean },
): Promise<Output> {
  if (done) {
    if (file !== undefined) throw new CommandFailed('--done makes no backup, so it takes no file');
    await withInstallation('backup', ({ changes }) => recordBackup(changes, null));
    return [{ recorded: true }, 'The backup is recorded.'];
  }
  if (file === undefined)
    throw new CommandFailed("name the new file, or record another tool's backup with --done");
  const config = loadConfig({ env: process.env, cwd: process.cwd() });
  if (isPostgresUrl(config.database.url)) {
    throw new CommandFailed(
      'these books are on PostgreSQL. Use its own backup tool: pg_dump --format=custom --file=<file> "$DATABASE_URL", then "tollgate backup --done". See docs/operations.md.',
    );
  }
  const target = resolve(file);
  const source = sqlitePathOf(config.database.url);
  requireFile(config.database.url);
  if (existsSync(target)) throw new CommandFailed(`${target} already exists; name a new file`);
  const bytes = await backUpSqlite(source, target);
  await noteBackup(config, { file: target, bytes });
  const secret = secretFileOf(process.env, config.dataDir) ?? 'TOLLGATE_SECRET';
  const ids = loadSecrets(process.env, config.dataDir, { isShared: false }).map(({ id }) => id);
  return [
    { file: target, bytes, secret_ids: ids },
    `${target} (${bytes} bytes). Keep ${secret} with it (key id ${ids.join(', ')}): without it, no API key in the backup works.`,
  ];
}

/**
 * Writes the backup into the audit log. A backup is often made before an upgrade, so nothing is
 * migrated. A failure is only printed: the copy is good.
 */
async function noteBackup(
  config: Config,
  details: { readonly file: string; readonly bytes: number },
): Promise<void> {
  const database = openDatabase(config.database.url);
  try {
    await recordBackup(changesOfCommand(database, 'backup'), details);
  } catch (error) {
    process.stderr.write(
      `The backup is good, but it could not be recorded: ${(error as Error).message}\n`,
    );
  } finally {
    await database.close();
  }
}
