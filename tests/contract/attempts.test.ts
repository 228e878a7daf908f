// Counts of sign-ins and similar attempts, on both stores.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { takeAttempt, usualLimit } from '../../src/domain/users/attempts.ts';
import { onEachStore } from './stores.ts';

const hourMs = 3_600_000;

onEachStore((store) => {
  test('a clock that is set back does not lock a user out for that long', async (t) => {
    const database = await store.openDatabase(t);
    const take = (nowMs: number) =>
      takeAttempt(database.transient, { kind: 'sign-in', of: 'ada@example.com' }, nowMs);
    for (let count = 0; count < usualLimit.free; count++) await take(100 * hourMs);
    assert.equal(await take(100 * hourMs), 30);
    assert.equal(await take(10 * hourMs), 0);
    assert.equal(await take(10 * hourMs), 60, 'the attempts still count');
  });
});
