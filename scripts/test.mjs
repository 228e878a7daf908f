// `npm test`: runs everything but the groups of test-all.mjs, with several test files in one process
// (tests/support/batch.ts), which saves a third of the CPU time.
import { spawn, spawnSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { filesAtFullVolume } from './full-volume.mjs';

const folder = '.test-batches';
/** Each has a process for itself: it measures memory or CPU time, or takes long, and so begins first. */
const alone = [
  'tests/browser/pages.test.ts',
  'tests/integration/{fuzz-bodies,threads,upgrades,worst-bodies}.test.ts',
  'tests/{regular-expressions,similar-streams}.test.ts',
  'src/lib/active-set.test.ts',
].flatMap((pattern) => globSync(pattern));
/** Set in CI, where `npm run test:all` follows: what it runs at full volume is left out here. */
const isFollowedByAll = process.env['TOLLGATE_TEST_ALL_FOLLOWS'] === 'true';
const leftOut = isFollowedByAll ? globSync(Object.values(filesAtFullVolume).flat()) : [];
/** The gateway's files come in smaller batches: 32 take up to 0.9 GB of memory. */
const batches = [
  ...alone.filter((file) => !leftOut.includes(file)).map((file) => [file]),
  ...inBatchesOf(32, ['tests/{contract,integration}/**/*.test.ts']),
  ...inBatchesOf(20, ['tests/{*,!(browser|contract|integration|volume)/**/*}.test.ts']),
  ...inBatchesOf(80, ['src/**/*.test.ts', 'dashboard/**/*.test.ts']),
];

function inBatchesOf(size, patterns) {
  // Programs that tests install may have tests of their own.
  const files = globSync(patterns, { exclude: (path) => path.endsWith('node_modules') })
    .filter((file) => !alone.includes(file) && !leftOut.includes(file))
    .toSorted();
  return Array.from({ length: Math.ceil(files.length / size) }, (_, index) =>
    files.slice(index * size, (index + 1) * size),
  );
}

/**
 * A folder in memory, where SQLite waits for no disk; null where there is no room. It is removed when
 * this process ends, even if it is killed.
 */
function makeMemoryFolder() {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    const bytes = Math.min(bavail * bsize, process.availableMemory());
    if (bytes < 4 * 2 ** 30) return null;
    const made = mkdtempSync('/dev/shm/tollgate-tests-');
    const remove = ['-c', 'cat > /dev/null; rm -rf "$1"', 'sh', made];
    const guard = spawn('/bin/sh', remove, { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    guard.unref();
    guard.stdin.unref();
    return made;
  } catch {
    return null;
  }
}

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder);
const paths = batches.map((files, index) => {
  const path = join(folder, `${String(index).padStart(3, '0')}.test.mjs`);
  writeFileSync(
    path,
    `import { runBatch } from '../tests/support/batch.ts';\nawait runBatch(${JSON.stringify(files)});\n`,
  );
  return path;
});
const options = [
  '--test',
  '--test-timeout=600000',
  `--test-concurrency=${availableParallelism() + 1}`,
  '--test-global-setup=tests/support/test-run.ts',
  '--import=./tests/support/untracked-promises.mjs',
  ...process.argv.slice(2),
];
const data = makeMemoryFolder();
const { status, error } = spawnSync(process.execPath, [...options, ...paths], {
  stdio: 'inherit',
  env: { ...process.env, ...(data && { TOLLGATE_TEST_DATA: data }) },
});
if (error) throw error;
process.exitCode = status ?? 1;
