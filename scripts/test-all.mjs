// `npm run test:all [-- <group> …]`: runs tests that are too long for `npm test`, three groups at a
// time, because most of them wait half of their time. Prints each group's output when it has ended.
import { spawn } from 'node:child_process';
import { filesAtFullVolume } from './full-volume.mjs';
import { setUp } from './setup.mjs';

const node = setUp({ dev: true });
const full = { TOLLGATE_TEST_VOLUME: 'full' };
/** Among all groups, a random part of the mutations, the worst bodies and the reference's paths runs. */
const partEnv = process.argv.length > 2 ? {} : { TOLLGATE_TEST_PART: 'true' };
/**
 * Each group's commands, the longest first and the shortest last, so that the last one does not run
 * alone. `image`, `programs`, `guides` and `agents` mostly install or wait, so each has others beside it.
 */
const groups = {
  crashes: [test([...filesAtFullVolume.crashes, 'tests/volume/crashes/*.test.ts'])],
  // Builds and runs the container image. Needs Debian's packages, Python and root.
  image: [test(['tests/volume/image/*.test.ts'])],
  // `npm test` runs `pages`.
  browser: [test(['tests/browser/!(pages).test.ts'])],
  faults: [test([...filesAtFullVolume.faults, 'tests/volume/faults/*.test.ts'])],
  programs: [{ command: process.execPath, options: ['tests/programs/run.mjs'], env: {} }],
  // Two mutations run at a time.
  mutations: [test(['tests/volume/mutations.test.ts'], partEnv)],
  // `worst-bodies` leaves out the bodies that `npm test` has sent.
  fuzz: [test([...filesAtFullVolume.fuzz, 'tests/integration/worst-bodies.test.ts'], partEnv)],
  // `guides`, `agents`, `reference` and `chart` need Python, and install its packages; `guides` and
  // `chart` also Go.
  guides: [test(['tests/volume/guides/*.test.ts'])],
  agents: [test(['tests/volume/agents/*.test.ts'])],
  // Needs Debian's package. The second run has other files' databases behind PgBouncer.
  pgbouncer: [
    test(['tests/volume/pgbouncer/*.test.ts']),
    test(
      [
        'tests/contract/{ledger-store,migrations,postgres}.test.ts',
        'tests/integration/{cache,idempotency,rate-limits}-replicas.test.ts',
        'tests/integration/{admin-idempotency,payments,postgres}.test.ts',
        'tests/volume/crashes/postgres.test.ts',
      ],
      { TOLLGATE_TEST_DATABASE: 'postgres', TOLLGATE_TEST_PGBOUNCER: '4' },
    ),
  ],
  reference: [test(['tests/volume/reference/*.test.ts'], partEnv)],
  // Builds a part of the OpenTelemetry collector with Go.
  telemetry: [test(['tests/volume/telemetry/*.test.ts'])],
  // Files that `npm test` runs only on SQLite, because the store is not their subject. Others of these
  // and pages in the browser send what `dashboard-access`, `admin-scopes`, `audited-changes` and
  // `report-rows` send on both.
  postgres: [
    test(
      [
        'tests/integration/{cache-hits,dashboard-playground,web-search-endpoint}.test.ts',
        'tests/integration/dashboard-{oidc,passkeys,second-factor}.test.ts',
        'tests/integration/image-{failures,forms,refusals}.test.ts',
      ],
      { TOLLGATE_TEST_DATABASE: 'postgres' },
    ),
  ],
  package: [test(['tests/volume/package/*.test.ts'])],
  // The previous version beside this one, and this one beside a next one.
  upgrades: [test(['tests/volume/upgrades/*.test.ts'])],
  memory: [test(['tests/volume/memory/*.test.ts'])],
  // Needs Debian's package.
  prometheus: [test(['tests/volume/prometheus/*.test.ts'])],
  chart: [test(['tests/volume/chart/*.test.ts'])],
};
const atOnce = 3;

function test(files, env = {}) {
  const options = [
    '--test',
    '--test-timeout=3600000',
    '--test-concurrency=2',
    '--test-global-setup=tests/support/test-run.ts',
    '--import=./tests/support/untracked-promises.mjs',
  ];
  return { command: node, options: [...options, ...files], env: { ...full, ...env } };
}

/** Returns true when all commands of the group succeeded. */
async function runGroup(name) {
  const startMs = performance.now();
  let output = '';
  let succeeded = true;
  for (const { command, options, env } of groups[name]) {
    const child = spawn(command, options, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (output += text));
    const code = await new Promise((resolve, reject) =>
      child.once('error', reject).once('close', resolve),
    );
    if (code !== 0) succeeded = false;
  }
  const seconds = Math.round((performance.now() - startMs) / 1_000);
  console.log(`\n── ${name}: ${succeeded ? 'passed' : 'failed'} in ${seconds} s\n${output}`);
  return succeeded;
}

const requested = process.argv.slice(2);
const unknown = requested.filter((name) => !Object.hasOwn(groups, name));
if (unknown.length > 0) {
  console.error(
    `Tollgate: unknown test group: ${unknown.join(', ')}. Choose from ${Object.keys(groups).join(', ')}.`,
  );
  process.exit(1);
}
const waiting = requested.length > 0 ? requested : Object.keys(groups);
const failed = [];
async function runNext() {
  for (let name = waiting.shift(); name; name = waiting.shift())
    if (!(await runGroup(name))) failed.push(name);
}
await Promise.all(Array.from({ length: atOnce }, runNext));
console.log(failed.length === 0 ? '\nAll groups passed.' : `\nFailed: ${failed.join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;
