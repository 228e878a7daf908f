import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nearestOf } from './nearest.ts';

const cases: [name: string, candidates: string[], expected: string | null][] = [
  ['prot', ['host', 'port'], 'port'],
  ['Port', ['host', 'port'], 'port'],
  ['apikey', ['api_key', 'base_url'], 'api_key'],
  ['base_ulr', ['api_key', 'base_url'], 'base_url'],
  ['zzz', ['api', 'kind'], null],
  ['colour', ['level'], null],
  ['x', [], null],
  ['a'.repeat(10_000), ['port'], null],
];

for (const [name, candidates, expected] of cases) {
  test(`"${name.slice(0, 20)}" among ${candidates.join(', ') || 'nothing'} means ${expected ?? 'none of them'}`, () => {
    assert.equal(nearestOf(name, candidates), expected);
  });
}
