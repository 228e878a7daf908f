// `npm run test:all [-- <group> …]`: the tests that prove more by volume than `npm test` has time for, one group after the other.
import { spawnSync } from 'node:child_process';
import { setUp } from './setup.mjs';

const node = setUp({ dev: true });
const full = { TOLLGATE_TEST_VOLUME: 'full' };
const groups = {
  faults: () => test(['tests/integration/{fault-table,provider-bill}.test.ts', 'tests/volume/faults/*.test.ts']),
  crashes: () => test(['src/ledger/sqlite-store.test.ts', 'tests/integration/crash.test.ts', 'tests/volume/crashes/*.test.ts']),
  fuzz: () =>
    test([
      'src/ledger/races.test.ts',
      'src/lib/text-tokens.test.ts',
      'tests/{fuzz-streams,long-requests}.test.ts',
      'tests/contract/histories.test.ts',
      'tests/integration/{fuzz,fuzz-bodies}.test.ts',
    ]),
  memory: () => test(['tests/volume/memory/*.test.ts']),
  browser: () => test(['tests/browser/*.test.ts'], { TOLLGATE_TEST_DATABASE: 'postgres' }),
  programs: () => run(process.execPath, ['tests/programs/run.mjs']),
  // A file runs two mutations at a time.
  mutations: () => test(['tests/volume/mutations/*.test.ts'], {}, 1),
};

function test(files, env = {}, concurrency = 2) {
  const options = [
    '--test-timeout=3600000',
    `--test-concurrency=${concurrency}`,
    '--test-global-setup=tests/support/test-run.ts',
  ];
  return run(node, ['--test', ...options, ...files], { ...full, ...env });
}

/** Returns whether it passed. */
function run(command, options, env = {}) {
  return spawnSync(command, options, { stdio: 'inherit', env: { ...process.env, ...env } }).status === 0;
}

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !Object.hasOwn(groups, name));
if (unknown.length > 0) {
  console.error(`Tollgate: no such group of tests: ${unknown.join(', ')}. There are ${Object.keys(groups).join(', ')}.`);
  process.exit(1);
}
const failed = (asked.length > 0 ? asked : Object.keys(groups)).filter((name) => {
  console.log(`\n── ${name}`);
  return !groups[name]();
});
console.log(failed.length === 0 ? '\nAll groups passed.' : `\nFailed: ${failed.join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;
