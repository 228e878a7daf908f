// `tollgate doctor`: looks for what is wrong with an installation, and says how to mend it. It
// changes nothing, and never prints a secret.
import packageJson from '../../package.json' with { type: 'json' };
import { ConfigError } from '../config/config-error.ts';
import type { Config } from '../config/schema.ts';
import type { Catalog } from '../domain/catalog/catalog.ts';
import { loadCatalog } from '../domain/catalog/load-catalog.ts';
import { isPostgresUrl, sqlitePathOf } from '../db/database.ts';
import { systemClock } from '../lib/clock.ts';
import { examineConfig, type Finding, findingsOf } from '../management/changes/set-up-findings.ts';
import { examinePostgres, examineSqlite } from './doctor-database.ts';
import { examineFiles } from './doctor-files.ts';
import { examineProviders } from './doctor-providers.ts';
import { loadSavedConfig } from './saved-config.ts';
import type { Output } from './output.ts';

/** Exits with 1 when something is wrong; warnings do not count. */
export async function doctorCommand({ online }: { readonly online: boolean }): Promise<Output> {
  const findings = await examine(online);
  const ok = findings.every(({ level }) => level !== 'error');
  if (!ok) process.exitCode = 1;
  return [{ ok, findings }, findings.map(lineOf).join('\n')];
}

async function examine(online: boolean): Promise<Finding[]> {
  const read = await readConfig();
  if (!('config' in read)) return [versions, read];
  const { config, catalog } = read;
  const { url } = config.database;
  return [
    versions,
    ...examineConfig(config, catalog, systemClock.nowMs()),
    ...(await (isPostgresUrl(url) ? examinePostgres(url) : examineSqlite(sqlitePathOf(url)))),
    ...examineFiles(config),
    ...(await examineProviders(config, { online })),
  ];
}

function lineOf({ area, level, what, remedy }: Finding): string {
  return `${level.padEnd(7)}  ${area}: ${what}${remedy === null ? '' : ` ${remedy}`}`;
}

const versions = findingsOf('versions').ok(
  `Tollgate ${packageJson.version} on Node.js ${process.version}, ${process.platform}-${process.arch}.`,
);

async function readConfig(): Promise<{ config: Config; catalog: Catalog } | Finding> {
  try {
    const config = await loadSavedConfig();
    return { config, catalog: loadCatalog(config) };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return findingsOf('configuration').error(error.message);
  }
}
