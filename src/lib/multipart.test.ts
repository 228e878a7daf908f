import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeForm } from './multipart.ts';

test('any parser reads the form back, whatever bytes it carries', async () => {
  const odd = Buffer.from('\r\n--\r\n\0');
  const fileOf = (name: string, pieces: readonly Buffer[]) => ({
    field: 'image[]',
    name,
    mediaType: 'image/png',
    bytes: Buffer.concat(pieces).length,
    pieces: () => pieces,
  });
  const files = [fileOf('image-1.png', [odd]), fileOf('image-2.png', [odd, odd])];
  const body = writeForm(
    [
      ['prompt', 'a "café"\r\n'],
      ['n', '2'],
    ],
    files,
  );
  const bytes = Buffer.concat(await Array.fromAsync(body.pieces()));
  assert.equal(bytes.length, body.bytes);
  const form = await new Response(bytes, { headers: body.headers }).formData();
  assert.deepEqual([form.get('prompt'), form.get('n')], ['a "café"\r\n', '2']);
  const read = form.getAll('image[]') as File[];
  assert.deepEqual(
    read.map(({ name, type }) => [name, type]),
    files.map(({ name, mediaType }) => [name, mediaType]),
  );
  assert.deepEqual(Buffer.from(await read[1]!.arrayBuffer()), Buffer.concat([odd, odd]));
});
