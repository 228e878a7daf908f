// `npm run test:all [-- <group> …]`: runs tests that are too long for `npm test`, one group after
// the other.
import { spawnSync } from 'node:child_process';
import { setUp } from './setup.mjs';

const node = setUp({ dev: true });
const full = { TOLLGATE_TEST_VOLUME: 'full' };
const groups = {
  faults: () =>
    test([
      'tests/integration/{fault-table,provider-bill}.test.ts',
      'tests/volume/faults/*.test.ts',
    ]),
  crashes: () =>
    test([
      'src/domain/ledger/sqlite/store.test.ts',
      'tests/integration/crash.test.ts',
      'tests/volume/crashes/*.test.ts',
    ]),
  fuzz: () =>
    test([
      'src/domain/ledger/races.test.ts',
      'src/lib/text-tokens.test.ts',
      'tests/{fuzz-streams,long-requests}.test.ts',
      'tests/contract/histories.test.ts',
      'tests/integration/{fuzz,fuzz-bodies}.test.ts',
    ]),
  memory: () => test(['tests/volume/memory/*.test.ts']),
  // Files that `npm test` runs only on SQLite, because the store is not their subject.
  postgres: () =>
    test(
      [
        'tests/browser/*.test.ts',
        'tests/integration/{cache-hits,dashboard-playground,web-search-endpoint}.test.ts',
        'tests/integration/image-{failures,forms,refusals}.test.ts',
      ],
      { TOLLGATE_TEST_DATABASE: 'postgres' },
    ),
  // Needs Debian's package. The second run has other files' databases behind PgBouncer.
  pgbouncer: () =>
    [
      test(['tests/volume/pgbouncer/*.test.ts']),
      test(
        [
          'tests/contract/{ledger-store,migrations,postgres}.test.ts',
          'tests/integration/{cache,idempotency,rate-limits}-replicas.test.ts',
          'tests/integration/{payments,postgres}.test.ts',
          'tests/volume/crashes/postgres.test.ts',
        ],
        { TOLLGATE_TEST_DATABASE: 'postgres', TOLLGATE_TEST_PGBOUNCER: '4' },
      ),
    ].every(Boolean),
  programs: () => run(process.execPath, ['tests/programs/run.mjs']),
  // Each file runs two mutations at a time.
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

/** Returns true when the command succeeded. */
function run(command, options, env = {}) {
  return (
    spawnSync(command, options, { stdio: 'inherit', env: { ...process.env, ...env } }).status === 0
  );
}

const requested = process.argv.slice(2);
const unknown = requested.filter((name) => !Object.hasOwn(groups, name));
if (unknown.length > 0) {
  console.error(
    `Tollgate: unknown test group: ${unknown.join(', ')}. Choose from ${Object.keys(groups).join(', ')}.`,
  );
  process.exit(1);
}
const failed = (requested.length > 0 ? requested : Object.keys(groups)).filter((name) => {
  console.log(`\n── ${name}`);
  return !groups[name]();
});
console.log(failed.length === 0 ? '\nAll groups passed.' : `\nFailed: ${failed.join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;
