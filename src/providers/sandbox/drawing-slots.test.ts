import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { inTurn as inTurnOf } from './drawing-slots.ts';

const running = new AbortController().signal;
const inTurn = <Result>(work: () => Promise<Result>, signal = running) => inTurnOf(work, signal);

test('two drawings run at once; the others wait in order, also after failures', async () => {
  let working = 0;
  let most = 0;
  const order: number[] = [];
  const results = await Promise.allSettled(
    Array.from({ length: 9 }, (_, index) =>
      inTurn(async () => {
        most = Math.max(most, ++working);
        order.push(index);
        await setImmediate();
        working--;
        if (index % 3 === 0) throw new Error('failed');
        return index;
      }),
    ),
  );
  assert.equal(most, 2);
  assert.deepEqual(order, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 6);
});

test('a drawing aborted while waiting never starts and blocks no other', async () => {
  const controller = new AbortController();
  const drawn = Promise.withResolvers<void>();
  const first = [inTurn(() => drawn.promise), inTurn(() => drawn.promise)];
  let began = false;
  const given = inTurn(async () => void (began = true), controller.signal);
  controller.abort(new Error('gone'));
  drawn.resolve();
  await assert.rejects(given, /gone/);
  await Promise.all(first);
  assert.equal(began, false);
  assert.equal(await inTurn(async () => 'next'), 'next');
});
