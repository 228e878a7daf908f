import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findSecrets } from './secrets.ts';

const secrets = [{ name: 'it', text: 'a "s3cret"/of~mine' }];
const written: Readonly<Record<string, (text: string) => string | Buffer>> = {
  text: (text) => text,
  JSON: (text) => JSON.stringify({ text }),
  URL: (text) =>
    new URLSearchParams({ text }).toString().replaceAll('+', '%20').replaceAll('%7E', '~'),
  hex: (text) => Buffer.from(text).toString('hex'),
  'UTF-16': (text) => Buffer.from(text, 'utf16le'),
};

test('a secret is found in every form, wherever it stands', () => {
  for (const [form, write] of Object.entries(written)) {
    const found = findSecrets(
      Buffer.concat([Buffer.from('before '), Buffer.from(write(secrets[0]!.text))]),
      secrets,
    );
    assert.ok(found.includes(`it as ${form}`), form);
  }
  for (const before of ['', 'x', 'xx', 'xxx']) {
    const text = `${before}${secrets[0]!.text}after`;
    for (const form of ['base64', 'base64url'] as const) {
      const found = findSecrets(Buffer.from(Buffer.from(text).toString(form)), secrets);
      assert.ok(
        found.some((name) => name.includes('base64')),
        `${form} after ${before.length}`,
      );
    }
  }
});

test('bytes without a secret give no match', () => {
  assert.deepEqual(findSecrets(Buffer.from('a s3cret of nobody'), secrets), []);
});
