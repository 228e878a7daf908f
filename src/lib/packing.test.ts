import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inflateRawSync } from 'node:zlib';
import fc from '../../tests/support/property.ts';
import { pack, plainBytesMax, TextPacker, unpack } from './packing.ts';

async function packAll(pieces: readonly string[], bytesMax = plainBytesMax) {
  const packer = new TextPacker(bytesMax);
  // Texts and bytes in turn.
  for (const [index, piece] of pieces.entries())
    packer.add(index % 2 === 0 ? piece : Buffer.from(piece));
  return packer.end();
}

test('a text that is packed in pieces is the text, whatever the pieces', async () => {
  const piece = fc
    .tuple(fc.string({ unit: 'grapheme', maxLength: 20 }), fc.integer({ min: 0, max: 20_000 }))
    .map(([text, times]) => text.repeat(times));
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 6 }), async (pieces) => {
      const ended = await packAll(pieces);
      assert.ok(ended);
      assert.equal(ended.body.toString(), pieces.join(''));
      if (ended.packed) assert.ok(inflateRawSync(ended.packed).equals(ended.body));
    }),
    { numRuns: 50 },
  );
});

test('a long stream of events shrinks at least tenfold', async () => {
  const events = Array.from(
    { length: 20_000 },
    (_, index) =>
      `event: response.output_text.delta\ndata: {"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":" word","sequence_number":${index}}\n\n`,
  );
  const { packed, body } = (await packAll(events))!;
  assert.ok(packed!.length < body.length / 10, `${body.length} to ${packed!.length}`);
});

test('a text that grows too long is forgotten', async () => {
  assert.equal(await packAll(['a'.repeat(600), 'b'.repeat(401)], 1_000), null);
  assert.equal((await packAll(['a'.repeat(600), 'b'.repeat(400)], 1_000))!.body.length, 1_000);
});

test('bytes that unpack to too much are refused', async () => {
  const bomb = await pack(Buffer.alloc(plainBytesMax + 1));
  assert.ok(bomb.length < 100_000);
  await assert.rejects(unpack(bomb));
  assert.equal((await unpack(await pack(Buffer.alloc(plainBytesMax)))).length, plainBytesMax);
});
