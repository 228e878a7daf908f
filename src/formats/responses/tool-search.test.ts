import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSearchArguments } from './tool-search.ts';

test('arguments of a tool search are an object only when they can be written again', () => {
  assert.deepEqual(readSearchArguments('{"query":"weather"}'), { query: 'weather' });
  assert.deepEqual(readSearchArguments(' '), {});
  assert.equal(readSearchArguments('{"query":"wea'), '{"query":"wea');
  const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
  assert.equal(readSearchArguments(deep), deep);
});
