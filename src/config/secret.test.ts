import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { loadSecret } from './secret.ts';

const folder = mkdtempSync(join(tmpdir(), 'tollgate-secret-'));
after(() => rmSync(folder, { recursive: true, force: true }));

test('a secret is made once, readable by its owner alone, and kept', () => {
  const dataDir = join(folder, 'new');
  const first = loadSecret({}, dataDir, { isShared: false });
  assert.ok(first.length >= 32);
  assert.deepEqual(loadSecret({}, dataDir, { isShared: false }), first);
  assert.equal(statSync(join(dataDir, 'secret')).mode & 0o777, 0o600);
});

test('two installations do not share a secret', () => {
  const [one, other] = ['one', 'other'].map((name) => loadSecret({}, join(folder, name), { isShared: false }));
  assert.notDeepEqual(one, other);
});

test('the environment goes over the file, and an empty variable counts as unset', () => {
  const TOLLGATE_SECRET = 'x'.repeat(40);
  assert.equal(loadSecret({ TOLLGATE_SECRET }, join(folder, 'new'), { isShared: false }).toString(), TOLLGATE_SECRET);
  assert.deepEqual(
    loadSecret({ TOLLGATE_SECRET: '' }, join(folder, 'new'), { isShared: false }),
    loadSecret({}, join(folder, 'new'), { isShared: false }),
  );
});

test('a short secret, an emptied file, and a shared database without one are refused, and the secret is not quoted', () => {
  assert.throws(
    () => loadSecret({ TOLLGATE_SECRET: 'hunter2' }, folder, { isShared: false }),
    (error: Error) => {
      assert.match(error.message, /TOLLGATE_SECRET must be a random text of at least 32/);
      assert.doesNotMatch(error.message, /hunter2/);
      return true;
    },
  );
  assert.throws(() => loadSecret({}, folder, { isShared: true }), /must be set/);
  writeFileSync(join(folder, 'secret'), '');
  assert.throws(() => loadSecret({}, folder, { isShared: false }), /secret must be a random text/);
});
