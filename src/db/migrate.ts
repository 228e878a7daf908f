// Runs the pending migrations. They run in one transaction, all of them or none, except for a
// migration that must run outside one: those before and after it have a transaction each.
// docs/decisions/0013-upgrades.md says which versions may use a database together.
import type { Kysely } from 'kysely';
import { Migrator } from 'kysely/migration';
import { systemClock } from '../lib/clock.ts';
import { DatabaseUnusable, MigrationFailed } from './database-error.ts';
import type { DatabaseMigration, Migrations } from './migrations/list.ts';
import type { Db } from './schema.ts';

/** Runs a migration outside a transaction, in one process at a time. */
type WhileAlone = (work: () => Promise<void>) => Promise<void>;

const lockNotAvailable = '55P03';
const pauseMs = 250;
const lockAttemptsMax = 2_000;

/**
 * Returns the names of the migrations that ran, in order. Throws when one fails, with nothing
 * changed since the last that is recorded, and when the database is too new for this version.
 */
export async function migrateToLatest(
  db: Db,
  migrations: Migrations,
  whileAlone: WhileAlone = (work) => work(),
): Promise<readonly string[]> {
  const ran: string[] = [];
  for (let lockAttempts = 0; ;) {
    const recorded = await recordedMigrations(db);
    const pending = nextOf(pendingMigrations(recorded, migrations));
    if (pending.length === 0) return ran;
    const result = await runPending(db, { recorded, pending }, whileAlone);
    ran.push(...result.ran);
    if (result.failure === null) continue;
    const { name, cause } = result.failure;
    if ((cause as { code?: unknown }).code === lockNotAvailable) {
      lockAttempts += 1;
      if (lockAttempts < lockAttemptsMax) await systemClock.sleep(pauseMs);
      else throw failed(name, cause);
      // Another process may have migrated in between.
    } else if (name !== null || (await recordedMigrations(db)).length === recorded.length)
      throw failed(name, cause);
  }
}

/** Begins the name that stands among the migrations of a database while another is copied into it. */
export const movePrefix = '9999-move-of-';

/** Returns the names in the order in which they ran; none for a new database. */
export async function recordedMigrations(db: Db): Promise<readonly string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some(({ name }) => name === 'kysely_migration')) return [];
  const rows = await (
    db as unknown as Kysely<{ kysely_migration: { name: string; timestamp: string } }>
  )
    .selectFrom('kysely_migration')
    .select('name')
    .orderBy('timestamp')
    .orderBy('name')
    .execute();
  return rows.map(({ name }) => name);
}

/**
 * Returns what this version would run on a database that has recorded these. Throws when the
 * database is too old, and when another version made changes that this one does not know, unless it
 * is newer and its changes let this version go on.
 */
export function pendingMigrations(recorded: readonly string[], migrations: Migrations): Migrations {
  const applied = new Set(withFirstSchema(recorded));
  refuseUnknown(
    [...applied].filter((name) => !Object.hasOwn(migrations, name)),
    migrations,
  );
  return Object.fromEntries(Object.entries(migrations).filter(([name]) => !applied.has(name)));
}

const firstSchema = '0046-first-schema';
const lastStep = '0046-clients';
/** The last commit that knows the steps. */
const lastCommit = 'aa4b15c9';

/**
 * Returns the recorded migrations with the first schema in the place of the steps that it was made in,
 * before any release. Throws for a database that has not run the last of them.
 */
function withFirstSchema(recorded: readonly string[]): readonly string[] {
  const steps = recorded.filter((name) => name < firstSchema);
  if (steps.length === 0 || recorded.includes(firstSchema)) return recorded;
  if (!steps.includes(lastStep))
    throw new DatabaseUnusable(
      `The database is too old for this version of Tollgate: it lacks the migration ${lastStep}. It was made before the first release; begin with a new one, or start it once with the commit ${lastCommit} (docs/upgrading.md).`,
    );
  return [firstSchema, ...recorded.filter((name) => name >= firstSchema)];
}

function refuseUnknown(unknown: readonly string[], migrations: Migrations): void {
  const newest = Object.keys(migrations).at(-1) ?? '';
  const tooNew = unknown.find((name) => name <= newest || oldestNeeded(name) > newest.slice(0, 4));
  if (tooNew === undefined) return;
  if (tooNew.startsWith(movePrefix))
    throw new DatabaseUnusable(
      'Another database is being moved into this one. Run "tollgate move" again to finish it (docs/moving.md).',
    );
  throw new DatabaseUnusable(
    `The database is newer than this version of Tollgate: it has the migration ${tooNew}, and this version knows those up to ${newest}. Start the version that made it, or a newer one, or restore a backup from before the upgrade (docs/upgrading.md).`,
  );
}

/** The number of the migration that a version must know to use a database with this one. */
function oldestNeeded(name: string): string {
  return /-needs-(\d{4})$/.exec(name)?.[1] ?? '';
}

/** Returns what can run together: one migration outside a transaction, or those before the first. */
function nextOf(pending: Migrations): readonly (readonly [string, DatabaseMigration])[] {
  const all = Object.entries(pending);
  const outside = all.findIndex(([, migration]) => migration.outsideTransaction);
  return outside === -1 ? all : all.slice(0, Math.max(outside, 1));
}

type Run = {
  readonly recorded: readonly string[];
  readonly pending: readonly (readonly [string, DatabaseMigration])[];
};
type Result = {
  readonly ran: readonly string[];
  /** `name`: null when the migrator failed before a migration. */
  readonly failure: { readonly name: string | null; readonly cause: unknown } | null;
};

async function runPending(
  db: Db,
  { recorded, pending }: Run,
  whileAlone: WhileAlone,
): Promise<Result> {
  // The migrator refuses a database with migrations that it is not given.
  const done = recorded.map((name) => [name, { up: async () => {} }] as const);
  const provider = { getMigrations: async () => Object.fromEntries([...done, ...pending]) };
  const disableTransactions = pending[0]![1].outsideTransaction ?? false;
  const migrator = new Migrator({
    db,
    provider,
    disableTransactions,
    // The steps before the first schema ran in another order.
    allowUnorderedMigrations: true,
    // By default they are compared by language, for which Node reads 3 MB of data.
    nameComparator: (one, other) => (one < other ? -1 : Number(one > other)),
  });
  let result: Result = { ran: [], failure: null };
  const work = async () => {
    const { error, results = [] } = await migrator.migrateToLatest();
    const namesOf = (status: string) =>
      results.filter((each) => each.status === status).map(({ migrationName }) => migrationName);
    const failure = error ? { name: namesOf('Error')[0] ?? null, cause: error } : null;
    result = { ran: failure && !disableTransactions ? [] : namesOf('Success'), failure };
  };
  await (disableTransactions ? whileAlone(work) : work());
  return result;
}

function failed(name: string | null, cause: unknown): MigrationFailed {
  const what = name === null ? 'The migration could not begin' : `The migration ${name} failed`;
  const why = cause instanceof Error ? cause.message : String(cause);
  return new MigrationFailed(
    `${what}, and the database was left as it was before: ${why}. The version that was in use can still be started.`,
    { cause },
  );
}
