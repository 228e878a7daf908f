// `tollgate doctor`: looks for what is wrong with an installation, and says how to mend it. It
// changes nothing, and never prints a secret.
import packageJson from '../../package.json' with { type: 'json' };
import { ConfigError } from '../config/config-error.ts';
import type { Config } from '../config/schema.ts';
import type { Catalog } from '../domain/catalog/catalog.ts';
import { loadCatalog } from '../domain/catalog/load-catalog.ts';
import { isPostgresUrl, sqlitePathOf } from '../db/database.ts';
import { systemClock } from '../lib/clock.ts';
import {
  examineConfig,
  type Finding,
  findingsOf,
  examineSwitchedOn,
} from '../management/changes/set-up-findings.ts';
import { examinePostgres, examineSqlite } from './doctor-database.ts';
import { loadSavedConfig } from './saved-config.ts';
import type { Output } from './output.ts';
import { closeSync, existsSync, openSync, rmSync, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { loadSecrets, secretFileOf } from '../config/secret.ts';
import { createUpstreams } from '../gateway/calling/upstreams.ts';
import { remedyFor } from '../gateway/models/provider-remedies.ts';
import { listModels, type ModelsListed } from '../gateway/models/test-provider.ts';

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

const disk = findingsOf('disk');

const mebibyte = 2 ** 20;
const freeBytesMin = 100 * mebibyte;
const freeBytesLow = 1_024 * mebibyte;

function examineFiles({ database, dataDir, retention }: Config): Finding[] {
  const file = isPostgresUrl(database.url) ? null : sqlitePathOf(database.url);
  const secret = secretFileOf(process.env, dataDir);
  const folders = [
    ...(file === null ? [] : [dirname(file)]),
    dataDir,
    ...(retention === null ? [] : [retention.export_folder]),
  ];
  const files = [
    ...(file === null ? [] : ['', '-wal', '-shm'].map((suffix) => file + suffix)),
    ...(secret === null ? [] : [secret]),
  ];
  const largest = file !== null && existsSync(file) ? statSync(file).size : 0;
  return [
    ...[...new Set(folders)].flatMap((folder) => examineFolder(folder, largest)),
    ...files.filter((path) => existsSync(path)).flatMap(examineMode),
    ...examineSecret(dataDir, file === null),
  ];
}

/** `fileBytes`: the size of the database, which an upgrade may copy. */
function examineFolder(folder: string, fileBytes: number): Finding[] {
  if (!existsSync(folder)) return [];
  const problem = writeProblem(folder);
  if (problem !== null)
    return [
      disk.error(
        `Nothing can be written in ${folder} (${problem}).`,
        'Mount it for writing, free space on it, and let the user of this process write there.',
      ),
    ];
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const text = `${Math.floor(free / mebibyte)} MiB are free in ${folder}`;
  const remedy = 'Free space, or move it to a larger disk.';
  if (free < freeBytesMin) return [disk.error(`${text}, and charges need room.`, remedy)];
  if (free < Math.max(freeBytesLow, fileBytes))
    return [disk.warning(`${text}: too little for a backup or an upgrade.`, remedy)];
  return [disk.ok(`${text}.`)];
}

/** Returns the code of the failure, or null. */
function writeProblem(folder: string): string | null {
  const probe = join(folder, `.tollgate-doctor-${process.pid}`);
  try {
    closeSync(openSync(probe, 'wx', 0o600));
    return null;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code ?? 'unknown';
  } finally {
    rmSync(probe, { force: true });
  }
}

function examineMode(path: string): Finding[] {
  if (process.platform === 'win32' || (statSync(path).mode & 0o077) === 0) return [];
  return [
    disk.warning(`Other users of this machine can read ${path}.`, `Run "chmod 600 ${path}".`),
  ];
}

function examineSecret(dataDir: string, isShared: boolean): Finding[] {
  // Else the first start makes it.
  if (!isShared && !process.env['TOLLGATE_SECRET'] && !existsSync(join(dataDir, 'secret')))
    return [];
  try {
    loadSecrets(process.env, dataDir, { isShared });
    return [];
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause;
    return [findingsOf('configuration').error(cause.message)];
  }
}

const ofProviders = findingsOf('providers');

const answerBytesMax = 16 * 1024 * 1024;

async function examineProviders(
  { providers }: Config,
  { online }: { readonly online: boolean },
): Promise<Finding[]> {
  const all = Object.entries(providers);
  const on = all.filter(([, { enabled }]) => enabled);
  const withoutKey = all.filter(([, { enabled, api_key: key }]) => !enabled && key === null);
  return [
    examineSwitchedOn({ providers }),
    ...withoutKey.map(([name]) =>
      ofProviders.warning(
        `The provider ${name} is in the file and has no key, so it is off.`,
        `Set its api_key, or remove providers.${name}.`,
      ),
    ),
    ...(online ? await askAll(on) : []),
  ];
}

async function askAll(on: readonly [string, Config['providers'][string]][]): Promise<Finding[]> {
  const clock = systemClock;
  const upstreams = createUpstreams({ clock, largeAnswerBytesMax: answerBytesMax });
  try {
    return await Promise.all(
      on.map(async ([name, provider]) =>
        judge(name, await listModels({ upstreams, clock }, { name, provider })),
      ),
    );
  } finally {
    await upstreams.close();
  }
}

function judge(name: string, { step, failure }: ModelsListed): Finding {
  if (step.works === null)
    return ofProviders.ok(`The provider ${name} cannot be asked free of charge.`);
  if (step.works) return ofProviders.ok(`The provider ${name} accepts its key.`);
  const { status = null, message = step.what } = failure ?? {};
  const known = remedyFor(message);
  if (status === 401 || status === 403)
    return ofProviders.error(
      `The provider ${name} refuses its key (${status}): ${message}`,
      known ?? `Set a valid key in providers.${name}.api_key or its variable.`,
    );
  if (status === null && failure)
    return ofProviders.error(
      `The provider ${name} cannot be reached (${message}).`,
      `Check providers.${name}.base_url and the network.`,
    );
  return ofProviders.warning(
    `The provider ${name} does not list its models: ${status === null ? '' : `${status}: `}${message}`,
    known ?? `Check providers.${name}.base_url.`,
  );
}
