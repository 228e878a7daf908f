import assert from 'node:assert/strict';
import test from 'node:test';
import { anyCharacter } from '../../../tests/support/any-text.ts';
import fc from '../../../tests/support/property.ts';
import { createSecret } from '../../lib/secrets.ts';
import { newImageId } from './image-id.ts';
import { createImageLinks, imageFilesPath, type LinkParts } from './image-links.ts';

const [secret, another] = [
  createSecret('a secret of the tests, long enough'),
  createSecret('another secret of the tests'),
];
const links = createImageLinks([secret]);
const expiresAtSeconds = 1_795_903_200;
const before = expiresAtSeconds - 1;

function partsOf(link: string): LinkParts {
  const url = new URL(link);
  const { expires, signature } = Object.fromEntries(url.searchParams) as {
    expires: string;
    signature: string;
  };
  return { id: url.pathname.slice(imageFilesPath.length), expires, signature };
}

const link = fc.constantFrom('image/png', 'image/jpeg').map((mediaType) => {
  const id = newImageId({ expiresAtSeconds, mediaType });
  return links.sign('https://llm.example.com', { id, expiresAtSeconds });
});

test('a signed link is valid until its expiry', () => {
  fc.assert(
    fc.property(link, (text) => {
      assert.match(
        text,
        /^https:\/\/llm\.example\.com\/v1\/images\/files\/img_1795903200_\w{26}\.(png|jpg)\?expires=1795903200&signature=[\w-]{43}$/,
      );
      assert.equal(links.verify(partsOf(text), before), true);
      assert.equal(links.verify(partsOf(text), expiresAtSeconds), false);
    }),
  );
});

test('any change of id, expiry or signature is refused', () => {
  const change = fc.record({
    part: fc.constantFrom('id', 'expires', 'signature' as const),
    at: fc.nat(60),
    length: fc.nat(2),
    text: fc.oneof(
      fc.string({ unit: anyCharacter, maxLength: 2 }),
      fc.stringMatching(/^[0-9a-z]{0,2}$/),
    ),
  });
  fc.assert(
    fc.property(link, change, (text, { part, at, length, text: inserted }) => {
      const parts = partsOf(text);
      const value = parts[part];
      const start = at % (value.length + 1);
      const changed = value.slice(0, start) + inserted + value.slice(start + length);
      fc.pre(changed !== value);
      assert.equal(links.verify({ ...parts, [part]: changed }, before), false);
    }),
    { numRuns: 2_000 },
  );
});

test('a made-up signature or one of another image, expiry or secret is refused', () => {
  const first = partsOf(fc.sample(link, 1)[0]!);
  const second = partsOf(fc.sample(link, 1)[0]!);
  assert.equal(links.verify({ ...first, signature: second.signature }, before), false);
  assert.equal(links.verify({ ...first, expires: '9999999999' }, before), false);
  for (const signature of [
    '',
    'undefined',
    'A'.repeat(43),
    `${first.signature}=`,
    first.signature.toUpperCase(),
  ]) {
    assert.equal(links.verify({ ...first, signature }, before), false);
  }
  assert.equal(createImageLinks([another]).verify(first, before), false);
});
