import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPending } from '../../../tests/support/is-pending.ts';
import { LongAnswers } from './long-answers.ts';

const mib = 1024 * 1024;

test('long answers share the memory in their order, short ones pass, and as much may wait', async () => {
  const answers = new LongAnswers(10 * mib);
  const first = await answers.enter(6 * mib);
  const second = await answers.enter(4 * mib);
  const third = Promise.resolve(answers.enter(9 * mib));
  assert.ok(await isPending(third));
  assert.throws(() => answers.enter(2 * mib), { code: 'overloaded' });
  const last = Promise.resolve(answers.enter(mib, { mayWait: true }));
  (await answers.enter(mib - 1))();
  first();
  assert.ok(await isPending(third), 'the second is not done');
  second();
  const freeThird = await third;
  (await last)();
  freeThird();
});

test('an answer that needs more than all of the memory is alone', async () => {
  const answers = new LongAnswers(10 * mib);
  const large = await answers.enter(50 * mib);
  const other = Promise.resolve(answers.enter(50 * mib));
  assert.ok(await isPending(other));
  large();
  (await other)();
  (await answers.enter(10 * mib))();
});
