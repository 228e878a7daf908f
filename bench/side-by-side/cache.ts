// Where peers are installed: outside the repository, one folder per peer and version, kept between
// runs.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pinTo } from '../child.ts';

const cacheDir = process.env['TOLLGATE_BENCH_CACHE'] ?? join(homedir(), '.cache', 'tollgate-bench');
const installTimeoutMs = 15 * 60_000;

export function cacheFolder(name: string): string {
  return join(cacheDir, name);
}

/** Calls `install` with an empty folder, unless an earlier run completed it. */
export function installOnce(name: string, install: (folder: string) => void): void {
  const folder = cacheFolder(name);
  const mark = join(folder, 'complete');
  if (existsSync(mark)) return;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  console.error(`installing ${name} into ${folder}`);
  install(folder);
  writeFileSync(mark, '');
}

/** Runs a command on all cores. Throws with the end of its output. Returns its output. */
export function runCommand(command: readonly string[], folder?: string): string {
  const words = [...pinTo('any'), ...command];
  try {
    return execFileSync(words[0]!, words.slice(1), {
      ...(folder !== undefined && { cwd: folder }),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: installTimeoutMs,
      maxBuffer: 64 * 2 ** 20,
    });
  } catch (error) {
    const { stderr = '', stdout = '' } = error as { stderr?: string; stdout?: string };
    const output = (stderr || stdout || String(error)).trim();
    throw new Error(`\`${command.join(' ')}\` failed: ${output.slice(-400)}`, { cause: error });
  }
}
