import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ApiError } from '../../canonical/errors.ts';
import { readEditForm, type FormPart } from './edit-form.ts';
import { editing } from '../../../tests/support/images/image-models.ts';
import { checkImageRequest, parseImageRequest } from './image-request.ts';

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const pngUrl = `data:image/png;base64,${png.toString('base64')}`;
const text = (name: string, value: string): FormPart => ({ name, kind: 'text', text: value });
const file = (name: string, bytes = png): FormPart => ({ name, kind: 'file', bytes });

test('the form of OpenAI’s clients becomes the equivalent JSON request', () => {
  const form = [
    file('image'),
    text('model', 'editing'),
    text('prompt', '5'),
    text('n', '2'),
    text('quality', 'low'),
    text('stream', 'false'),
    text('partial_images', '0'),
  ];
  const body = readEditForm(form);
  const fields = {
    model: 'editing',
    prompt: '5',
    n: 2,
    quality: 'low',
    stream: false,
    partial_images: 0,
    images: [pngUrl],
  };
  assert.deepEqual(body, fields);
  assert.equal(checkImageRequest(parseImageRequest(body), editing).count, 2);
});

test('images keep their order under every accepted name, files and URLs alike', () => {
  const form = [
    file('image[]'),
    text('image[]', 'https://x/1.png'),
    file('image[2]'),
    text('images', 'https://x/2.png'),
  ];
  assert.deepEqual(readEditForm(form), {
    images: [pngUrl, 'https://x/1.png', pngUrl, 'https://x/2.png'],
  });
});

test('a mask may be in a list, as images are', () => {
  assert.deepEqual(readEditForm([file('mask[]')]), { mask: pngUrl });
  assert.throws(() => readEditForm([file('mask'), file('mask[]')]), /mask is given twice/);
});

test('a form without images has no `images` field, and `__proto__` is an ordinary field name', () => {
  assert.deepEqual(Object.entries(readEditForm([text('__proto__', 'x'), text('n', 'two')])), [
    ['__proto__', 'x'],
    ['n', 'two'],
  ]);
});

describe('refused', () => {
  const cases: [what: string, parts: FormPart[], param: string, message: RegExp][] = [
    [
      'a file that is not an image',
      [file('image'), file('image[]', Buffer.from('<svg/>'))],
      'image[]',
      /^image 2 of the form is not a PNG/,
    ],
    ['a file under another name', [file('photo')], 'photo', /files are sent as `image`/],
    ['a field twice', [text('n', '1'), text('n', '2')], 'n', /n is given twice/],
  ];
  for (const [what, parts, param, message] of cases) {
    test(what, () => {
      assert.throws(
        () => readEditForm(parts),
        (error) =>
          error instanceof ApiError && error.param === param && message.test(error.message),
      );
    });
  }

  test('a mask that is no image', () => {
    const svg = { name: 'mask', kind: 'file', bytes: Buffer.from('<svg/>') } as const;
    assert.throws(() => readEditForm([file('image'), svg]), /mask is not a PNG/);
  });
});
