import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createSecret, type Secret } from '../lib/secrets.ts';
import { addSecret, loadSecrets, newSecretText, removeSecrets } from './secret.ts';

const folder = mkdtempSync(join(tmpdir(), 'tollgate-secret-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const alone = { isShared: false };
const [first, second, third] = ['x'.repeat(40), 'y'.repeat(40), 'z'.repeat(40)];

test('a secret is created once, and only its owner can read it', () => {
  const dataDir = join(folder, 'new');
  const [made, ...others] = loadSecrets({}, dataDir, alone);
  assert.ok(made.bytes.length >= 32);
  assert.deepEqual(others, []);
  assert.deepEqual(loadSecrets({}, dataDir, alone), [made]);
  assert.equal(statSync(join(dataDir, 'secret')).mode & 0o777, 0o600);
});

test('two installations have different secrets', () => {
  const [one, other] = ['one', 'other'].map((name) => loadSecrets({}, join(folder, name), alone));
  assert.notDeepEqual(one, other);
});

test('the environment overrides the file, and an empty variable counts as unset', () => {
  const dataDir = join(folder, 'new');
  const env = { TOLLGATE_SECRET: first, TOLLGATE_SECRETS_ACCEPTED: '' };
  assert.deepEqual(loadSecrets(env, dataDir, alone), [createSecret(first)]);
  const unset = loadSecrets({ TOLLGATE_SECRET: '' }, dataDir, alone);
  assert.deepEqual(unset, loadSecrets({}, dataDir, alone));
});

test('the environment adds accepted secrets, without duplicates, to its own or the file’s', () => {
  const TOLLGATE_SECRETS_ACCEPTED = `${second},${third},${second},${first}`;
  const given = loadSecrets({ TOLLGATE_SECRET: first, TOLLGATE_SECRETS_ACCEPTED }, folder, alone);
  assert.deepEqual(given, [first, second, third].map(createSecret));
  const dataDir = join(folder, 'new');
  const env = { TOLLGATE_SECRETS_ACCEPTED: second };
  const [current, ...accepted] = loadSecrets(env, dataDir, alone);
  assert.deepEqual([current], loadSecrets({}, dataDir, alone));
  assert.deepEqual(accepted, [createSecret(second)]);
});

test('a secret with surrounding white space is still accepted after a rotation', () => {
  const [padded] = loadSecrets({ TOLLGATE_SECRET: `${first}\n` }, folder, alone);
  for (const TOLLGATE_SECRETS_ACCEPTED of [`${first}\n`, `${third},${first}\n`]) {
    const env = { TOLLGATE_SECRET: second, TOLLGATE_SECRETS_ACCEPTED };
    const given = loadSecrets(env, folder, alone);
    assert.ok(given.some(({ id }) => id === padded.id));
  }
});

test('a new secret becomes the file’s first line; only the owner can read it, and no draft remains', () => {
  const dataDir = join(folder, 'rotated');
  const path = join(dataDir, 'secret');
  const [oldest] = loadSecrets({}, dataDir, alone);
  const made = [addNew(path), addNew(path)];
  assert.deepEqual(loadSecrets({}, dataDir, alone), [made[1], made[0], oldest]);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.match(readFileSync(path, 'utf8'), /^([0-9a-f]{64}\n){3}$/);
  const unseen = addNew(path);
  removeSecrets(path, [oldest.id]);
  // No others go than those that are ended.
  assert.deepEqual(loadSecrets({}, dataDir, alone), [unseen, made[1], made[0]]);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(dataDir), ['secret']);
});

test('a key id identifies a secret without revealing it', () => {
  assert.match(createSecret(first).id, /^[0-9a-f]{8}$/);
  assert.equal(createSecret(first).id, createSecret(first).id);
  assert.notEqual(createSecret(first).id, createSecret(second).id);
});

test('a short secret, an empty file, and a shared database without a secret are refused without quoting it', () => {
  const TOLLGATE_SECRETS_ACCEPTED = `${second},hunter2`;
  for (const [name, env] of [
    ['TOLLGATE_SECRET', { TOLLGATE_SECRET: 'hunter2' }],
    ['TOLLGATE_SECRETS_ACCEPTED', { TOLLGATE_SECRET: first, TOLLGATE_SECRETS_ACCEPTED }],
  ] as const) {
    assert.throws(
      () => loadSecrets(env, folder, alone),
      (error: Error) => {
        assert.match(error.message, new RegExp(`${name} must be a random text of at least 32`));
        assert.doesNotMatch(error.message, /hunter2/);
        return true;
      },
    );
  }
  assert.throws(() => loadSecrets({}, folder, { isShared: true }), /must be set/);
  for (const text of ['', `${first}\nshort\n`]) {
    writeFileSync(join(folder, 'secret'), text);
    assert.throws(() => loadSecrets({}, folder, alone), /secret must be a random text/);
  }
});

test('a data folder that is a file is refused with its path and the variable that names it', () => {
  const file = import.meta.filename;
  const message = `TOLLGATE_DATA_DIR names no usable folder: ${file} is a file, not a folder. Set it to another folder, or correct this one and its permissions.`;
  assert.throws(() => loadSecrets({}, file, alone), { message });
});

function addNew(path: string): Secret {
  const text = newSecretText();
  addSecret(path, text);
  return createSecret(text);
}
