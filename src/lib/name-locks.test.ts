// Threads that take names, in one process: each call of the book arrives after some turns of the
// event loop, as between threads.
import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { test } from 'node:test';
import fc from '../../tests/support/property.ts';
import { ConnectedNameLocks, NameLockBook } from './name-locks.ts';

const never = new AbortController().signal;

function connect(threads: number) {
  const locks: ConnectedNameLocks[] = [];
  const book = new NameLockBook<number>(
    ({ thread, ticket }, isAwaited) =>
      void setImmediate().then(() => locks[thread]!.noteAwaited(ticket, isAwaited)),
  );
  for (let thread = 0; thread < threads; thread++) {
    locks.push(
      new ConnectedNameLocks({
        take: (name, ticket) => setImmediate().then(() => book.take(thread, name, ticket)),
        leave: (name, ticket) => void setImmediate().then(() => book.leave(thread, name, ticket)),
        giveBack: (name) => void setImmediate().then(() => book.giveBack(name)),
      }),
    );
  }
  return locks;
}

async function pass(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await setImmediate();
}

test('a name has one holder; the others get it in turn', async () => {
  const step = fc.record({
    thread: fc.nat(3),
    name: fc.constantFrom('a', 'b'),
    turnsHeld: fc.nat(4),
    turnsUntilAbort: fc.option(fc.nat(6), { nil: null }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      const locks = connect(4);
      const holders = new Map<string, number>();
      const asking = new Set<string>();
      const runs = steps.map(async ({ thread, name, turnsHeld, turnsUntilAbort }) => {
        // A thread asks for a name once at a time.
        while (asking.has(`${thread} ${name}`)) await setImmediate();
        asking.add(`${thread} ${name}`);
        const controller = new AbortController();
        if (turnsUntilAbort !== null) {
          void (async () => {
            for (let turn = 0; turn < turnsUntilAbort; turn++) await setImmediate();
            controller.abort();
          })();
        }
        const giveBack = await locks[thread]!.take(name, {
          signal: controller.signal,
          onAwaited: () => {},
        });
        if (giveBack) {
          assert.equal(holders.get(name) ?? 0, 0, 'two threads hold one name');
          holders.set(name, 1);
          for (let turn = 0; turn < turnsHeld; turn++) await setImmediate();
          holders.set(name, 0);
          giveBack();
        } else assert.ok(controller.signal.aborted, 'a thread that did not leave got nothing');
        asking.delete(`${thread} ${name}`);
      });
      await Promise.all(runs);
      await pass();
      for (const lock of locks) {
        const giveBack = await lock.take('a', { signal: never, onAwaited: () => {} });
        assert.ok(giveBack, 'a name was not given back');
        giveBack();
      }
    }),
    { numRuns: 100 },
  );
});

test('the holder learns when another thread waits, and when none waits any more', async () => {
  const [one, other] = connect(2) as [ConnectedNameLocks, ConnectedNameLocks];
  const reports: boolean[] = [];
  const onAwaited = (isAwaited: boolean) => void reports.push(isAwaited);
  const giveBack = await one.take('a', { signal: never, onAwaited });
  const leaving = new AbortController();
  const waiting = other.take('a', { signal: leaving.signal, onAwaited: () => assert.fail() });
  await pass();
  assert.deepEqual(reports, [true]);
  leaving.abort();
  assert.equal(await waiting, null);
  await pass();
  assert.deepEqual(reports, [true, false]);
  giveBack!();
});

test('a report that arrives after a name was given back does not reach its next holder', async () => {
  const [one, other] = connect(2) as [ConnectedNameLocks, ConnectedNameLocks];
  const first = await one.take('a', { signal: never, onAwaited: () => {} });
  const leaving = new AbortController();
  const waiting = other.take('a', { signal: leaving.signal, onAwaited: () => {} });
  // The report that the other waits is on its way when the name is given back and taken again.
  await setImmediate();
  await setImmediate();
  first!();
  leaving.abort();
  const again = one.take('a', { signal: never, onAwaited: () => assert.fail('nobody waits') });
  await waiting;
  (await again)!();
  await pass();
});
