import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { createBatcher, type BatchRunner, LedgerUnavailable } from './batcher.ts';
import type { Command, Reply } from './commands.ts';
import { creditOf } from '../../../tests/support/ledger/test-ledger.ts';

/** A credit of this amount is rejected. */
const unlucky = 1_313;

test('commands that arrive while a batch runs form the next batch, in order', async () => {
  const runner = manualRunner();
  const ledger = createBatcher(runner);
  const first = [ledger.submit(credit(1)), ledger.submit(credit(2))];
  await settled();
  const second = [ledger.submit(credit(3)), ledger.submit(credit(4)), ledger.submit(credit(5))];
  await settled();
  assert.deepEqual(runner.sizes, [2]);
  runner.finish();
  await Promise.all(first);
  await settled();
  assert.deepEqual(runner.sizes, [2, 3]);
  runner.finish();
  assert.deepEqual(await Promise.all(second), [3, 4, 5].map(replyTo));
});

test('every caller gets the reply to its own command, for any interleaving of callers and batches', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 40 }),
      async (scheduler, pauses) => {
        const runner: BatchRunner = {
          run: (commands) =>
            scheduler.schedule(
              Promise.resolve(commands.map((command) => replyTo(amountOf(command)))),
            ),
          isFailing: () => false,
          close: async () => {},
        };
        const ledger = createBatcher(runner);
        const callers = pauses.map(async (pause, index) => {
          for (let turn = 0; turn < pause; turn++) await scheduler.schedule(Promise.resolve());
          assert.deepEqual(await ledger.submit(credit(index)), replyTo(index));
        });
        await scheduler.waitFor(Promise.all(callers));
      },
    ),
  );
});

test('a batch is bounded, and the remaining commands follow', async () => {
  const runner = manualRunner();
  const ledger = createBatcher(runner);
  const answers = Array.from({ length: 600 }, (_, index) => ledger.submit(credit(index)));
  await settled();
  runner.finish();
  await settled();
  runner.finish();
  await Promise.all(answers);
  assert.deepEqual(runner.sizes, [512, 88]);
});

test('a rejected command fails alone', async () => {
  const runner = manualRunner();
  const ledger = createBatcher(runner);
  const answers = [
    ledger.submit(credit(1)),
    ledger.submit(credit(unlucky)),
    ledger.submit(credit(2)),
  ];
  await settled();
  runner.finish();
  const results = await Promise.allSettled(answers);
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  await assert.rejects(answers[1]!, /could not run a credit: unlucky/);
});

test('when the runner fails, all commands in flight, waiting and to come are rejected with the reason', async () => {
  const runner = manualRunner();
  const ledger = createBatcher(runner);
  const inFlight = ledger.submit(credit(1));
  await settled();
  const waiting = ledger.submit(credit(2));
  runner.fail(new Error('the disk is gone'));
  const results = await Promise.allSettled([inFlight, waiting, ledger.submit(credit(3))]);
  for (const result of results) {
    assert.ok(result.status === 'rejected' && result.reason instanceof LedgerUnavailable);
    assert.match(result.reason.message, /the disk is gone/);
  }
  await assert.rejects(ledger.submit(credit(4)), LedgerUnavailable);
  assert.deepEqual(runner.sizes, [1]);
});

test('closing waits for submitted commands and accepts no more', async () => {
  const runner = manualRunner();
  const ledger = createBatcher(runner);
  const answer = ledger.submit(credit(1));
  const closed = ledger.close();
  await assert.rejects(ledger.submit(credit(2)), /closed/);
  await settled();
  assert.equal(runner.isClosed(), false);
  runner.finish();
  assert.deepEqual(await answer, replyTo(1));
  await closed;
  assert.equal(runner.isClosed(), true);
});

/** Answers a batch on demand. */
function manualRunner() {
  const sizes: number[] = [];
  let batch: {
    commands: readonly Command[];
    resolve: (replies: Reply[]) => void;
    reject: (error: Error) => void;
  };
  let closed = false;
  return {
    sizes,
    run: (commands: readonly Command[]) =>
      new Promise<readonly Reply[]>((resolve, reject) => {
        sizes.push(commands.length);
        batch = { commands, resolve, reject };
      }),
    isFailing: () => false,
    close: async () => {
      closed = true;
    },
    finish: () => batch.resolve(batch.commands.map((command) => replyTo(amountOf(command)))),
    fail: (error: Error) => batch.reject(error),
    isClosed: () => closed,
  };
}

function credit(amount: number): Command {
  return creditOf('acc:live', amount);
}

function amountOf(command: Command): number {
  return command.type === 'credit' ? command.amountMicros : -1;
}

function replyTo(amount: number): Reply {
  return amount === unlucky
    ? { type: 'rejected', message: 'unlucky' }
    : { type: 'credited', availableMicros: amount as never };
}

/** Lets every promise that can settle do so, and a waiting batch begin. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
}
