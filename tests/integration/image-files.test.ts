// Stored images over HTTP, from the data folder and from a bucket.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import test, { after, before, describe } from 'node:test';
import sharp from 'sharp';
import { loadSecrets } from '../../src/config/secret.ts';
import { createImageLinks } from '../../src/domain/images/image-links.ts';
import type { ImageStore } from '../../src/domain/images/image-store.ts';
import { openLocalStore } from '../../src/domain/images/local-store.ts';
import { openS3Store } from '../../src/domain/images/s3-store.ts';
import { readImage, type ImageBytes } from '../../src/lib/image.ts';
import { baseUrlOf } from '../../src/server/server-url.ts';
import { open, send } from '../support/http.ts';
import { serverSocketOf } from '../support/server-socket.ts';
import { startRunningApp, type RunningApp } from '../support/running-app.ts';
import { s3Bucket, s3Credentials, s3Region, startS3Server } from '../support/s3-server.ts';
import { TestClock } from '../support/test-clock.ts';
import { until } from '../support/until.ts';

const png = await sharp({
  create: {
    width: 640,
    height: 480,
    channels: 3,
    noise: { type: 'gaussian', mean: 128, sigma: 50 },
    background: 'red',
  },
})
  .png()
  .toBuffer();
const reading = readImage(png);
assert(reading.kind === 'image');
const { image } = reading;
const keepSeconds = 7 * 86_400;
const stallMs = 400;
const s3 = await startS3Server();
after(() => s3.close());

type Kind = {
  readonly storage: object;
  readonly open: (app: RunningApp, clock: TestClock) => ImageStore;
};

const endpoint = `http://127.0.0.1:${s3.port}`;
const kinds: Readonly<Record<string, Kind>> = {
  'a folder': {
    storage: { kind: 'local' },
    open: ({ dataDir }, clock) =>
      openLocalStore({ folder: join(dataDir, 'images'), keepSeconds, clock }),
  },
  'a bucket': {
    storage: {
      kind: 's3',
      bucket: s3Bucket,
      region: s3Region,
      endpoint,
      access_key_id: s3Credentials.accessKeyId,
      secret_access_key: s3Credentials.secretAccessKey,
    },
    open: (_app, clock) => {
      const bucket = {
        endpoint,
        region: s3Region,
        bucket: s3Bucket,
        pathStyle: true,
        ...s3Credentials,
      };
      return openS3Store({ bucket, prefix: 'tollgate/images/', keepSeconds, clock });
    },
  },
};

