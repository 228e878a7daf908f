import assert from 'node:assert/strict';
import test from 'node:test';
import sharp from 'sharp';
import { anyCharacter } from '../../../tests/support/any-text.ts';
import fc from '../../../tests/support/property.ts';
import { isDataUrl, readDataUrl } from './data-url.ts';

const bytesMax = 1_000_000;
const png = await sharp({ create: { width: 7, height: 5, channels: 4, background: 'blue' } })
  .png()
  .toBuffer();
const base64 = png.toString('base64');

function problemOf(text: string, options = { bytesMax }): string {
  const reading = readDataUrl(text, options);
  assert.equal(reading.kind, 'unreadable', text.slice(0, 60));
  return reading.problem;
}

test('an image with any trailing bytes is read byte for byte', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 3_000 }),
      fc.constantFrom('png', 'jpeg', 'jpg', 'webp', 'x-icon'),
      (tail, type) => {
        const bytes = Buffer.concat([png, tail]);
        const reading = readDataUrl(`data:image/${type};base64,${bytes.toString('base64')}`, {
          bytesMax,
        });
        assert.equal(reading.kind, 'image');
        assert.deepEqual(reading.image, { bytes, mediaType: 'image/png', width: 7, height: 5 });
      },
    ),
  );
});

test('any character outside the alphabet makes the data invalid base64', () => {
  const place = fc.nat(base64.length - 5);
  const foreign = fc
    .string({ unit: anyCharacter, minLength: 1, maxLength: 1 })
    .filter((text) => !/^[A-Za-z0-9+/]$/.test(text));
  fc.assert(
    fc.property(place, foreign, fc.boolean(), (at, character, isInserted) => {
      const data =
        base64.slice(0, at) + character + base64.slice(isInserted ? at : at + character.length);
      assert.match(problemOf(`data:image/png;base64,${data}`), /^is not base64/);
    }),
  );
});

test('padding that is missing, excessive or follows set bits is refused', () => {
  for (const tail of [
    'A',
    'AA',
    'AAA',
    'AAA==',
    'AA=',
    'A===',
    '====',
    'AB==',
    'AAB=',
    'AA==AAAA',
    '=AAA',
    'A=AA',
    'AAAA\n',
    ' ',
  ]) {
    assert.match(problemOf(`data:image/png;base64,${tail}`), /^is not base64/, tail);
    const whole = Buffer.concat([png, Buffer.alloc((3 - (png.length % 3)) % 3)]).toString('base64');
    assert.match(problemOf(`data:image/png;base64,${whole}${tail}`), /^is not base64/, tail);
  }
});

test('only the case of the data URL’s head may vary', () => {
  assert.equal(readDataUrl(`DATA:image/PNG;Base64,${base64}`, { bytesMax }).kind, 'image');
  for (const start of [
    'data:;base64,',
    'data:text/plain;base64,',
    'data:image/png,',
    'data:image/png;charset=x;base64,',
    'data:',
  ]) {
    assert.match(problemOf(start + base64), /^must begin with/, start);
  }
  assert.ok(isDataUrl('DaTa:x') && !isDataUrl('https://example.com/data:') && !isDataUrl(' data:'));
});

test('SVG and HTML with an image’s media type are refused', () => {
  for (const content of [
    '<svg xmlns="http://www.w3.org/2000/svg"/>',
    '<html></html>',
    '%PDF-1.7',
    '',
  ]) {
    const text = `data:image/png;base64,${Buffer.from(content).toString('base64')}`;
    assert.match(
      problemOf(text),
      content === '' ? /^is not base64/ : /^is not a PNG, JPEG, WebP or GIF image/,
    );
  }
  assert.match(
    problemOf(`data:image/svg+xml;base64,${Buffer.from('<svg/>').toString('base64')}`),
    /^is not a PNG/,
  );
});

test('the size limit is exact to the byte and needs no decoding', () => {
  const text = `data:image/png;base64,${base64}`;
  assert.equal(readDataUrl(text, { bytesMax: png.length }).kind, 'image');
  assert.equal(
    problemOf(text, { bytesMax: png.length - 1 }),
    `is ${png.length} bytes; at most ${png.length - 1} are accepted`,
  );
  // Refused before it is read: none of this is base64.
  assert.match(problemOf(`data:image/png;base64,${'!'.repeat(4_000_000)}`), /^is 3000000 bytes/);
});
