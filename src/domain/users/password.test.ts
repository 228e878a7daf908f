import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashPassword, verifyPassword } from './password.ts';

const password = 'correct horse battery';

test('a hash carries its parameters and verifies only its own password', async () => {
  const hash = await hashPassword(password);
  assert.match(hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
  assert.equal(await verifyPassword({ hash, password }), true);
  assert.equal(await verifyPassword({ hash, password: `${password} ` }), false);
  assert.notEqual(await hashPassword(password), hash);
});

test('hashes with other parameters still verify', async () => {
  // From the reference program: echo -n "password" | argon2 somesalt -id -t 2 -m 16 -p 1 -l 32
  const hash =
    '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc';
  assert.equal(await verifyPassword({ hash, password: 'password' }), true);
  assert.equal(await verifyPassword({ hash, password: 'Password' }), false);
});

test('a text that is not a hash verifies no password', async () => {
  for (const hash of ['', 'password', '$argon2id$v=19$m=8$x', '$2b$10$abcdefghijklmnopqrstuv']) {
    assert.equal(await verifyPassword({ hash, password: 'password' }), false);
  }
});

test('the same text in other code points is the same password', async () => {
  const hash = await hashPassword('Zürich at night'.normalize('NFC'));
  assert.equal(await verifyPassword({ hash, password: 'Zürich at night'.normalize('NFD') }), true);
});

test('many concurrent hashes wait for their turn', async () => {
  const hashes = await Promise.all(Array.from({ length: 12 }, () => hashPassword(password)));
  assert.equal(new Set(hashes).size, 12);
});
