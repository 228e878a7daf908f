// Removes each guard of batches at providers in turn: tests must fail.
import { testMutations } from '../../support/mutations.ts';

const queue = 'gateway/batches/sent-queue.ts';

testMutations(
  ['tests/integration/passed-batches.test.ts', 'tests/contract/batches.test.ts # on SQLite .*'],
  {
    'a batch that was perhaps begun is sent again without a look': {
      file: queue,
      guard: 'if (isBegun && mayHaveRun) return {};',
    },
    'lines without a result end at the first reading': {
      file: queue,
      guard: 'sent.tries < readsMax - 1 && !isLost(job)',
      without: 'sent.tries < 0',
    },
    'lines of another batch are taken for ours': {
      file: queue,
      guard: 'return mark === `${id}_` && ',
      without: 'return mark !== id && ',
    },
    'a passed line is charged at the live price': {
      file: 'gateway/sales/model-sale.ts',
      guard: '(asked.passed && batchPrice(listed)) ?? listed',
      without: 'listed',
    },
    "an account's loss budget makes what a provider ran free": {
      file: 'gateway/charging/open-hold.ts',
      guard: 'const endRisk = hasRun\n    ? () => {}\n    : await',
      without: 'const endRisk = await',
    },
    'our own queue takes lines that are at a provider': {
      file: 'domain/batches/batch-store.ts',
      guard: 'owner: sentId && batchOwner,',
      without: 'owner: null,',
    },
  },
);
