// The installed form of the program: bundled, in `dist/`.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..', '..');

let entry: string | null = null;

/**
 * Returns the file that Node runs. Builds it when a source has changed, so that a single test file
 * does not run an old build.
 */
export function builtProgram(): string {
  if (entry === null) {
    execFileSync(process.execPath, [join(root, 'scripts', 'setup.mjs'), '--dev'], {
      stdio: 'inherit',
    });
    entry = join(root, 'dist', 'current', 'main.js');
  }
  return entry;
}
