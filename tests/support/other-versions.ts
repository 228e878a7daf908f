// Other versions of the program, for tests in which they share a database with this one: the
// previous one from the repository's history, and a next one, which is this one with a made-up
// migration.
//
//   const old = await startPreviousVersion(t, { config, databaseUrl });
//   const next = nextVersion({ config, databaseUrl });
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual, promisify } from 'node:util';
import { root } from './built-program.ts';
import type { Hooks } from './file-hooks.ts';
import type { InstallationOptions } from './installation.ts';
import previousVersion from './previous-version.json' with { type: 'json' };
import { Program } from './program.ts';

type Packages = Readonly<Record<'dependencies', Record<string, string>>>;

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
    ['.', 'bundle'].map(
      (place) =>
        (JSON.parse(readFileSync(join(of, place, 'package.json'), 'utf8')) as Packages)
          .dependencies,
    );
  if (isDeepStrictEqual(packages(root), packages(folder)))
    execFileSync('cp', ['-a', '--link', join(root, 'node_modules'), join(folder, 'node_modules')]);
  else
    execFileSync('npm', ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: folder,
      stdio: 'inherit',
    });
  return folder;
}

/** Runs from its sources. */
class OtherProgram extends Program {
  readonly #args: readonly string[];

  constructor(args: readonly string[], options: InstallationOptions) {
    super({ ...options, argv: [process.execPath, ...args, 'serve'] });
    this.#args = args;
  }

  override async cli<Result = Record<string, unknown>>(...args: string[]): Promise<Result> {
    const command = [...this.#args, ...args, '--json'];
    const { stdout } = await promisify(execFile)(process.execPath, command, { env: this.env });
    return JSON.parse(stdout) as Result;
  }
}

export async function startPreviousVersion(
  t: Hooks,
  options: InstallationOptions,
): Promise<OtherProgram> {
  const program = new OtherProgram([join(await checkOut(t), 'src', 'main.ts')], options);
  await program.start();
  return program;
}

/** Returns a program that is not started, so that its commands can be run before. */
export function nextVersion(options: InstallationOptions): OtherProgram {
  const hook = pathToFileURL(join(import.meta.dirname, 'next-version.ts')).href;
  // The program's own cache would lie among the sources. The run's saves half of the time to load
  // them.
  const cache = process.env['NODE_COMPILE_CACHE'];
  const caching: InstallationOptions['env'] = cache
    ? { NODE_COMPILE_CACHE: cache }
    : { NODE_DISABLE_COMPILE_CACHE: '1' };
  const env = { ...caching, ...options.env };
  return new OtherProgram(['--import', hook, join(root, 'src', 'main.ts')], { ...options, env });
}
