import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSealer } from './sealed-text.ts';

const sealer = createSealer(Buffer.from('a secret'), 'test');

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
  await assert.rejects(createSealer(Buffer.from('another secret'), 'test').open(sealed, 'here'));
  await assert.rejects(createSealer(Buffer.from('a secret'), 'another purpose').open(sealed, 'here'));
  for (let index = 0; index < sealed.length; index++) {
    const changed = Buffer.from(sealed);
    changed[index]! ^= 1;
    await assert.rejects(sealer.open(changed, 'here'));
  }
});
