// All migrations in order, under the same names for both databases. The list is static, so that a
// missing file fails at every start and is found before a release. A released migration is never
// edited: the next one corrects it. Migrations only run forward, and the version before must be able
// to serve beside each: docs/decisions/0013-upgrades.md has the rules.
import type { Migration } from 'kysely/migration';
import { firstSchema, firstSchemaOnPostgres } from './0035-first-schema/schema.ts';
import { deviceLogins, deviceLoginsOnPostgres } from './0036-device-logins.ts';
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

const sqlite = {
  '0035-first-schema': firstSchema,
  '0036-device-logins': deviceLogins,
  '0037-cache-truth': cacheTruth('sqlite'),
  '0038-saved-settings': savedSettings('sqlite'),
  '0039-alerts': alerts('sqlite'),
  '0040-required-factors': requiredFactors('sqlite'),
  '0041-payments-by-time': paymentsByTime,
  '0042-own-keys': ownKeys('sqlite'),
  '0043-auto-top-ups': autoTopUps('sqlite'),
  '0044-batches': batches('sqlite'),
  '0045-sent-batches': sentBatches('sqlite'),
  '0046-clients': clients,
} satisfies Migrations;

const postgres: Readonly<Record<keyof typeof sqlite, DatabaseMigration>> = {
  '0035-first-schema': firstSchemaOnPostgres,
  '0036-device-logins': deviceLoginsOnPostgres,
  '0037-cache-truth': cacheTruth('postgres'),
  '0038-saved-settings': savedSettings('postgres'),
  '0039-alerts': alerts('postgres'),
  '0040-required-factors': requiredFactors('postgres'),
  '0041-payments-by-time': paymentsByTime,
  '0042-own-keys': ownKeys('postgres'),
  '0043-auto-top-ups': autoTopUps('postgres'),
  '0044-batches': batches('postgres'),
  '0045-sent-batches': sentBatches('postgres'),
  '0046-clients': clients,
};

export const migrations: Readonly<Record<'sqlite' | 'postgres', Migrations>> = { sqlite, postgres };
