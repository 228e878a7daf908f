import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readMediaUrl } from '../formats/media-url.ts';
import { readImage } from '../formats/messages/media.ts';

test('every format reads a media type in lower case, and image/jpg as image/jpeg', () => {
  for (const [written, read] of [
    ['image/PNG', 'image/png'],
    ['Image/jpg', 'image/jpeg'],
    ['image/pjpeg', 'image/jpeg'],
    ['Application/PDF', 'application/pdf'],
  ] as const) {
    const source = { kind: 'base64', mediaType: read, data: 'AA==' };
    const url = `data:${written};base64,AA==`;
    assert.deepEqual(readMediaUrl(url, 'image'), source);
    const block = { type: 'base64', media_type: written, data: 'AA==' } as const;
    assert.deepEqual(readImage({ type: 'image', source: block }, 'x').source, source);
  }
});
