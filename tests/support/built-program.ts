// The program as it is installed: bundled, in `dist/`.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..', '..');

let entry: string | null = null;

/** The file that Node runs; built when a source has changed, so that a test file run by itself does not try an older build. */
export function builtProgram(): string {
  if (entry === null) {
    execFileSync(process.execPath, [join(root, 'scripts', 'setup.mjs'), '--dev'], { stdio: 'inherit' });
    entry = join(root, 'dist', 'current', 'main.js');
  }
  return entry;
}
