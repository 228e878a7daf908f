// All migrations in order, under the same names for both databases. The list is static, so that a
// missing file fails at every start and is found before a release. A released migration is never
// edited: the next one corrects it. Migrations only run forward, and the version before must be able
// to serve beside each: docs/decisions/0013-upgrades.md has the rules.
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { firstSchema } from './0035-first-schema/schema.ts';
import { statementsOf, type Store } from './0035-first-schema/words.ts';
import { deviceLogins } from './0036-device-logins.ts';
import { cacheTruth } from './0037-cache-truth.ts';
import { savedSettings } from './0038-saved-settings.ts';
import { alerts } from './0039-alerts.ts';
import { requiredFactors } from './0040-required-factors.ts';
import { paymentsByTime } from './0041-payments-by-time.ts';
import { ownKeys } from './0042-own-keys.ts';
import { autoTopUps } from './0043-auto-top-ups.ts';
import { batches } from './0044-batches.ts';
import { sentBatches } from './0045-sent-batches.ts';
import { clients } from './0046-clients.ts';

export type DatabaseMigration = Migration & {
  /**
   * On PostgreSQL: runs statement by statement, for `create index concurrently` and for changes in
   * batches. It must finish what an interrupted run has begun.
   */
  readonly outsideTransaction?: boolean;
};

export type Migrations = Readonly<Record<string, DatabaseMigration>>;

/** By name: the statements for both databases in words, or for each. */
const steps: Readonly<Record<string, string | ((store: Store) => readonly string[])>> = {
  '0035-first-schema': firstSchema,
  '0036-device-logins': deviceLogins,
  '0037-cache-truth': cacheTruth,
  '0038-saved-settings': savedSettings,
  '0039-alerts': alerts,
  '0040-required-factors': requiredFactors,
  '0041-payments-by-time': paymentsByTime,
  '0042-own-keys': ownKeys,
  '0043-auto-top-ups': autoTopUps,
  '0044-batches': batches,
  '0045-sent-batches': sentBatches,
  '0046-clients': clients,
};

export const migrations: Readonly<Record<Store, Migrations>> = {
  sqlite: migrationsOn('sqlite'),
  postgres: migrationsOn('postgres'),
};

function migrationsOn(store: Store): Migrations {
  const run = (step: (typeof steps)[string]) => async (db: Kysely<unknown>) => {
    const statements = typeof step === 'string' ? statementsOf(step, store) : step(store);
    for (const statement of statements) await sql.raw(statement).execute(db);
  };
  return Object.fromEntries(Object.entries(steps).map(([name, step]) => [name, { up: run(step) }]));
}
