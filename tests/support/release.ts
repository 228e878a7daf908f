// A release of the sources as they are now, made by `scripts/release.mjs` in a repository of its
// own. Installs packages into a cache of its own, as on a machine that has never seen them.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { root } from './built-program.ts';

const leftOut = new Set(['.git', 'node_modules', 'dist', 'data', 'release']);
const changelog = 'CHANGELOG.md';

export class ReleaseRepository {
  readonly folder: string;
  readonly repository: string;
  readonly env: NodeJS.ProcessEnv;

  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'tollgate-release-test-'));
    this.repository = join(this.folder, 'repository');
    this.env = {
      PATH: process.env['PATH'],
      HOME: join(this.folder, 'home'),
      npm_config_cache: join(this.folder, 'npm-cache'),
      // The second installation need not ask the registry again.
      npm_config_prefer_offline: 'true',
      npm_config_update_notifier: 'false',
      ...kept('npm_config_registry', 'NPM_CONFIG_USERCONFIG', 'NODE_EXTRA_CA_CERTS'),
      ...person('AUTHOR'),
      ...person('COMMITTER'),
    };
    mkdirSync(join(this.folder, 'home'));
    cpSync(root, this.repository, {
      recursive: true,
      filter: (source) => !leftOut.has(relative(root, source)),
    });
    this.git('init', '--quiet');
    this.commitAll();
  }

  git(...args: string[]): string {
    return execFileSync('git', ['-C', this.repository, ...args], {
      encoding: 'utf8',
      env: this.env,
    });
  }

  commitAll(): void {
    this.git('add', '--all');
    this.git('commit', '--quiet', '--message', 'a change');
  }

  read(file: string): string {
    return readFileSync(join(this.repository, file), 'utf8');
  }

  write(file: string, text: string): void {
    writeFileSync(join(this.repository, file), text);
  }

  /** Replaces the changelog's section of what is not released yet. */
  setNews(news: string): void {
    const text = this.read(changelog);
    const start = text.indexOf('## Unreleased\n') + '## Unreleased\n'.length;
    const next = text.indexOf('\n## ', start);
    this.write(changelog, `${text.slice(0, start)}\n${news}\n${next < 0 ? '' : text.slice(next)}`);
  }

  release(...args: string[]): SpawnSyncReturns<string> {
    return this.node(this.repository, ['scripts/release.mjs', ...args]);
  }

  /**
   * Clones the tag into a folder of the given path, and builds its release into `output`. The
   * release itself is built with packages from the registry; to install them again would take a
   * minute.
   */
  buildAgain(tag: string, path: string, output: string): void {
    const clone = join(this.folder, path);
    this.git(
      '-c',
      'advice.detachedHead=false',
      'clone',
      '--quiet',
      '--branch',
      tag,
      this.repository,
      clone,
    );
    linkPackages(clone);
    const build = `umask 077 && exec node scripts/build-release.mjs "${output}"`;
    const { status, stderr } = spawnSync('sh', ['-c', build], {
      cwd: clone,
      encoding: 'utf8',
      env: { ...this.env, TZ: 'Asia/Tokyo', LC_ALL: 'C', HOME: clone },
    });
    assert.equal(status, 0, stderr);
  }

  node(cwd: string, args: readonly string[]): SpawnSyncReturns<string> {
    return spawnSync('node', args, { cwd, encoding: 'utf8', env: this.env });
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/**
 * Gives the clone this checkout's packages, which are of the same lock file but for our version.
 */
function linkPackages(clone: string): void {
  const modules = join(clone, 'node_modules');
  execFileSync('cp', ['-a', '--link', join(root, 'node_modules'), modules]);
  const lock = createHash('sha256').update(readFileSync(join(clone, 'package-lock.json')));
  const stamp = join(modules, '.tollgate-setup.json');
  // Not written in place: the checkout has the same file.
  rmSync(stamp);
  writeFileSync(stamp, JSON.stringify({ lock: lock.digest('hex'), dev: true }));
}

function kept(...names: string[]): NodeJS.ProcessEnv {
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}

function person(role: 'AUTHOR' | 'COMMITTER'): NodeJS.ProcessEnv {
  return { [`GIT_${role}_NAME`]: 'Test', [`GIT_${role}_EMAIL`]: 'test@example.com' };
}
