// Removes each guard of batches at providers in turn: tests must fail.
import { testMutations } from '../../support/mutations.ts';

const queue = 'gateway/batches/sent-queue.ts';

testMutations(
  [
    'tests/integration/passed-batch-faults.test.ts',
    'tests/integration/passed-batches.test.ts',
    'tests/contract/batches.test.ts # on SQLite .*',
  ],
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
      file: 'gateway/batches/sent-lines.ts',
      guard: 'return mark === `${id}_` && ',
      without: 'return mark !== id && ',
    },
    'a passed line is charged at the live price': {
      file: 'gateway/sales/model-sale.ts',
      guard: 'asked.passed ? passedPrice(listed) : listed',
      without: 'listed',
    },
    'a passed embedding is charged at the live price': {
      file: 'gateway/tasks/task-sale.ts',
      guard: 'passed ? passedPrice(listed) : listed',
      without: 'listed',
    },
    'a failed batch of Gemini is looked at for ever': {
      file: 'gateway/batches/host-calls.ts',
      guard: `if (kind === 'unreadable' && !isBilled && isObject(reply.body) && reply.body['name'])
      return reply.body;`,
    },
    'an error with status 200 is an empty list of batches': {
      file: 'gateway/batches/host-calls.ts',
      guard: " && reply.body['name']",
    },
    'a batch of xAI ends before it has counted its lines': {
      file: 'providers/batches/xai.ts',
      guard: 'total < lines || ',
      watchers: ['tests/batch-recordings.test.ts'],
    },
    'a passed line is charged by what its alias leads to by then': {
      file: 'gateway/batches/make-batch.ts',
      guard: '{ ...body, model: ownQueue.modelId }',
      without: 'body',
    },
    'lines of an expired batch end free when its results were cut': {
      file: queue,
      guard: 'isSpoiled ||= read.isSpoiled;',
    },
    'lines of an expired batch end free when our own settlement failed': {
      file: queue,
      guard: 'isSettled &&= read.isSettled;',
    },
    'a client can take the Idempotency-Key of a passed line': {
      file: 'gateway/batches/run-line.ts',
      guard: 'line.sent_id ?? batch.id',
      without: 'batch.id',
    },
    'what a provider ran is free when its renewed hold does not fit': {
      file: 'gateway/batches/run-line.ts',
      guard: "held.type !== 'held' && line.sent_id !== null",
      without: 'held === null',
    },
    'a batch that was perhaps begun is looked for too early': {
      file: 'domain/batches/sent-batches.ts',
      guard: 'else due_at_ms end',
      without: 'else ${dueMs} end',
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
