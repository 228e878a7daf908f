// What every command but `serve` works on: the configuration and the migrated database of this installation, also beside a running gateway.
import type { Catalog } from '../catalog/catalog.ts';
import { resolveKeyModel } from '../catalog/resolve-key-model.ts';
import type { Config } from '../config/schema.ts';
import { loadConfig } from '../config/load.ts';
import { loadSecrets } from '../config/secret.ts';
import { explainDatabaseError, isPostgresUrl, openDatabase, type Database } from '../db/database.ts';
import { requireSecrets } from '../keys/needed-secrets.ts';
import type { Secrets } from '../lib/secrets.ts';
import { CommandFailed } from './output.ts';

export type Installation = {
  readonly config: Config;
  readonly database: Database;
  readonly secrets: Secrets;
};

export async function withInstallation(action: (installation: Installation) => Promise<void>): Promise<void> {
  const config = loadConfig({ env: process.env, cwd: process.cwd() });
  const secrets = loadSecrets(process.env, config.dataDir, { isShared: isPostgresUrl(config.database.url) });
  const database = openDatabase(config.database.url, { isPatient: true });
  try {
    await database.migrate();
    await requireSecrets(database, secrets);
    await action({ config, database, secrets });
  } catch (error) {
    throw explainDatabaseError(error, config.database.url);
  } finally {
    await database.close();
  }
}

/** The catalogue's id of a model by any of its names; searches of the web have one too, though they are no model. */
export function resolveModelId(catalog: Catalog, name: string): string {
  const id = resolveKeyModel(catalog, name);
  if (id === null) throw new CommandFailed(`there is no model '${name}'; "tollgate models list" shows them`);
  return id;
}
