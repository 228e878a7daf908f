import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSealer } from './sealed-text.ts';
import { createSecret } from './secrets.ts';

const [secret, next] = [createSecret('a secret'), createSecret('another secret')];
const sealer = createSealer([secret], 'test');

test('what was sealed opens as it was, short or long, and cannot be read at rest', async () => {
  for (const text of ['', 'héllo \ud83d\ude00', 'needle '.repeat(100_000)]) {
    const sealed = await sealer.seal(text, 'here');
    assert.equal(await sealer.open(sealed, 'here'), text);
    assert.ok(!sealed.includes('needle'));
  }
});

test('it opens in its own place only, under its own secret and purpose, and unchanged', async () => {
  const sealed = await sealer.seal('text', 'here');
  await assert.rejects(sealer.open(sealed, 'there'));
  await assert.rejects(createSealer([next], 'test').open(sealed, 'here'));
  await assert.rejects(createSealer([secret], 'another purpose').open(sealed, 'here'));
  for (let index = 0; index < sealed.length; index++) {
    const changed = Buffer.from(sealed);
    changed[index]! ^= 1;
    await assert.rejects(sealer.open(changed, 'here'));
  }
});

test('what was sealed under an earlier secret opens as long as that is accepted; what is sealed then needs the current one alone', async () => {
  const rotated = createSealer([next, secret], 'test');
  assert.equal(await rotated.open(await sealer.seal('text', 'here'), 'here'), 'text');
  const sealed = await rotated.seal('text', 'here');
  assert.equal(await createSealer([next], 'test').open(sealed, 'here'), 'text');
  await assert.rejects(sealer.open(sealed, 'here'));
});
