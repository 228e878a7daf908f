// The previous version of the program, from the repository's history, for tests in which it shares
// a database with this one.
//
//   const old = await startPreviousVersion(t, { config, databaseUrl });
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual, promisify } from 'node:util';
import previousVersion from '../databases/previous-version.json' with { type: 'json' };
import { root } from './built-program.ts';
import type { Hooks } from './file-hooks.ts';
import type { InstallationOptions } from './installation.ts';
import { Program } from './program.ts';

type Packages = Readonly<Record<'dependencies' | 'devDependencies', Record<string, string>>>;

/** A reason to skip, or null. In CI, a history without the version is a failure. */
export function noPreviousVersion(): string | null {
  try {
    execFileSync('git', ['cat-file', '-e', `${previousVersion.commit}^{commit}`], {
      cwd: root,
      stdio: 'ignore',
    });
    return null;
  } catch {
    const reason = `this clone lacks the commit ${previousVersion.commit} of the previous version`;
    if (process.env['CI']) assert.fail(reason);
    return reason;
  }
}

/** Returns the folder of the previous version, ready to run from its sources. */
async function checkOut(t: Hooks): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-previous-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const command = 'git -C "$1" archive "$2" | tar -x -C "$3"';
  execFileSync('sh', ['-c', command, 'sh', root, previousVersion.commit, folder]);
  const packages = (of: string) =>
    JSON.parse(readFileSync(join(of, 'package.json'), 'utf8')) as Packages;
  const [ours, theirs] = [packages(root), packages(folder)];
  const installed = { ...ours.devDependencies, ...ours.dependencies };
  const isHere = Object.entries(theirs.dependencies).every(([name, version]) =>
    isDeepStrictEqual(installed[name], version),
  );
  if (isHere)
    execFileSync('cp', ['-a', '--link', join(root, 'node_modules'), join(folder, 'node_modules')]);
  else
    execFileSync('npm', ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: folder,
      stdio: 'inherit',
    });
  return folder;
}

export class PreviousProgram extends Program {
  readonly #entry: string;

  constructor(folder: string, options: InstallationOptions) {
    const entry = join(folder, 'src', 'main.ts');
    super({ ...options, argv: [process.execPath, entry, 'serve'] });
    this.#entry = entry;
  }

  override async cli<Result = Record<string, unknown>>(...args: string[]): Promise<Result> {
    const command = [this.#entry, ...args, '--json'];
    const { stdout } = await promisify(execFile)(process.execPath, command, { env: this.env });
    return JSON.parse(stdout) as Result;
  }
}

export async function startPreviousVersion(
  t: Hooks,
  options: InstallationOptions,
): Promise<PreviousProgram> {
  const program = new PreviousProgram(await checkOut(t), options);
  await program.start();
  return program;
}
