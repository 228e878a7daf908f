// Loads the installation's secret, from which all other keys are derived: TOLLGATE_SECRET, or a
// file in the data folder that the first start creates. After a rotation, earlier secrets stay
// accepted: further lines of the file, and TOLLGATE_SECRETS_ACCEPTED.
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describeFolderFault } from '../lib/folder-fault.ts';
import { createSecret, type Secret, type Secrets } from '../lib/secrets.ts';
import { ConfigError } from './config-error.ts';
import type { Environment } from './field-values.ts';

const secretCharactersMin = 32;
const currentName = 'TOLLGATE_SECRET';
const acceptedName = 'TOLLGATE_SECRETS_ACCEPTED';

/**
 * Reads the current and the accepted secrets, or creates one. Throws when one is too short, or when
 * the database is shared (PostgreSQL) and the environment has none: each machine would create its
 * own, and no key would work on two.
 */
export function loadSecrets(
  env: Environment,
  dataDir: string,
  { isShared }: { isShared: boolean },
): Secrets {
  const accepted = (env[acceptedName] ?? '').split(',').filter((text) => text.trim() !== '');
  // Accepts each one also untrimmed: a secret that was once set with a line end must keep working.
  const others = accepted.flatMap((text) => [
    checked(text.trim(), acceptedName),
    createSecret(text),
  ]);
  const given = env[currentName];
  if (given !== undefined && given !== '')
    return withoutRepeats([checked(given, currentName), ...others]);
  if (isShared) {
    throw fault(
      currentName,
      'must be set with a database that several machines share',
      'Give each of them the same one.',
    );
  }
  const path = join(dataDir, 'secret');
  if (!existsSync(path)) makeSecretIn(dataDir, path);
  const [current, ...previous] = readSecretFile(path).map((line) => checked(line, path));
  return withoutRepeats([current!, ...previous, ...others]);
}

function makeSecretIn(dataDir: string, path: string): void {
  try {
    makeSecret(path);
  } catch (error) {
    const problem = describeFolderFault(error, dataDir);
    if (problem === null) throw error;
    throw fault(
      'TOLLGATE_DATA_DIR',
      `names no usable folder: ${problem}`,
      'Set it to another folder, or correct this one and its permissions.',
      error,
    );
  }
}

function readSecretFile(path: string): string[] {
  try {
    return readLines(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
    throw fault(
      path,
      'cannot be read by this user',
      'Run this as the user that owns the file, or set TOLLGATE_DATA_DIR to another folder.',
      error,
    );
  }
}

/** Returns the path of the secret's file, or null when the environment sets the secret. */
export function secretFileOf(env: Environment, dataDir: string): string | null {
  return env[currentName] ? null : join(dataDir, 'secret');
}

/** Adds a new secret as the first line of the file. The earlier ones stay accepted. */
export function addSecret(path: string, text: string): void {
  replaceFile(path, [text, ...readLines(path)]);
}

/**
 * Removes only the secrets with these key ids, because a new one may have been added since they
 * were read.
 */
export function removeSecrets(path: string, ids: readonly string[]): void {
  const kept = readLines(path).filter((line) => !ids.includes(createSecret(line).id));
  replaceFile(path, kept);
}

function readLines(path: string): string[] {
  const [first, ...others] = readFileSync(path, 'utf8').trim().split('\n');
  return [first!, ...others].map((line) => line.trim());
}

function checked(text: string, source: string): Secret {
  if (text.length < secretCharactersMin) {
    throw fault(
      source,
      `must be a random text of at least ${secretCharactersMin} characters; got ${text.length}`,
      'Make one with "openssl rand -hex 32".',
    );
  }
  return createSecret(text);
}

function withoutRepeats([current, ...accepted]: Secrets): Secrets {
  const byId = new Map(accepted.map((secret) => [secret.id, secret]));
  byId.delete(current.id);
  return [current, ...byId.values()];
}

function fault(field: string, problem: string, remedy: string, cause?: unknown): ConfigError {
  return new ConfigError({ field, problem, remedy }, { cause });
}

export function newSecretText(): string {
  return randomBytes(32).toString('hex');
}

/**
 * Writes a draft and links it, so that of two concurrent starts both read the same, complete
 * secret.
 */
function makeSecret(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = writeDraft(path, [newSecretText()]);
  try {
    linkSync(draft, path);
  } catch (error) {
    if (!existsSync(path)) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * Replaces the file atomically, keeps its owner, and returns when it is on the disk. Keys digested
 * under a lost secret would stop working.
 */
function replaceFile(path: string, lines: readonly string[]): void {
  const { uid, gid } = statSync(path);
  const draft = writeDraft(path, lines);
  try {
    chownSync(draft, uid, gid);
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
  const folder = openSync(dirname(path), 'r');
  fsyncSync(folder);
  closeSync(folder);
}

function writeDraft(path: string, lines: readonly string[]): string {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  writeFileSync(draft, `${lines.join('\n')}\n`, { mode: 0o600, flush: true });
  chmodSync(draft, 0o600);
  return draft;
}
