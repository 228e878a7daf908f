// Mutation tests: each guard is removed in turn in a copy of the sources, and its tests must fail.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Random } from './random.ts';
import { isPart } from './volume.ts';

type Mutation = {
  readonly name: string;
  /** Relative to `src/`. */
  readonly file: string;
  /** The exact source text, which occurs once. */
  readonly guard: string;
  /** The text that replaces it. */
  readonly without: string;
  readonly watchers: readonly string[];
};

const root = join(import.meta.dirname, '..', '..');
/** Mutations that run in parallel, each in its own copy. */
const concurrency = 2;
/** `npm run test:all` runs a random sixth, the group alone all. Guards are always looked for. */
const share = isPart ? 1 / 6 : 1;
/** So many files share a process without a mutation, because to load the sources takes longest. */
const filesAtOnce = 8;
/**
 * The longest silence of the tests without and with a mutation. Where the tests pass without one,
 * such a silence is a hang.
 */
const silenceMsMax = { whole: 60_000, mutated: 10_000 };

/** A copy has a compile cache of its own, which takes long to fill. */
const copies: string[] = [];
const idle: string[] = [];
before(() => {
  for (let count = 0; count < concurrency; count++) copies.push(copySources());
  idle.push(...copies);
});
after(() => {
  for (const copy of copies) rmSync(copy, { recursive: true });
});

/**
 * Tests the mutations of the files of a folder. A name stands at the margin; below it, indented, are the
 * file, its source text (`-`, which occurs once) and what stands in its place (`+`; default: nothing):
 *
 *   a charge is rounded down
 *     in lib/money.ts, seen by src/lib/money.test.ts # rounds up
 *     - roundUp(sum)
 *     + roundDown(sum)
 *
 * `seen by` and `or by` name test files, those that notice most mutations soonest first. After ` # `
 * comes a pattern of test names; only matching tests of the file run. At the margin, they hold for all
 * names below that have none. A line that begins with `#` is a comment.
 */
export function testMutations(folder: string): void {
  const added = readdirSync(folder).flatMap((file) =>
    readMutations(readFileSync(join(folder, file), 'utf8')),
  );
  const random = new Random('mutations');
  const chosen = added.filter(() => random.next() < share);
  const all = new Set(chosen.flatMap(({ watchers }) => watchers));
  const watchedByFile = Map.groupBy([...all].map(watchedBy), ({ file }) => file);

  void describe('mutations', { concurrency }, () => {
    const inCopy = async (use: (copy: string) => Promise<void>) => {
      const copy = idle.pop() ?? assert.fail('more tests run than there are copies');
      try {
        await use(copy);
      } finally {
        idle.push(copy);
      }
    };

    const watched = Array.from(watchedByFile, ([file, ofFile]) => ({
      file,
      // No pattern: the whole file.
      patterns: ofFile.every(({ patterns }) => patterns.length > 0)
        ? ofFile.flatMap(({ patterns }) => patterns)
        : [],
    }));
    for (let start = 0; start < watched.length; start += filesAtOnce) {
      const some = watched.slice(start, start + filesAtOnce);
      const names = some.map(({ file, patterns }) => [file, ...patterns].join(' # '));
      test(`without a mutation, these pass: ${names.join(', ')}`, () =>
        inCopy(async (copy) =>
          assert.equal(await findFailure(copy, batchOf(copy, some), silenceMsMax.whole), null),
        ));
    }

    test('each guard is in its file once', () => {
      for (const { name, file, guard } of added) {
        const whole = readFileSync(join(root, 'src', file), 'utf8');
        assert.equal(whole.split(guard).length, 2, `${name}: bring this list up to date`);
      }
    });

    for (const mutation of chosen) {
      test(`the tests notice when ${mutation.name}`, (t) =>
        inCopy(async (copy) => {
          const path = join(copy, 'src', mutation.file);
          const whole = readFileSync(path, 'utf8');
          writeFileSync(
            path,
            whole.replace(mutation.guard, () => mutation.without),
          );
          try {
            const failure = await findFirstFailure(copy, mutation.watchers);
            assert.ok(failure, 'every test passed without the guard');
            t.diagnostic(`noticed by ${failure}`);
          } finally {
            writeFileSync(path, whole);
          }
        }));
    }
  });
}

