// The configuration and the migrated database that commands work on. A gateway may be running on
// the same installation.
import { existsSync } from 'node:fs';
import type { Catalog } from '../domain/catalog/catalog.ts';
import { AuditedChanges } from '../domain/audit/audited-changes.ts';
import { resolveKeyModels } from '../domain/catalog/resolve-key-model.ts';
import type { Config } from '../config/schema.ts';
import { ConfigError } from '../config/config-error.ts';
import { openConfig } from '../config/load.ts';
import { loadSecrets } from '../config/secret.ts';
import {
  explainDatabaseError,
  isPostgresUrl,
  openDatabase,
  sqlitePathOf,
  type Database,
} from '../db/database.ts';
import { requireSecrets } from '../domain/keys/needed-secrets.ts';
import { systemClock } from '../lib/clock.ts';
import { noLog } from '../lib/log.ts';
import type { Secrets } from '../lib/secrets.ts';
import type { LiveSettings } from '../config/live-settings.ts';
import { LiveConfig, settingsOf } from '../threads/live-config.ts';
import { CommandFailed } from './output.ts';

export type Installation = {
  readonly config: Config;
  readonly database: Database;
  readonly secrets: Secrets;
  readonly settings: LiveSettings;
  /** The command's changes. Each writes its audit row. */
  readonly changes: AuditedChanges;
};

export type Needs = {
  /** Run even when a secret that the database needs is missing. */
  readonly mayLackSecrets?: boolean;
  /** Fail in a folder without a database, instead of making one and reporting on nothing. */
  readonly needsBooks?: boolean;
};

/** `command`: the command's name, such as `keys create`. */
export async function withInstallation<Result>(
  command: string,
  action: (installation: Installation) => Promise<Result>,
  { mayLackSecrets = false, needsBooks = false }: Needs = {},
): Promise<Result> {
  const reader = openConfig({ env: process.env, cwd: process.cwd() });
  const config = reader.withSaved({});
  if (needsBooks) requireFile(config.database.url);
  const secrets = loadSecrets(process.env, config.dataDir, {
    isShared: isPostgresUrl(config.database.url),
  });
  const database = openDatabase(config.database.url, { noQueryTimeout: true });
  const changes = changesOfCommand(database, command);
  try {
    await database.migrate();
    if (!mayLackSecrets) await requireSecrets(database.read, secrets);
    const parts = { reader, database, secrets, log: noLog, clock: systemClock };
    const live = await LiveConfig.open(parts).catch((error: unknown) => {
      // A command may be what mends them.
      if (!(error instanceof ConfigError) && !mayLackSecrets) throw error;
      console.error(`tollgate: the saved settings are left out: ${(error as Error).message}`);
      return LiveConfig.withoutSaved(parts);
    });
    // A command changes nothing in running gateways; they look for themselves.
    const settings = { ...settingsOf(live), apply: async () => {} };
    return await action({ config: live.config, database, secrets, settings, changes });
  } catch (error) {
    throw explainDatabaseError(error, config.database.url);
  } finally {
    await database.close();
  }
}

/** Throws CommandFailed when the SQLite file is missing. */
export function requireFile(url: string): void {
  if (isPostgresUrl(url) || existsSync(sqlitePathOf(url))) return;
  throw new CommandFailed(
    `there is no database at ${sqlitePathOf(url)}; TOLLGATE_DATA_DIR or database.url must name the gateway's own`,
  );
}

export function changesOfCommand(database: Database, command: string): AuditedChanges {
  const actor = {
    kind: 'command',
    id: command,
    name: `tollgate ${command}`,
    address: null,
  } as const;
  return new AuditedChanges({ database, actorOf: () => actor, clock: systemClock });
}

export function resolveModelIds(catalog: Catalog, names: readonly string[]): string[] {
  const unknown = (name: string) =>
    new CommandFailed(`there is no model '${name}'; "tollgate models list" shows them`);
  return resolveKeyModels(catalog, names, unknown);
}
