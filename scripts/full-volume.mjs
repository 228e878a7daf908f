/**
 * Test files that `npm test` runs with few random cases and `npm run test:all` with many, by group.
 * What a small volume finds, the full one finds too.
 */
export const filesAtFullVolume = {
  crashes: [
    'src/domain/ledger/sqlite/store.test.ts',
    'tests/integration/{alerts-crash,batches-crash,crash}.test.ts',
  ],
  faults: ['tests/integration/{fault-table,passed-batch-faults,provider-bill}.test.ts'],
  fuzz: [
    'src/domain/ledger/races.test.ts',
    'src/lib/text-tokens.test.ts',
    'tests/{fuzz-streams,similar-streams,long-requests}.test.ts',
    'tests/contract/histories.test.ts',
    'tests/integration/{fuzz,fuzz-bodies}.test.ts',
  ],
};
