import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { MeasuredTags, measuredTagsMax, measuredValuesMax } from './measured-tags.ts';

const day = '2026-11-21';

test('many end users leave room for the other tags', () => {
  const measured = new MeasuredTags();
  for (let user = 0; user < 1_000; user++) measured.take('a live', day, [`user=${user}`]);
  assert.deepEqual(measured.take('a live', day, ['user=7', 'user=999', 'project=alpha', 'beta']), [
    'user=7',
    'project=alpha',
    'beta',
  ]);
});

test('any tags stay within the bounds of their account and day, and a known tag stays known', () => {
  const tag = fc.tuple(fc.nat({ max: 9 }), fc.nat({ max: 99 })).map(([n, v]) => `n${n}=${v}`);
  fc.assert(
    fc.property(fc.array(tag, { maxLength: 2_000 }), (tags) => {
      const measured = new MeasuredTags();
      const known = new Set<string>();
      for (const one of tags) {
        const isTaken = measured.take('a live', day, [one]).length > 0;
        assert.ok(isTaken || !known.has(one));
        if (isTaken) known.add(one);
      }
      assert.ok(known.size <= measuredTagsMax);
      for (const values of Map.groupBy(known, (one) => one.split('=', 1)[0]).values())
        assert.ok(values.length <= measuredValuesMax);
    }),
  );
});

test('tags of many names are bounded too', () => {
  const tags = Array.from({ length: measuredTagsMax + 1 }, (_, number) => `name${number}=x`);
  const taken = new MeasuredTags().take('a live', day, tags);
  assert.deepEqual(taken, tags.slice(0, measuredTagsMax));
});

test('the bounds are those of one account, mode and day', () => {
  const measured = new MeasuredTags();
  const users = Array.from({ length: measuredValuesMax + 1 }, (_, user) => `user=${user}`);
  for (const [owner, on] of [
    ['a live', day],
    ['a test', day],
    ['b live', day],
    ['a live', '2026-11-22'],
  ] as const)
    assert.equal(measured.take(owner, on, users).length, measuredValuesMax, `${owner} ${on}`);
});
