// Python packages for the long suites, in a virtual environment outside the repository. Installed
// once for each content of their list; test files that run side by side wait for one installation.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { withProcessLock } from './process-lock.ts';

const isThere = spawnSync('python3', ['-c', 'import venv, ensurepip']).status === 0;

/** Why tests that need Python are skipped; false: they run. In CI they run, and fail without it. */
export const skipWithoutPython: string | false =
  isThere || process.env['CI'] ? false : 'there is no Python with venv';

/**
 * Returns the folder of a virtual environment with the packages of `requirements`, a path. `more`:
 * other files on which the environment depends; `finish` installs what they ask for.
 */
export function installPython(
  requirements: string,
  { more = [], finish }: { more?: readonly string[]; finish?: (folder: string) => void } = {},
): string {
  assert.ok(isThere, 'this needs python3 with venv');
  const hash = createHash('sha256');
  for (const file of [requirements, ...more]) hash.update(readFileSync(file));
  const name = `tollgate-${basename(dirname(requirements))}-${hash.digest('hex').slice(0, 12)}`;
  const folder = join(tmpdir(), `${name}-${userInfo().uid}`);
  return withProcessLock(`${folder}.lock`, () => {
    const isComplete = join(folder, 'complete');
    if (existsSync(isComplete)) return folder;
    rmSync(folder, { recursive: true, force: true });
    run('python3', ['-m', 'venv', folder]);
    run(join(folder, 'bin', 'pip'), [
      'install',
      '--quiet',
      '--disable-pip-version-check',
      // Python compiles what is imported, which is a small part of it.
      '--no-compile',
      '--requirement',
      requirements,
    ]);
    finish?.(folder);
    writeFileSync(isComplete, '');
    return folder;
  });
}

function run(program: string, args: readonly string[]): void {
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
}
