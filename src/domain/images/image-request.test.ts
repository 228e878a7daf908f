import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { ApiError } from '../../canonical/errors.ts';
import type { ImageModel } from '../../terms/image-model.ts';
import { editing, referring, shaped, sized } from '../../../tests/support/images/image-models.ts';
import { checkImageRequest, parseImageRequest } from './image-request.ts';

type Fields = Readonly<Record<string, unknown>>;

function read(fields: Fields, model: ImageModel) {
  return checkImageRequest(
    parseImageRequest({ model: model.id, prompt: 'a cat', ...fields }),
    model,
  );
}

function fault(run: () => unknown): ApiError {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof ApiError, String(error));
    assert.equal(error.code, 'invalid_request');
    return error;
  }
  throw new Error('the request was not refused');
}

const image = 'data:image/png;base64,AAAA';

test('images in the shape of OpenAI’s edits are their addresses', () => {
  assert.deepEqual(read({ images: [{ image_url: image }] }, editing).images, [image]);
  for (const given of [image, [image], { image_url: image }, { url: image, type: 'image_url' }])
    assert.deepEqual(read({ image: given }, editing).images, [image]);
});

describe('a field that is left out', () => {
  const names = 'aspect_ratio resolution size quality n images output_format response_format';
  const nothing = Object.fromEntries(names.split(' ').map((name) => [name, null]));
  const square = { width: 1_024, height: 1_024 };
  const cases: [what: string, model: ImageModel, fields: Fields, expected: Fields][] = [
    [
      'by a sized model',
      sized,
      {},
      { size: square, quality: 'medium', aspectRatio: null, resolution: null },
    ],
    [
      'by a shaped model',
      shaped,
      {},
      { size: null, quality: null, aspectRatio: '1:1', resolution: '1k' },
    ],
    [
      'as null',
      shaped,
      nothing,
      { aspectRatio: '1:1', resolution: '1k', count: 1, responseFormat: 'url' },
    ],
    [
      'as auto',
      sized,
      { size: 'auto', quality: 'auto', output_format: 'auto' },
      { quality: 'medium', outputFormat: null },
    ],
    ['as auto, of another family', shaped, { size: 'auto', quality: 'auto' }, { resolution: '1k' }],
  ];
  for (const [what, model, fields, expected] of cases) {
    test(`${what} has its default`, () => {
      const request = read(fields, model) as unknown as Fields;
      assert.deepEqual(
        Object.fromEntries(Object.keys(expected).map((name) => [name, request[name]])),
        expected,
      );
    });
  }
});

test('half of a character in a prompt becomes U+FFFD, as in requests of models', () => {
  assert.equal(read({ prompt: 'a cat \ud83d' }, sized).prompt, 'a cat \ufffd');
});

test('every requested field is read', () => {
  const fields = {
    size: '1536x1024',
    quality: 'high',
    n: 3,
    output_format: 'webp',
    response_format: 'b64_json',
    images: [image, 'https://x/y'],
    mask: { image_url: image },
  };
  const { body, ...request } = read(fields, referring);
  assert.deepEqual(body, { model: 'referring', prompt: 'a cat', ...fields });
  assert.deepEqual(request, {
    model: 'referring',
    prompt: 'a cat',
    images: [image, 'https://x/y'],
    mask: image,
    count: 3,
    size: { width: 1_536, height: 1_024 },
    quality: 'high',
    aspectRatio: null,
    resolution: null,
    outputFormat: 'webp',
    responseFormat: 'b64_json',
    ignored: [],
  });
  const { aspectRatio, resolution } = read({ aspect_ratio: '16:9', resolution: '4k' }, shaped);
  assert.deepEqual([aspectRatio, resolution], ['16:9', '4k']);
});