function readMutations(text: string): Mutation[] {
  const mutations: Mutation[] = [];
  let watchers: string[] = [];
  // A name comes before its lines, so a block ends where the next line at the margin begins.
  for (const block of text
    .replace(/^#.*\n/gm, '')
    .trim()
    .split(/\n+(?=\S)/)) {
    const [name = '', ...lines] = block.trimEnd().split('\n');
    const seen = [...block.matchAll(/(?:^|[ ,])(?:seen|or) by (\S+\.test\.ts.*)$/gm)].map(
      ([, watcher]) => watcher!,
    );
    if (name.startsWith('seen by ')) watchers = seen;
    else if (name.startsWith('or by ')) watchers.push(...seen);
    else {
      const file = /^  in (\S+\.ts)(?:,|$)/m.exec(block)?.[1];
      assert.ok(file, `no file: ${block}`);
      const marked = (mark: string) =>
        lines.flatMap((line) => (line.startsWith(`  ${mark}`) ? [line.slice(4)] : [])).join('\n');
      const own = seen.length > 0 ? seen : watchers;
      mutations.push({ name, file, guard: marked('-'), without: marked('+'), watchers: own });
    }
  }
  return mutations;
}

/**
 * Copies what tests need that do not start the built program, which would be rebuilt for each
 * mutation.
 */
function copySources(): string {
  const copy = mkdtempSync(join(tmpdir(), 'tollgate-mutations-'));
  for (const part of ['src', 'catalog', 'tests', 'package.json'])
    cpSync(join(root, part), join(copy, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  mkdirSync(join(copy, 'tmp'));
  return copy;
}

/** The tests of a file that run: those that match any of the patterns, or all without one. */
type Watched = { readonly file: string; readonly patterns: readonly string[] };

function watchedBy(watcher: string): Watched {
  const [file = '', ...patterns] = watcher.split(' # ');
  return { file, patterns };
}

/** A file in the copy that runs the watched tests of several files. */
function batchOf(copy: string, watched: readonly Watched[]): Watched {
  const files = watched.map(({ file }) => file);
  const batch = `import { runBatch } from './tests/support/batch.ts';\nawait runBatch(${JSON.stringify(files)});\n`;
  writeFileSync(join(copy, 'batch.test.mjs'), batch);
  // There, a test's whole name begins with its file's.
  const patterns = watched.flatMap(({ file, patterns: own }) =>
    (own.length > 0 ? own : ['']).map((pattern) => `^${RegExp.escape(file)} .*(?:${pattern})`),
  );
  return { file: 'batch.test.mjs', patterns };
}

async function findFirstFailure(copy: string, watchers: readonly string[]): Promise<string | null> {
  for (const watcher of watchers) {
    const failure = await findFailure(copy, watchedBy(watcher), silenceMsMax.mutated);
    if (failure) return failure;
  }
  return null;
}

/**
 * Runs a test file up to its first failure. Returns that failure; null: all passed. Throws when no
 * test ran, because such a watcher sees nothing.
 */
async function findFailure(
  copy: string,
  { file, patterns }: Watched,
  silenceMs: number,
): Promise<string | null> {
  // Inside a test, node would not run tests of its own. In CI, tests fail without the recordings,
  // which the copy lacks.
  const { NODE_TEST_CONTEXT: _, TOLLGATE_TEST_VOLUME: __, CI: ___, ...inherited } = process.env;
  // Files that aborted tests leave behind are removed with the copy.
  const env = {
    ...inherited,
    TMPDIR: join(copy, 'tmp'),
    // The same sources give the same result, also where random histories notice a mutation.
    TOLLGATE_TEST_SEED: '1',
    NODE_COMPILE_CACHE: join(copy, 'compile-cache'),
  };
  const named = patterns.flatMap((pattern) => ['--test-name-pattern', pattern]);
  // A separate process group, so that processes started by the tests end with them.
  const runner = ['--import=./tests/support/untracked-promises.mjs', '--test-reporter=tap'];
  const child = spawn(process.execPath, [...named, ...runner, file], {
    cwd: copy,
    env,
    detached: true,
  });
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
    // An error that no test caught fails the file.
    const name = /^(?: *not ok \d+ - |# (?=Error: ))(.*)$/m.exec(output)?.[1];
    if (name !== undefined && failed === null) fail(name);
  };
  listen();
  child.stdout.setEncoding('utf8').on('data', read);
  child.stderr.setEncoding('utf8').on('data', read);
  const code = await new Promise<number | null>((resolve, reject) =>
    child.once('error', reject).once('close', resolve),
  );
  clearTimeout(silence);
  if (failed !== null) return failed;
  const passed = Number(/^# pass (\d+)$/m.exec(output)?.[1] ?? 0);
  assert.ok(code === 0 && passed > 0, `no test of ${file} ran:\n${output}`);
  return null;
}
