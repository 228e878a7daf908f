// Are the guards guarded? Each is taken out in turn, in a copy of the sources, and the tests that watch over it must notice.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

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
/** How many mutations run at a time, each in a copy of its own. */
const concurrency = 2;
/** How long the tests as they are may be silent, and how long those of a mutation: where the first pass, such a silence is a hang. */
const silenceMsMax = { whole: 60_000, mutated: 10_000 };

/**
 * `watchers`: files of tests, in the order in which most mutations are noticed soonest. Behind a ` # ` stands a pattern of the names of the
 * tests that are run; the others of the file are not.
 */
export function testMutations(watchers: readonly string[], mutations: Readonly<Record<string, Mutation>>): void {
  const all = new Set([...watchers, ...Object.values(mutations).flatMap((mutation) => mutation.watchers ?? [])]);

  describe('mutations', { concurrency }, () => {
    const copies: string[] = [];
    const idle: string[] = [];
    before(() => {
      for (let count = 0; count < concurrency; count++) copies.push(copySources());
      idle.push(...copies);
    });
    after(() => {
      for (const copy of copies) rmSync(copy, { recursive: true });
    });
    const inCopy = async (use: (copy: string) => Promise<void>) => {
      const copy = idle.pop() ?? assert.fail('more tests run than there are copies');
      try {
        await use(copy);
      } finally {
        idle.push(copy);
      }
    };

    for (const watcher of all) {
      test(`without a mutation, ${watcher} passes`, () =>
        inCopy(async (copy) => assert.equal(await findFailure(copy, watcher, silenceMsMax.whole), null)));
    }

    for (const [name, mutation] of Object.entries(mutations)) {
      test(`the tests notice when ${name}`, (t) =>
        inCopy(async (copy) => {
          const path = join(copy, 'src', mutation.file);
          const whole = readFileSync(path, 'utf8');
          const { length } = whole.split(mutation.guard);
          assert.equal(length, 2, `the guard is not, or not once, in ${mutation.file}: bring this list up to date`);
          writeFileSync(
            path,
            whole.replace(mutation.guard, () => mutation.without),
          );
          try {
            const failure = await findFirstFailure(copy, mutation.watchers ?? watchers);
            assert.ok(failure, 'every test passed without the guard');
            t.diagnostic(`noticed by ${failure}`);
          } finally {
            writeFileSync(path, whole);
          }
        }));
    }
  });
}

/** What tests need that do not start the built program: it would be built anew for each mutation. */
function copySources(): string {
  const copy = mkdtempSync(join(tmpdir(), 'tollgate-mutations-'));
  for (const part of ['src', 'catalog', 'tests', 'package.json']) cpSync(join(root, part), join(copy, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  mkdirSync(join(copy, 'tmp'));
  return copy;
}

async function findFirstFailure(copy: string, watchers: readonly string[]): Promise<string | null> {
  for (const watcher of watchers) {
    const failure = await findFailure(copy, watcher, silenceMsMax.mutated);
    if (failure) return failure;
  }
  return null;
}

/** Runs a file of tests up to the first that fails, and returns which; null: all passed. Throws when none ran: such a watcher sees nothing. */
async function findFailure(copy: string, watcher: string, silenceMs: number): Promise<string | null> {
  // Inside a test, node would run no tests of its own.
  const { NODE_TEST_CONTEXT: _, TOLLGATE_TEST_VOLUME: __, ...inherited } = process.env;
  // What tests leave behind that are ended early goes with the copy.
  const env = { ...inherited, TMPDIR: join(copy, 'tmp'), NODE_COMPILE_CACHE: join(copy, 'compile-cache') };
  const [file = '', pattern] = watcher.split(' # ');
  const named = pattern === undefined ? [] : ['--test-name-pattern', pattern];
  // A process group of its own, so that what the tests start ends with them.
  const child = spawn(process.execPath, [...named, '--test-reporter=tap', file], { cwd: copy, env, detached: true });
  const end = () => process.kill(-child.pid!, 'SIGKILL');
  let output = '';
  let failed: string | null = null;
  let silence: NodeJS.Timeout | undefined;
  const fail = (what: string) => {
    failed ??= `${file}: ${what}`;
    end();
  };
  const listen = () => {
    clearTimeout(silence);
    silence = setTimeout(() => fail(`silent for ${silenceMs} ms`), silenceMs);
  };
  const read = (chunk: string) => {
    output += chunk;
    listen();
    const name = /^ *not ok \d+ - (.*)$/m.exec(output)?.[1];
    if (name !== undefined && failed === null) fail(name);
  };
  listen();
  child.stdout.setEncoding('utf8').on('data', read);
  child.stderr.setEncoding('utf8').on('data', read);
  const code = await new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve));
  clearTimeout(silence);
  if (failed !== null) return failed;
  const passed = Number(/^# pass (\d+)$/m.exec(output)?.[1] ?? 0);
  assert.ok(code === 0 && passed > 0, `no test of ${watcher} ran:\n${output}`);
  return null;
}
