// `tollgate doctor`: looks for what is wrong with an installation, and says how to mend it. It
// changes nothing, and never prints a secret.
import packageJson from '../../package.json' with { type: 'json' };
import { ConfigError } from '../config/config-error.ts';
import { loadConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { isPostgresUrl, sqlitePathOf } from '../db/database.ts';
import { readBuiltInCatalog } from '../domain/catalog/load-catalog.ts';
import { systemClock } from '../lib/clock.ts';
import { examinePostgres, examineSqlite } from './doctor-database.ts';
import { examineFiles } from './doctor-files.ts';
import { examineProviders } from './doctor-providers.ts';
import type { Finding } from './doctor-finding.ts';
import { printResult, type JsonOption } from './output.ts';

/** Exits with 1 when something is wrong; warnings do not count. */
export async function doctorCommand({
  online = false,
  ...options
}: JsonOption & { readonly online?: boolean }): Promise<void> {
  const findings = await examine(online);
  const ok = findings.every(({ level }) => level !== 'error');
  if (!ok) process.exitCode = 1;
  printResult(options, { ok, findings }, findings.map(lineOf).join('\n'));
}

async function examine(online: boolean): Promise<Finding[]> {
  const config = readConfig();
  if (!('dataDir' in config)) return [versions, config];
  const { url } = config.database;
  return [
    versions,
    ...examineConfig(config),
    ...(await (isPostgresUrl(url) ? examinePostgres(url) : examineSqlite(sqlitePathOf(url)))),
    ...examineFiles(config),
    ...(await examineProviders(config, { online })),
  ];
}

function lineOf({ area, level, what, remedy }: Finding): string {
  return `${level.padEnd(7)}  ${area}: ${what}${remedy === null ? '' : ` ${remedy}`}`;
}

const versions: Finding = {
  area: 'versions',
  level: 'ok',
  what: `Tollgate ${packageJson.version} on Node.js ${process.version}, ${process.platform}-${process.arch}.`,
  remedy: null,
};

function readConfig(): Config | Finding {
  try {
    return loadConfig({ env: process.env, cwd: process.cwd() });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { area: 'configuration', level: 'error', what: error.message, remedy: null };
  }
}

const dayMs = 86_400_000;
const pricesOldDays = 30;

function examineConfig(config: Config): Finding[] {
  const warn = (what: string, remedy: string | null): Finding => ({
    area: 'configuration',
    level: 'warning',
    what,
    remedy,
  });
  const pricesOf = readBuiltInCatalog().as_of;
  const priceDays = Math.floor((systemClock.nowMs() - Date.parse(pricesOf)) / dayMs);
  const { server, metrics, signup, smtp, stripe, test_mode: testMode } = config;
  return [
    ...config.warnings.map((warning) => warn(warning, null)),
    ...(server.public_url === null && (stripe !== null || smtp !== null)
      ? [
          warn(
            'Links in mails and payments need the address of this gateway, and it is not set.',
            'Set server.public_url.',
          ),
        ]
      : []),
    ...(metrics.token === undefined
      ? [
          warn(
            'There is no metrics token, so nothing can watch this gateway.',
            'Set metrics.token.',
          ),
        ]
      : []),
    ...(signup.open && smtp === null
      ? [
          warn(
            'Anybody can sign up, and no address is confirmed, because there is no mail server.',
            'Set smtp, or signup.open to false.',
          ),
        ]
      : []),
    ...(signup.open && !testMode.enabled && stripe === null
      ? [warn('New accounts can neither test nor pay.', 'Set stripe, or test_mode.enabled.')]
      : []),
    ...(priceDays > pricesOldDays
      ? [
          warn(
            `The built-in prices are ${priceDays} days old (${pricesOf}).`,
            'Upgrade Tollgate, or compare them with "tollgate models update".',
          ),
        ]
      : []),
  ];
}
