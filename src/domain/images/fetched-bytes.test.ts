import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FetchedBytes } from './fetched-bytes.ts';

const overloaded = { code: 'overloaded' };

test('an account has half of the room, and others the rest', () => {
  const room = new FetchedBytes(100);
  const [one, more, other] = [room.enter('a'), room.enter('a'), room.enter('b')];
  one.take(30);
  more.take(20);
  assert.throws(() => more.take(1), overloaded);
  more.leave();
  other.take(50);
  one.take(20);
  assert.throws(() => room.enter('c').take(1), overloaded);
});

test('a request may exceed the room alone, until another comes, and leaves nothing behind', () => {
  const room = new FetchedBytes(100);
  const large = room.enter('a');
  large.take(250);
  const refused = room.enter('b');
  assert.throws(() => refused.take(1), overloaded);
  refused.leave();
  large.leave();
  large.leave();
  large.take(250);
  room.enter('b').take(50);
  room.enter('c').take(50);
});
