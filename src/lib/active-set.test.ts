import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from '../../tests/support/property.ts';
import { ActiveSet } from './active-set.ts';

test('a set has the members that were added and have not left', () => {
  const move = fc.record({ adds: fc.boolean(), of: fc.nat() });
  fc.assert(
    fc.property(fc.array(move), (moves) => {
      const set = new ActiveSet<number>();
      const present = new Map<number, () => void>();
      for (const [id, { adds, of }] of moves.entries())
        if (adds) present.set(id, set.add(id));
        else {
          const leaving = [...present.keys()][of % present.size];
          if (leaving === undefined) continue;
          present.get(leaving)!();
          present.delete(leaving);
        }
      assert.equal(set.size, present.size);
      assert.deepEqual(new Set(set.members()), new Set(present.keys()));
    }),
  );
});

test('leaving twice removes nobody else', () => {
  const set = new ActiveSet<string>();
  const [leave] = ['a', 'b', 'c'].map((member) => set.add(member));
  leave!();
  leave!();
  assert.deepEqual(new Set(set.members()), new Set(['b', 'c']));
});

test('members that have left do not reach the old generation', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options?: { readonly type: 'minor' }) => void;
  const set = new ActiveSet<object>();
  const present: (() => void)[] = [];
  const pass = (count: number) => {
    for (let at = 0; at < count; at++) {
      present.push(set.add(Array.from({ length: 1_000 }, () => at)));
      if (present.length > 64) present.shift()!();
    }
  };
  pass(100);
  collect(); // puts the set itself into the old generation
  const startBytes = oldBytes();
  for (let round = 0; round < 20; round++) {
    pass(100);
    collect({ type: 'minor' });
  }
  const grownBytes = oldBytes() - startBytes;
  // Two thousand members of 8 KB: with a Set, nearly all of their 16 MB.
  assert.ok(grownBytes < 4_000_000, `the old generation has grown by ${grownBytes} bytes`);
});

function oldBytes(): number {
  const old = getHeapSpaceStatistics().filter(({ space_name: name }) => name.startsWith('old'));
  return old.reduce((sum, { space_used_size: bytes }) => sum + bytes, 0);
}
