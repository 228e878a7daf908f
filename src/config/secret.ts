// The installation's secret, from which every other key is made: TOLLGATE_SECRET, or a file in the data folder made at the first start.
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from './config-error.ts';

const secretCharactersMin = 32;

/**
 * Reads the secret, or makes it. Throws when it is too short to be one, or when the database is shared (PostgreSQL) and the
 * environment gives none: each machine would then make its own, and no key would work on two.
 */
export function loadSecret(
  env: Readonly<Record<string, string | undefined>>,
  dataDir: string,
  { isShared }: { isShared: boolean },
): Buffer {
  const given = env.TOLLGATE_SECRET;
  if (given !== undefined && given !== '') return checked(given, 'TOLLGATE_SECRET');
  if (isShared) {
    throw fault('TOLLGATE_SECRET', 'must be set with a database that several machines share', 'Give each of them the same one.');
  }
  const path = join(dataDir, 'secret');
  if (!existsSync(path)) makeSecret(path);
  return checked(readFileSync(path, 'utf8').trim(), path);
}

function checked(text: string, source: string): Buffer {
  if (text.length < secretCharactersMin) {
    throw fault(
      source,
      `must be a random text of at least ${secretCharactersMin} characters; got ${text.length}`,
      'Make one with "openssl rand -hex 32".',
    );
  }
  return Buffer.from(text, 'utf8');
}

function fault(field: string, problem: string, remedy: string): ConfigError {
  return new ConfigError({ place: null, field, problem, remedy });
}

/** Written aside and linked, so that of two starts at once both read the same secret, and none reads half of one. */
function makeSecret(path: string): void {
  mkdirSync(join(path, '..'), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  writeFileSync(draft, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flush: true });
  chmodSync(draft, 0o600);
  try {
    linkSync(draft, path);
  } catch (error) {
    if (!existsSync(path)) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}