for (const [name, kind] of Object.entries(kinds)) {
  describe(name, () => {
    const clock = new TestClock();
    let app: RunningApp;
    before(async () => {
      app = await startRunningApp({
        config: { storage: kind.storage },
        tuning: { stallMs },
        clock,
      });
    });
    after(() => app.stop());

    /** Stores and signs it as the gateway does, `ageSeconds` ago. */
    async function store(what: ImageBytes = image, ageSeconds = 0): Promise<string> {
      const images = kind.open(app, new TestClock(clock.nowMs() - ageSeconds * 1_000));
      const stored = await images.put(what);
      await images.close();
      const secrets = loadSecrets(app.env, app.dataDir, { isShared: false });
      return createImageLinks(secrets).sign(app.url, stored);
    }

    test('a link shows the image without a key, with headers for browsers and caches', async () => {
      const link = await store();
      const answer = await fetch(link);
      assert.equal(answer.status, 200);
      assert.ok(Buffer.from(await answer.arrayBuffer()).equals(png));
      const id = new URL(link).pathname.split('/').at(-1)!;
      const head = Object.fromEntries(answer.headers);
      assert.equal(head['content-type'], 'image/png');
      assert.equal(head['content-length'], String(png.length));
      assert.equal(head['x-content-type-options'], 'nosniff');
      assert.equal(head['content-security-policy'], "default-src 'none'; sandbox");
      assert.equal(head['content-disposition'], `inline; filename="${id}"`);
      assert.equal(head['etag'], `"${id}"`);
      assert.equal(head['accept-ranges'], 'bytes');
      assert.equal(head['cache-control'], `private, max-age=${keepSeconds}, immutable`);
    });

    test('HEAD returns the same headers without the bytes', async () => {
      const link = await store();
      const [whole, head] = await Promise.all([fetch(link), fetch(link, { method: 'HEAD' })]);
      const without = ({ headers }: Response) => {
        // Headers of the connection, and those that differ per request.
        const others = ['date', 'x-request-id', 'cache-control', 'connection', 'keep-alive'];
        return [...headers].filter(([header]) => !others.includes(header));
      };
      assert.equal(head.status, 200);
      assert.deepEqual(without(head), without(whole));
      assert.equal((await head.arrayBuffer()).byteLength, 0);
      await whole.arrayBuffer();
    });

    test('a range is a 206, one beyond the end a 416, and anything else gets the whole image', async () => {
      const link = await store();
      const size = png.length;
      for (const [range, start, end] of [
        ['bytes=0-99', 0, 99],
        ['bytes=100-', 100, size - 1],
        ['bytes=-10', size - 10, size - 1],
        [`bytes=${size - 1}-${size + 5}`, size - 1, size - 1],
      ] as const) {
        const part = await fetch(link, { headers: { range } });
        assert.equal(part.status, 206, range);
        assert.equal(part.headers.get('content-range'), `bytes ${start}-${end}/${size}`);
        assert.equal(part.headers.get('content-length'), String(end - start + 1));
        assert.ok(
          Buffer.from(await part.arrayBuffer()).equals(png.subarray(start, end + 1)),
          range,
        );
      }
      const beyond = await fetch(link, { headers: { range: `bytes=${size}-` } });
      assert.deepEqual(
        [beyond.status, beyond.headers.get('content-range')],
        [416, `bytes */${size}`],
      );
      for (const headers of [
        { range: 'bytes=0-1,4-5' },
        { range: 'bytes=5-1' },
        { range: 'bytes=0-1', 'if-range': '"other"' },
      ]) {
        const whole = await fetch(link, { headers });
        assert.deepEqual([whole.status, (await whole.arrayBuffer()).byteLength], [200, size]);
      }
    });

    test('an image that the client already has is not sent again', async () => {
      const link = await store();
      const etag = (await fetch(link, { method: 'HEAD' })).headers.get('etag')!;
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const answer = await fetch(link, { headers: { 'if-none-match': known } });
        assert.deepEqual([answer.status, (await answer.arrayBuffer()).byteLength], [304, 0], known);
      }
      assert.equal((await fetch(link, { headers: { 'if-none-match': '"other"' } })).status, 200);
    });

    test('anything but the exact link is a 404 without a reason', async () => {
      const link = await store();
      const url = new URL(link);
      const change = (edit: (url: URL) => void) => {
        const changed = new URL(link);
        edit(changed);
        return changed.href;
      };
      const [path, signature] = [url.pathname, url.searchParams.get('signature')!];
      const other = await store();
      const wrong = {
        'no signature': url.origin + path,
        'another signature': change(({ searchParams }) =>
          searchParams.set(
            'signature',
            signature.replace(/^./, (a) => (a === 'A' ? 'B' : 'A')),
          ),
        ),
        'a signature twice': `${link}&signature=${signature}`,
        'the signature of another image': change(
          (changed) => (changed.pathname = new URL(other).pathname),
        ),
        'a later expiry': change(({ searchParams }) =>
          searchParams.set('expires', String(Number(url.searchParams.get('expires')) + 1)),
        ),
        'a way out of the folder': `${url.origin}/v1/images/files/..%2f..%2fsecret${url.search}`,
        expired: await store(image, keepSeconds + 1),
      };
      const bodies = new Set<string>();
      for (const [what, href] of Object.entries(wrong)) {
        const answer = await fetch(href);
        assert.equal(answer.status, 404, what);
        assert.equal(answer.headers.get('cache-control'), 'no-store');
        const { error } = (await answer.json()) as { error: object };
        bodies.add(JSON.stringify({ ...error, request_id: null }));
      }
      assert.equal(bodies.size, 1, [...bodies].join('\n'));
      assert.equal((await send(`${url.origin}/v1/images/files/${url.search}`)).status, 404);
      assert.equal((await send(link, { body: '{}' })).status, 405);
    });

    // Only the kernel knows how much of its last write a socket has accepted, so this uses real
    // time.
    test('a stalled reader is disconnected, a slow one is not', async () => {
      const large = await store({
        ...image,
        bytes: Buffer.concat([png, Buffer.alloc(40_000_000)]),
      });
      const url = new URL(large);
      const socket = connect(Number(url.port), url.hostname);
      socket.on('error', () => {});
      socket.write(`GET ${url.pathname}${url.search} HTTP/1.1\r\nhost: x\r\n\r\n`);
      await once(socket, 'readable');
      socket.pause();
      const gatewaySocket = serverSocketOf(socket);
      await until(() => gatewaySocket.destroyed);
      let bytes = 0;
      socket.on('data', (chunk: Buffer) => (bytes += chunk.length));
      const closed = once(socket, 'close');
      socket.resume();
      await closed;
      assert.ok(bytes < 40_000_000, `${bytes} bytes came`);

      let taken = 0;
      for await (const chunk of await open(large).response) {
        const pauses = Math.floor(taken / 2_000_000);
        taken += (chunk as Buffer).length;
        // All pauses together exceed the time that a reader may be idle.
        if (Math.floor(taken / 2_000_000) > pauses) await sleep(stallMs / 10);
      }
      assert.equal(taken, png.length + 40_000_000);
    });
  });
}

test('links use the public address or, without one, the address of the request', () => {
  const request = { protocol: 'http' as const, host: '127.0.0.1:4000' };
  assert.equal(baseUrlOf('https://llm.example.com', request), 'https://llm.example.com');
  assert.equal(baseUrlOf(null, request), 'http://127.0.0.1:4000');
});