describe('an invalid field is refused with its name and allowed values', () => {
  const size =
    /<width>x<height>, each a multiple of 16 from 64 to 3840, in all at most 8294400 pixels, from 1:3 to 3:1/;
  const cases: [model: ImageModel, fields: Fields, param: string, message: RegExp][] = [
    [sized, { prompt: undefined }, 'prompt', /prompt is required/],
    [sized, { prompt: '' }, 'prompt', /prompt must not be empty/],
    [sized, { prompt: ' \n' }, 'prompt', /blanks only/],
    [sized, { prompt: 5 }, 'prompt', /must be a non-empty string; got 5/],
    [sized, { prompt: 'x'.repeat(51) }, 'prompt', /at most 50 characters; got 51/],
    [sized, { model: undefined }, 'model', /model is required/],
    [sized, { n: 0 }, 'n', /at least 1; got 0/],
    [sized, { n: 1.5 }, 'n', /whole number/],
    [sized, { n: '2' }, 'n', /whole number of at least 1; got "2"/],
    [sized, { n: 11 }, 'n', /from 1 to 10 for sized; got 11/],
    [sized, { quality: 'hd' }, 'quality', /must be low, medium or high; got "hd"/],
    [sized, { quality: 1 }, 'quality', /must be a string; got 1/],
    [sized, { output_format: 'svg' }, 'output_format', /must be png, jpeg or webp; got "svg"/],
    [shaped, { output_format: 'png' }, 'output_format', /must be left out for shaped/],
    [sized, { response_format: 'png' }, 'response_format', /`url` or `b64_json`; got "png"/],
    [shaped, { aspect_ratio: '5:1' }, 'aspect_ratio', /must be 1:1 or 16:9; got "5:1"/],
    [shaped, { resolution: '2K' }, 'resolution', /must be 1k, 2k or 4k; got "2K"/],
    [
      sized,
      { aspect_ratio: '1:1' },
      'aspect_ratio',
      /not a parameter of sized: .*gpt-image take size \(.*\) and quality \(low, medium or high\)/,
    ],
    [sized, { resolution: '1k' }, 'resolution', /not a parameter of sized/],
    [
      shaped,
      { size: '1024x1024' },
      'size',
      /take aspect_ratio \(1:1 or 16:9\) and resolution \(1k, 2k or 4k\)/,
    ],
    [shaped, { quality: 'low' }, 'quality', /not a parameter of shaped/],
    ...'1024,1024X1024,1024x,x1,01024x1024,1024x1024 ,1e3x1e3,-16x16,99999999x16,big'
      .split(',')
      .map((text): [ImageModel, Fields, string, RegExp] => [sized, { size: text }, 'size', size]),
    [sized, { size: '1000x1024' }, 'size', /"1000x1024" has a side that is no multiple of 16/],
    [sized, { size: '48x64' }, 'size', /too short/],
    [sized, { size: '3856x2048' }, 'size', /too long/],
    [sized, { size: '3840x2176' }, 'size', /has 8355840 pixels/],
    [sized, { size: '1040x336' }, 'size', /too narrow/],
    [sized, { size: '336x1040' }, 'size', /too narrow/],
    [sized, { images: [image] }, 'images', /must be left out for sized/],
    [
      editing,
      {},
      'images',
      /^images is required: exactly 1 image to edit for editing, .*; got none/,
    ],
    [editing, { images: [] }, 'images', /got none/],
    [editing, { images: [image, image] }, 'images', /^images must be exactly 1 image .*; got 2/],
    [referring, { images: [image, image, image, image] }, 'images', /1 to 3 images .*; got 4/],
    [editing, { images: image }, 'images', /must be an array/],
    [editing, { images: [{ file_id: 'f' }] }, 'images[0]', /non-empty string; got an object/],
    [editing, { image, images: [image] }, 'image', /left out beside `images`/],
    [{ ...editing, family: 'flux-2' }, { images: [image], mask: image }, 'mask', /not supported/],
    [sized, { mask: image }, 'mask', /not supported by sized/],
    [editing, { images: [image], mask: { file_id: 'f' } }, 'mask.image_url', /mask/],
    [sized, { stream: true }, 'stream', /not streamed/],
    [sized, { partial_images: 2 }, 'partial_images', /not streamed/],
    [sized, { background: 'transparent' }, 'background', /must be `auto` or `opaque`/],
  ];
  for (const [model, fields, param, message] of cases) {
    test(`${JSON.stringify(fields).slice(0, 60)} for ${model.id}`, () => {
      const error = fault(() => read(fields, model));
      assert.equal(error.param, param);
      assert.match(error.message, message);
      assert.ok(error.message.startsWith(param), error.message);
    });
  }

  for (const body of [null, 5, 'a', []]) {
    test(`${JSON.stringify(body)} is not a request`, () => {
      assert.match(fault(() => parseImageRequest(body)).message, /^the body must be an object/);
    });
  }
});

test('sizes at the limits are accepted', () => {
  for (const size of ['3840x2160', '2160x3840', '64x64', '1536x512', '512x1536', '1024x1536']) {
    const [width, height] = size.split('x').map(Number);
    assert.deepEqual(read({ size }, sized).size, { width, height });
  }
});

test('a size is accepted exactly when it keeps the rule', () => {
  const side = fc.oneof(
    fc.integer({ min: 1, max: 5_000 }),
    fc.integer({ min: 1, max: 260 }).map((units) => units * 16),
  );
  fc.assert(
    fc.property(side, side, (width, height) => {
      const [shorter, longer] = [Math.min(width, height), Math.max(width, height)];
      const isWhole = width % 16 === 0 && height % 16 === 0;
      const isWithin =
        isWhole &&
        shorter >= 64 &&
        longer <= 3_840 &&
        width * height <= 3_840 * 2_160 &&
        longer / shorter <= 3;
      if (isWithin)
        assert.deepEqual(read({ size: `${width}x${height}` }, sized).size, { width, height });
      else assert.equal(fault(() => read({ size: `${width}x${height}` }, sized)).param, 'size');
    }),
  );
});

test('harmless fields are dropped and listed, unless they ask for the default', () => {
  const harmless = {
    user: 'u',
    style: 'vivid',
    moderation: 'low',
    background: 'opaque',
    output_compression: 50,
    brand_new: [],
  };
  assert.deepEqual(read(harmless, sized).ignored, Object.keys(harmless));
  const withoutEffect = {
    moderation: 'auto',
    background: 'auto',
    stream: false,
    partial_images: 0,
    user: '',
    svg: null,
    mask: null,
  };
  assert.deepEqual(read(withoutEffect, sized).ignored, []);
});
