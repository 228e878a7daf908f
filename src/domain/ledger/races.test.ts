// All orders in which batches are answered and clients continue, using fast-check's scheduler. In
// every order, the balance and the caps hold at every moment. Each client gets the reply to its own
// command.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { type BatchRunner, createBatcher } from './batcher.ts';
import { availableMicrosOf, type Book } from './book.ts';
import type { Command, Ledger } from './commands.ts';
import { runCommands } from './core.ts';
import {
  creditOf,
  emptyBook,
  extendOf,
  reserveOf,
  settleOf,
  startMs,
} from '../../../tests/support/ledger/test-ledger.ts';
import { scaled } from '../../../tests/support/volume.ts';

const ledgerId = 'acc:live';
const settings = { numRuns: Number(process.env['TOLLGATE_RACES'] ?? scaled(50, 250)) };
const balance = 100;
const dailyCap = 80;

/** A client's run: hold, perhaps extend, then settle or release; some leave their hold open. */
const client = fc.record({
  amount: fc.integer({ min: 1, max: 40 }),
  more: fc.integer({ min: 0, max: 20 }),
  cost: fc.integer({ min: 0, max: 60 }),
  end: fc.constantFrom('settle', 'settle', 'release', 'none'),
});
type Client = typeof client extends fc.Arbitrary<infer Value> ? Value : never;

test('in any order of batches and clients, nothing is overspent and every client gets its own reply', async () => {
  let held = 0;
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(client, { minLength: 2, maxLength: 12 }),
      async (scheduler, clients) => {
        const books = scheduledBooks(scheduler);
        const ledger = createBatcher(books.runner);
        const done = Promise.all([
          ledger.submit(creditOf(ledgerId, balance)),
          ...clients.map((plan, index) => runClient(scheduler, ledger, { plan, id: `h${index}` })),
        ]);
        await scheduler.waitFor(done);
        const [, ...charges] = await done;
        for (const charge of charges) {
          if (charge === null) refused += 1;
          else held += 1;
        }
        const spent = charges.reduce<number>((sum, charge) => sum + (charge ?? 0), 0);
        assert.equal(
          books.book().ledgers.get(ledgerId)!.postedMicros,
          balance - spent,
          'the books and the clients disagree',
        );
      },
    ),
    settings,
  );
  assert.ok(
    held > settings.numRuns && refused > settings.numRuns / 4,
    `${held} held, ${refused} refused: too few of a kind`,
  );
});

test('when the store fails, every waiting command is rejected exactly once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.nat({ max: 4 }),
      fc.integer({ min: 1, max: 10 }),
      async (scheduler, failsAt, count) => {
        let batches = 0;
        const { runner } = scheduledBooks(scheduler);
        const ledger = createBatcher({
          ...runner,
          run: (commands) =>
            batches++ === failsAt
              ? scheduler.schedule(Promise.reject(new Error('gone')))
              : runner.run(commands),
        });
        const answers = Array.from({ length: count }, (_, index) =>
          scheduler
            .schedule(Promise.resolve())
            .then(() => ledger.submit(creditOf(ledgerId, 1, `c${index}`)))
            .then(
              () => 'answered',
              (error: Error) => error.name,
            ),
        );
        await scheduler.waitFor(Promise.all(answers));
        for (const answer of await Promise.all(answers))
          assert.match(answer, /^(answered|LedgerUnavailable)$/);
      },
    ),
    settings,
  );
});

/** Returns the charge, 0 for a hold without one, and null when nothing was held. */
async function runClient(
  scheduler: fc.Scheduler,
  ledger: Ledger,
  { plan: { amount, more, cost, end }, id }: { readonly plan: Client; readonly id: string },
): Promise<number | null> {
  const asked = { holdId: id, ledgerId, keyId: 'k' } as const;
  await scheduler.schedule(Promise.resolve(), `${id} starts`);
  const hold = await ledger.submit(reserveOf(asked, amount, { daily: dailyCap }));
  if (hold.type !== 'held') return null;
  if (more > 0) await ledger.submit(extendOf(asked, 1, more));
  await scheduler.schedule(Promise.resolve(), `${id} ends`);
  if (end === 'none') return 0;
  const ending: Command =
    end === 'settle'
      ? settleOf(asked, cost)
      : { type: 'release', holdId: id, lossMicros: 0 as never };
  // Sent twice at once, like by a client that does not trust the first attempt.
  const [outcome, again] = await Promise.all([ledger.submit(ending), ledger.submit(ending)]);
  assert.deepEqual(again, outcome);
  return outcome.type === 'charged' ? outcome.chargedMicros : 0;
}

/**
 * The core with a book in memory, replying when the scheduler decides. Checks the invariants after
 * every batch.
 */
function scheduledBooks(scheduler: fc.Scheduler): { runner: BatchRunner; book: () => Book } {
  let book = emptyBook([ledgerId]);
  const run = (commands: readonly Command[]) => {
    const decision = runCommands(book, commands, startMs);
    ({ book } = decision);
    assertPromises(book);
    return decision.outcomes;
  };
  return {
    book: () => book,
    runner: {
      run: async (commands) => {
        await scheduler.schedule(Promise.resolve(), `a batch of ${commands.length} arrives`);
        const outcomes = run(commands);
        await scheduler.schedule(Promise.resolve(), 'its answer arrives');
        return outcomes;
      },
      isFailing: () => false,
      close: async () => {},
    },
  };
}

function assertPromises(book: Book): void {
  const ledger = book.ledgers.get(ledgerId)!;
  assert.ok(availableMicrosOf(ledger) >= 0, 'overdrawn');
  for (const { kind, settledMicros, heldMicros } of book.windows.values()) {
    assert.ok(kind !== 'day' || settledMicros + heldMicros <= dailyCap, 'above the cap');
  }
}
