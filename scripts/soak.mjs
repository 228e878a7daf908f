// `npm run test:soak [-- <part> …]`: runs hours-long versions of the tests of `npm run test:all`,
// one part after the other, and prints their figures.
import { spawnSync } from 'node:child_process';
import { setUp } from './setup.mjs';

const parts = {
  histories: { files: ['tests/contract/histories.test.ts'], env: { TOLLGATE_HISTORIES: '10000' } },
  races: { files: ['src/domain/ledger/races.test.ts'], env: { TOLLGATE_RACES: '20000' } },
  'kills-sqlite': { files: ['tests/integration/crash.test.ts'], env: { TOLLGATE_KILLS: '500' } },
  'kills-postgres': {
    files: ['tests/integration/crash.test.ts'],
    env: { TOLLGATE_KILLS: '100', TOLLGATE_TEST_DATABASE: 'postgres' },
  },
  'kills-replicas': {
    files: ['tests/volume/crashes/crash-replicas.test.ts'],
    env: { TOLLGATE_KILLS: '100' },
  },
  'kills-alerts': {
    files: ['tests/integration/alerts-crash.test.ts'],
    env: { TOLLGATE_KILLS: '200' },
  },
  'kills-batches': {
    files: ['tests/integration/batches-crash.test.ts'],
    env: { TOLLGATE_KILLS: '12', TOLLGATE_TEST_VOLUME: 'full' },
  },
  // The integration tests of the main paths, on PostgreSQL.
  postgres: {
    files: ['tests/integration/{money,keys,limits,hold-growth,metrics}.test.ts'],
    env: { TOLLGATE_TEST_DATABASE: 'postgres' },
  },
  faults: { files: ['tests/volume/faults/fault-soak.test.ts'], env: { FAULT_SOAK_MINUTES: '30' } },
  bodies: { files: ['tests/integration/fuzz-bodies.test.ts'], env: { FUZZ_BODIES: '1000000' } },
  images: { files: ['tests/volume/memory/image-memory.test.ts'], env: { TOLLGATE_EDITS: '200' } },
  streams: {
    files: ['tests/{fuzz,similar}-streams.test.ts'],
    env: { FUZZ_STREAMS: '1000000', SIMILAR_STREAMS: '1000000' },
  },
};

const node = setUp({ dev: true });
const requested = process.argv.slice(2);
const unknown = requested.filter((name) => !Object.hasOwn(parts, name));
if (unknown.length > 0) {
  console.error(
    `Tollgate: unknown part: ${unknown.join(', ')}. Choose from ${Object.keys(parts).join(', ')}.`,
  );
  process.exit(1);
}
const failed = (requested.length > 0 ? requested : Object.keys(parts)).filter((name) => {
  const { files, env } = parts[name];
  console.log(`\n── ${name}`);
  return (
    spawnSync(node, ['--test', ...files], { stdio: 'inherit', env: { ...process.env, ...env } })
      .status !== 0
  );
});
console.log(failed.length === 0 ? '\nAll parts passed.' : `\nFailed: ${failed.join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;
