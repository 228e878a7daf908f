import assert from 'node:assert/strict';
import { test } from 'node:test';
import { safeNext } from './enter.ts';

Object.assign(globalThis, { location: { origin: 'https://llm.example.com' } });

test('after sign-in, a link leads to a page of the dashboard and never to another site', () => {
  assert.equal(safeNext('/keys?mode=test'), '/keys?mode=test');
  for (const next of [
    undefined,
    '',
    'keys',
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    'javascript:alert(1)',
  ]) {
    assert.equal(safeNext(next), '/', String(next));
  }
});
