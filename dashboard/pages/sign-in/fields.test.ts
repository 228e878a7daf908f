import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkEmail, checkNewPassword, safeNext } from './fields.ts';

test('after signing in a link leads to a page of the dashboard, never elsewhere', () => {
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

test('passwords have from 10 to 256 characters, and e-mail addresses an at sign', () => {
  assert.match(checkNewPassword('123456789')!, /at least 10/);
  assert.equal(checkNewPassword('1234567890'), null);
  assert.equal(checkNewPassword('x'.repeat(256)), null);
  assert.match(checkNewPassword('x'.repeat(257))!, /at most 256/);
  assert.equal(checkEmail(' ada@example.com '), null);
  assert.notEqual(checkEmail('ada'), null);
});
