// A request's input images: data URLs, public URLs and links to our own images, several at once.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after, before } from 'node:test';
import sharp from 'sharp';
import { ApiError } from '../../src/canonical/errors.ts';
import { FetchedBytes } from '../../src/domain/images/fetched-bytes.ts';
import { createImageLinks } from '../../src/domain/images/image-links.ts';
import { openLocalStore } from '../../src/domain/images/local-store.ts';
import { fetchWithOwnLinks } from '../../src/domain/images/own-links.ts';
import { readInputImages } from '../../src/domain/images/read-input-images.ts';
import { createSafeFetch } from '../../src/domain/images/safe-fetch.ts';
import { readImage } from '../../src/lib/image.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createSecret } from '../../src/lib/secrets.ts';

const draw = (width: number) =>
  sharp({ create: { width, height: 4, channels: 3, background: 'green' } });
const png = await draw(1).png().toBuffer();
const jpeg = await draw(2).jpeg().toBuffer();
const dataUrl = `data:image/png;base64,${png.toString('base64')}`;

let answer: RequestListener = (_request, response) => response.end(jpeg);
const server = createServer((request, response) => answer(request, response));
const folder = mkdtempSync(join(tmpdir(), 'inputs-'));
const store = openLocalStore({ folder, keepSeconds: 3_600, clock: systemClock });
const links = createImageLinks([createSecret('the secret of this installation')]);
let url = '';

before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
after(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

function read(
  texts: readonly string[],
  changes: Partial<Parameters<typeof readInputImages>[1]> = {},
) {
  const fetcher = fetchWithOwnLinks({
    links,
    store,
    nowMs: systemClock.nowMs,
    fetcher: createSafeFetch({ allowedHosts: [new URL(url).host], clock: systemClock }),
  });
  return readInputImages(texts, {
    max: 16,
    fetcher,
    signal: new AbortController().signal,
    memory: new FetchedBytes(1).enter('a'),
    field: 'images',
    ...changes,
  });
}

async function refusal(work: Promise<unknown>): Promise<{ param: string | null; message: string }> {
  const error = await work.then(
    () => assert.fail('it was read'),
    (reason: unknown) => reason,
  );
  assert(error instanceof ApiError, String(error));
  assert.equal(error.status, 400);
  return { param: error.param, message: error.message };
}

test('all images are returned in order, fetched in parallel', async () => {
  const waiting: (() => void)[] = [];
  // No request is answered before all have arrived.
  answer = (request, response) => {
    waiting.push(
      () =>
        void draw(Number(request.url!.slice(1)))
          .png()
          .toBuffer()
          .then((bytes) => response.end(bytes)),
    );
    if (waiting.length === 3) for (const go of waiting.toReversed()) go();
  };
  const images = await read([`${url}11`, dataUrl, `${url}12`, `${url}13`]);
  assert.deepEqual(
    images.map(({ width, mediaType }) => [width, mediaType]),
    [11, 1, 12, 13].map((width) => [width, 'image/png']),
  );
  assert.deepEqual(await read([]), []);
});

test('a link to our own image is read from the store while its signature is valid', async () => {
  const reading = readImage(jpeg);
  assert(reading.kind === 'image');
  // At an address without a listener.
  const link = links.sign('http://127.0.0.1:1', await store.put(reading.image));
  const [image] = await read([link]);
  assert.ok(image!.bytes.equals(jpeg));
  assert.match((await refusal(read([link.replace(/.$/, '~')]))).message, /must use port 80 or 443/);
  assert.match(
    (await refusal(read([link], { bytesMaxEach: 100 }))).message,
    /larger than 100 bytes/,
  );
  assert.match(
    (await refusal(read([link, link], { bytesMaxTotal: jpeg.length * 2 - 1 }))).message,
    /together/,
  );
});

test('the error names the faulty image, what is wrong and what to send', async () => {
  answer = (_request, response) => response.writeHead(403).end('a secret of the inside');
  const remedy =
    'Give the public URL of a PNG, JPEG, WebP or GIF image of at most 20971520 bytes, or the image itself as `data:image/<type>;base64,<data>`.';
  for (const [text, problem] of [
    [url, 'could not be fetched: its host answered with status 403'],
    ['http://10.0.0.1/', 'must lead to a public address, and its host does not resolve to one'],
    [
      'cat.png',
      'is not a URL that begins with http:// or https://, without a user name or password',
    ],
    ['data:image/svg+xml;base64,PHN2Zy8+', 'is not a PNG, JPEG, WebP or GIF image'],
  ] as const) {
    assert.deepEqual(await refusal(read([dataUrl, dataUrl, text])), {
      param: 'images[2]',
      message: `\`images[2]\` ${problem}. ${remedy}`,
    });
  }
});

test('the number of images, the bytes of each and of all have limits', async () => {
  answer = (_request, response) => response.end(jpeg);
  assert.deepEqual(await refusal(read([dataUrl, dataUrl, dataUrl], { max: 2 })), {
    param: 'images',
    message: '`images` must have at most 2 images; got 3. Send fewer.',
  });
  assert.match(
    (await refusal(read([dataUrl, url], { bytesMaxEach: jpeg.length - 1 }))).message,
    /^`images\[1\]` is larger than/,
  );
  const bytes = png.length + jpeg.length;
  assert.equal((await read([dataUrl, url], { bytesMaxTotal: bytes })).length, 2);
  const { param, message } = await refusal(read([dataUrl, url], { bytesMaxTotal: bytes - 1 }));
  assert.equal(param, 'images[1]');
  assert.match(
    message,
    new RegExp(`makes the images of this request larger than ${bytes - 1} bytes together`),
  );
});

test('one failure aborts the others, and a caller that gives up aborts all', async () => {
  let [open, closed] = [0, 0];
  const allClosed = Promise.withResolvers<void>();
  const caller = new AbortController();
  answer = (_request, response) => {
    open++;
    response.on('close', () => ++closed === open && allClosed.resolve());
    response.write(jpeg.subarray(0, 20));
    if (open === 4) caller.abort(new Error('the client left'));
  };
  const failing = read([url, url, 'http://127.0.0.1:9/']);
  assert.equal((await refusal(failing)).param, 'images[2]');
  await assert.rejects(read([url, url, url, url], { signal: caller.signal }), /the client left/);
  await allClosed.promise;
  assert.equal(closed, open);
});
