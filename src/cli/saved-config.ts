// The configuration with what is saved in the database, for commands that only look and so neither
// migrate a database nor need one.
import { existsSync } from 'node:fs';
import { openConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { loadSecrets, secretFileOf } from '../config/secret.ts';
import { isPostgresUrl, openDatabase, sqlitePathOf } from '../db/database.ts';
import { readSettings } from '../domain/settings/settings-versions.ts';

/**
 * Returns the file's configuration alone when the saved settings cannot be read. Throws ConfigError
 * for a mistake in the file, or when the two do not fit.
 */
export async function loadSavedConfig(): Promise<Config> {
  const reader = openConfig({ env: process.env, cwd: process.cwd() });
  const config = reader.withSaved({});
  return reader.withSaved(await readSaved(config));
}

async function readSaved({ database: { url }, dataDir }: Config) {
  const isShared = isPostgresUrl(url);
  const file = secretFileOf(process.env, dataDir);
  if (!isShared && !existsSync(sqlitePathOf(url))) return {};
  if (file !== null && !existsSync(file)) return {};
  const database = openDatabase(url);
  try {
    const secrets = loadSecrets(process.env, dataDir, { isShared });
    return (await readSettings(database.read, secrets))!.settings;
  } catch {
    // The commands that need the database say what is wrong with it.
    return {};
  } finally {
    await database.close();
  }
}
