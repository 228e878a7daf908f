import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSealer } from './sealed-bytes.ts';
import { createSecret } from './secrets.ts';

const [secret, next] = [createSecret('a secret'), createSecret('another secret')];
const sealer = createSealer([secret], 'test');
const plain = Buffer.from('text');

test('short and long text is restored exactly, and is unreadable while sealed', async () => {
  for (const text of ['', 'héllo \ud83d\ude00', 'needle '.repeat(100_000)]) {
    const sealed = await sealer.seal(Buffer.from(text), 'here');
    assert.equal((await sealer.open(sealed, 'here')).toString(), text);
    assert.ok(!sealed.includes('needle'));
  }
});

test('sealed text opens only unchanged, in its own context, under its own secret and purpose', async () => {
  const sealed = await sealer.seal(plain, 'here');
  await assert.rejects(sealer.open(sealed, 'there'));
  await assert.rejects(createSealer([next], 'test').open(sealed, 'here'));
  await assert.rejects(createSealer([secret], 'another purpose').open(sealed, 'here'));
  for (let index = 0; index < sealed.length; index++) {
    const changed = Buffer.from(sealed);
    changed[index]! ^= 1;
    await assert.rejects(sealer.open(changed, 'here'));
  }
});

test('text sealed under an accepted earlier secret opens; new text needs only the current secret', async () => {
  const rotated = createSealer([next, secret], 'test');
  assert.deepEqual(await rotated.open(await sealer.seal(plain, 'here'), 'here'), plain);
  const sealed = await rotated.seal(plain, 'here');
  assert.deepEqual(await createSealer([next], 'test').open(sealed, 'here'), plain);
  await assert.rejects(sealer.open(sealed, 'here'));
});
