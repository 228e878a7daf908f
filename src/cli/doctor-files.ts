// The disk: room, permissions, and whether files can be written.
import { closeSync, existsSync, openSync, rmSync, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ConfigError } from '../config/config-error.ts';
import type { Config } from '../config/schema.ts';
import { loadSecrets, secretFileOf } from '../config/secret.ts';
import { isPostgresUrl, sqlitePathOf } from '../db/database.ts';
import { type Finding, findingsOf } from '../management/changes/set-up-findings.ts';

const disk = findingsOf('disk');

const mebibyte = 2 ** 20;
const freeBytesMin = 100 * mebibyte;
const freeBytesLow = 1_024 * mebibyte;

export function examineFiles({ database, dataDir, retention }: Config): Finding[] {
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
