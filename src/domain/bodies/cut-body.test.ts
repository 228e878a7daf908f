import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anyCharacter } from '../../../tests/support/any-text.ts';
import fc from '../../../tests/support/property.ts';
import { CutBody } from './cut-body.ts';

const anyText = fc.array(anyCharacter, { maxLength: 60 }).map((characters) => characters.join(''));
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

test('any text in any pieces is kept up to the limit, and cut between two characters', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(anyText, fc.boolean()), { maxLength: 8 }),
      fc.integer({ min: 1, max: 200 }),
      (pieces, bytesMax) => {
        let held = 0;
        const body = new CutBody(bytesMax, (bytes) => {
          held += bytes;
          return true;
        });
        for (const [text, isText] of pieces) assert.ok(body.add(isText ? text : Buffer.from(text)));
        const whole = Buffer.from(pieces.map(([text]) => text).join(''));
        const kept = body.take();
        assert.equal(body.bytes, whole.length);
        assert.deepEqual(kept, whole.subarray(0, kept.length), 'it is the start');
        decoder.decode(kept);
        if (whole.length <= bytesMax) assert.equal(kept.length, whole.length, 'all of it');
        else assert.ok(kept.length <= bytesMax && kept.length > bytesMax - 4);
        assert.equal(body.heldBytes, held);
        assert.ok(held <= bytesMax, 'it never holds more than its limit');
      },
    ),
  );
});

test('a character that arrives in two pieces is whole', () => {
  const body = new CutBody(100, () => true);
  const bytes = Buffer.from('a€b');
  body.add(bytes.subarray(0, 2));
  body.add(bytes.subarray(2));
  assert.equal(body.take().toString(), 'a€b');
});

test('bytes that are no text are cut at the limit', () => {
  const body = new CutBody(5, () => true);
  body.add(Buffer.alloc(9, 0x80));
  assert.equal(body.take().length, 5);
});

test('without memory a piece is refused', () => {
  const body = new CutBody(100, (bytes) => bytes <= 10);
  assert.equal(body.add('0123456789'), true);
  assert.equal(body.add('a longer piece'), false);
});
