import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkEmail, checkNewPassword } from './field-checks.ts';

test('a password has 10 to 256 characters, and an e-mail address has an at sign', () => {
  assert.match(checkNewPassword('123456789')!, /at least 10/);
  assert.equal(checkNewPassword('1234567890'), null);
  assert.equal(checkNewPassword('x'.repeat(256)), null);
  assert.match(checkNewPassword('x'.repeat(257))!, /at most 256/);
  assert.equal(checkEmail(' ada@example.com '), null);
  assert.notEqual(checkEmail('ada'), null);
});
