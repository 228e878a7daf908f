import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backupCodesFile, checkCode, codeOf, inGroups } from './second-factor-codes.ts';

test('a secret is shown in groups of four', () => {
  assert.equal(inGroups('JBSWY3DPEHPK3P'), 'JBSW Y3DP EHPK 3P');
});

test('a code has six digits, with or without spaces', () => {
  assert.equal(codeOf(' 123 456 '), '123456');
  assert.deepEqual(['123456', '123 456'].map(checkCode), [null, null]);
  for (const entered of ['', '12345', '1234567', 'abcdef'])
    assert.notEqual(checkCode(entered), null, entered);
});

test('codes are sent without the spaces around and in them', () => {
  assert.equal(codeOf(' 123 456'), '123456');
  assert.equal(codeOf(' aB3xY-9kLmN '), 'aB3xY-9kLmN');
});

test('the file of backup codes says what it is for and has a portable name', () => {
  const codes = ['aB3xY-9kLmN', 'cD4zW-8jHgF'];
  const { name, text } = backupCodesFile({
    serviceName: 'Ada & Co. AI',
    email: 'ada@example.com',
    codes,
  });
  assert.equal(name, 'ada-co-ai-backup-codes.txt');
  assert.match(text, /^Backup codes for ada@example\.com at Ada & Co\. AI\n/);
  assert.ok(text.endsWith('\naB3xY-9kLmN\ncD4zW-8jHgF\n'));
  assert.equal(
    backupCodesFile({ serviceName: '門', email: 'ada@example.com', codes }).name,
    'backup-codes.txt',
  );
});
