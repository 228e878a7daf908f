// Are the guards guarded? Each is taken out in turn, in a copy of the sources, and the tests that watch over it must notice.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

export type Mutation = {
  /** Below `src/`. */
  readonly file: string;
  /** As it stands there, once. */
  readonly guard: string;
  readonly without: string;
  /** Other tests than the list's. */
  readonly watchers?: readonly string[];
};

const root = join(import.meta.dirname, '..', '..');

/**
 * `watchers`: files of tests, in the order in which most mutations are noticed soonest. Behind a ` # ` stands a pattern of their names,
 * where the others of a slow file would say nothing.
 */
export function testMutations(watchers: readonly string[], mutations: Readonly<Record<string, Mutation>>): void {
  let copy = '';
  before(() => {
    copy = copySources();
  });
  after(() => rmSync(copy, { recursive: true }));

  test('the copy passes its tests as it is', async () => {
    const all = new Set([...watchers, ...Object.values(mutations).flatMap((mutation) => mutation.watchers ?? [])]);
    for (const watcher of all) assert.equal(await passes(copy, watcher), true, watcher);
  });

  for (const [name, mutation] of Object.entries(mutations)) {
    test(`the tests notice when ${name}`, async () => {
      const path = join(copy, 'src', mutation.file);
      const whole = readFileSync(path, 'utf8');
      const { length } = whole.split(mutation.guard);
      assert.equal(length, 2, `the guard is not, or not once, in ${mutation.file}: bring this list up to date`);
      writeFileSync(
        path,
        whole.replace(mutation.guard, () => mutation.without),
      );
      try {
        assert.ok(await isNoticed(copy, mutation.watchers ?? watchers), 'every test passed without the guard');
      } finally {
        writeFileSync(path, whole);
      }
    });
  }
}

/** With what a build needs, for tests of the whole program. */
function copySources(): string {
  const copy = mkdtempSync(join(tmpdir(), 'tollgate-mutations-'));
  const parts = ['src', 'catalog', 'scripts', 'tests/answers', 'tests/contract', 'tests/integration', 'tests/support'];
  for (const part of [...parts, 'package.json', 'package-lock.json'])
    cpSync(join(root, part), join(copy, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

async function isNoticed(copy: string, watchers: readonly string[]): Promise<boolean> {
  for (const watcher of watchers) if (!(await passes(copy, watcher))) return true;
  return false;
}

/** A test that hangs has noticed as well. */
function passes(copy: string, watcher: string): Promise<boolean> {
  // Inside a test, node would run no tests of its own.
  const { NODE_TEST_CONTEXT: _, TOLLGATE_TEST_VOLUME: __, ...env } = process.env;
  const [file = '', pattern] = watcher.split(' # ');
  const named = pattern === undefined ? [] : ['--test-name-pattern', pattern];
  return new Promise((resolve) => {
    execFile(process.execPath, ['--test', ...named, file], { cwd: copy, env, timeout: 120_000 }, (error) => resolve(!error));
  });
}
