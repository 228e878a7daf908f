// One suite for every image store: the folder, and a bucket with both address styles.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import test, { after } from 'node:test';
import { checkedConnector } from '../../src/lib/checked-connector.ts';
import { newImageId, parseImageId } from '../../src/domain/images/image-id.ts';
import type { ImageStore } from '../../src/domain/images/image-store.ts';
import { openLocalStore } from '../../src/domain/images/local-store.ts';
import { openS3Store } from '../../src/domain/images/s3-store.ts';
import type { ImageBytes } from '../../src/lib/image.ts';
import { SleeplessClock } from '../support/test-clock.ts';
import { s3Bucket, s3Credentials, s3Region, startS3Server } from '../support/s3-server.ts';

const daySeconds = 86_400;
const keepSeconds = 7 * daySeconds;
const clock = new SleeplessClock();
const folder = mkdtempSync(join(tmpdir(), 'images-'));

const image: ImageBytes = {
  bytes: Buffer.from('0123456789'.repeat(20_000)),
  mediaType: 'image/webp',
  width: 1,
  height: 1,
};
const open = { keepSeconds, clock };
const never = new AbortController().signal;

function openBucketStore(changes: object = {}, prefix = 'tollgate/images/') {
  const endpoint = `http://s3.test:${s3.port}`;
  const bucket = {
    endpoint,
    region: s3Region,
    bucket: s3Bucket,
    pathStyle: true,
    ...s3Credentials,
    ...changes,
  };
  // Every host name resolves to the server on this machine.
  return openS3Store({ ...open, prefix, bucket, connect: checkedConnector(['127.0.0.1']) });
}

type Kind = { readonly open: () => ImageStore; readonly names: () => string[] };

const kinds: Readonly<Record<string, Kind>> = {
  'a folder': {
    open: () => openLocalStore({ ...open, folder: join(folder, 'images') }),
    names: () =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ name }) => name),
  },
  'a bucket in the path': {
    open: () => openBucketStore(),
    names: () => [...s3.objects.keys()].map((key) => key.split('/').at(-1)!),
  },
  'a bucket before the host': {
    open: () => openBucketStore({ pathStyle: false }, ''),
    names: () => [...s3.objects.keys()].map((key) => key.split('/').at(-1)!),
  },
};

const s3 = await startS3Server();

after(() => {
  s3.close();
  rmSync(folder, { recursive: true });
});

for (const [name, kind] of Object.entries(kinds)) {
  const withStore = async (use: (store: ImageStore) => Promise<void>) => {
    s3.objects.clear();
    rmSync(join(folder, 'images'), { recursive: true, force: true });
    const store = kind.open();
    try {
      await use(store);
    } finally {
      await store.close();
    }
  };

  test(`${name}: a stored image is found and read, completely and in part`, () =>
    withStore(async (store) => {
      const { id, expiresAtSeconds } = await store.put(image);
      assert.equal(expiresAtSeconds, Math.floor(clock.nowMs() / 1_000) + keepSeconds);
      assert.deepEqual(parseImageId(id), { expiresAtSeconds, mediaType: 'image/webp' });
      assert.deepEqual(await store.find(id), {
        mediaType: 'image/webp',
        sizeBytes: image.bytes.length,
      });
      assert.ok((await buffer((await store.read(id, null))!)).equals(image.bytes));
      for (const [start, end] of [
        [0, 0],
        [5, 14],
        [199_999, 199_999],
        [0, 199_999],
      ] as const) {
        const part = await buffer((await store.read(id, { start, end }))!);
        assert.ok(part.equals(image.bytes.subarray(start, end + 1)), `${start}-${end}`);
      }
      assert.deepEqual(kind.names(), [id]);
    }));

  test(`${name}: ids are unique, and an invalid or foreign id finds nothing`, () =>
    withStore(async (store) => {
      const ids = (await Promise.all(Array.from({ length: 20 }, () => store.put(image)))).map(
        ({ id }) => id,
      );
      assert.equal(new Set(ids).size, 20);
      const { expiresAtSeconds, mediaType } = parseImageId(ids[0]!)!;
      const others = [
        newImageId({ expiresAtSeconds, mediaType }),
        ids[0]!.replace('.webp', '.png'),
        `${ids[0]}.part`,
        `../${ids[0]}`,
      ];
      for (const id of [
        ...others,
        '',
        '.',
        '..',
        '../../secret',
        '/etc/passwd',
        `x/${ids[0]}`,
        `${ids[0]}\0`,
        ids[0]!.toUpperCase(),
      ]) {
        assert.equal(await store.find(id), null, id);
        assert.equal(await store.read(id, null), null, id);
      }
    }));

  test(`${name}: an image is available until its expiry, and its bytes until the end of that day`, () =>
    withStore(async (store) => {
      const first = await store.put(image);
      clock.jumpTo(clock.nowMs() + 2 * daySeconds * 1_000);
      const second = await store.put(image);
      clock.jumpTo(first.expiresAtSeconds * 1_000 - 1);
      assert.ok(await store.find(first.id));
      clock.jumpTo(first.expiresAtSeconds * 1_000);
      assert.equal(await store.find(first.id), null);
      assert.equal(await store.read(first.id, null), null);
      await store.removeExpired(never);
      assert.equal(kind.names().length, 2);
      clock.jumpTo(clock.nowMs() + daySeconds * 1_000);
      await store.removeExpired(never);
      assert.deepEqual(kind.names(), [second.id]);
      await store.removeExpired(never);
      assert.ok(await store.find(second.id));
    }));

  test(`${name}: a removal handles any number of images, and stops when aborted`, () =>
    withStore(async (store) => {
      for (let count = 0; count < 250; count++)
        await store.put({ ...image, bytes: Buffer.from('small') });
      clock.jumpTo(clock.nowMs() + (keepSeconds + daySeconds) * 1_000);
      await store.removeExpired(AbortSignal.abort());
      assert.equal(kind.names().length, 250);
      await store.removeExpired(never);
      assert.deepEqual(kind.names(), []);
    }));

  test(`${name}: without expired images, or without any, nothing is removed`, () =>
    withStore(async (store) => store.removeExpired(never)));
}

test('the folder: files are private to their owner, and foreign files are not removed', async () => {
  const store = openLocalStore({ ...open, folder: join(folder, 'images') });
  const { id, expiresAtSeconds } = await store.put(image);
  const day = new Date(expiresAtSeconds * 1_000).toISOString().slice(0, 10).replaceAll('-', '');
  assert.equal(statSync(join(folder, 'images', day, id)).mode & 0o777, 0o600);
  mkdirSync(join(folder, 'images', 'notes'));
  writeFileSync(join(folder, 'images', 'notes', 'mine.txt'), 'kept');
  // Remains of an image after a power cut are removed with its day.
  writeFileSync(join(folder, 'images', day, `${id}.part`), 'half');
  clock.jumpTo(clock.nowMs() + (keepSeconds + daySeconds) * 1_000);
  await store.removeExpired(never);
  assert.deepEqual(readdirSync(join(folder, 'images')), ['notes']);
  assert.deepEqual(readdirSync(join(folder, 'images', 'notes')), ['mine.txt']);
});

test('a bucket: only our own object keys are removed', async () => {
  s3.objects.clear();
  const store = openBucketStore();
  await store.put(image);
  const foreign = [
    'tollgate/images/20200101/mine.txt',
    'tollgate/images/2020/x',
    'tollgate/images/readme',
    'other/20200101/y',
  ];
  for (const key of foreign)
    s3.objects.set(key, { bytes: Buffer.from('kept'), type: 'text/plain' });
  clock.jumpTo(clock.nowMs() + (keepSeconds + daySeconds) * 1_000);
  await store.removeExpired(never);
  assert.deepEqual([...s3.objects.keys()].toSorted(), foreign.toSorted());
  await store.close();
});

test('a bucket: a transient error is retried, and a refusal is reported to the operator with its code', async () => {
  const store = openBucketStore();
  Object.assign(s3.failNext, { count: 2, status: 503 });
  s3.log.length = 0;
  const { id } = await store.put(image);
  assert.deepEqual(s3.log, ['PUT 503', 'PUT 503', 'PUT 200']);
  assert.ok((await buffer((await store.read(id, null))!)).equals(image.bytes));
  Object.assign(s3.failNext, { count: 3, status: 500 });
  await assert.rejects(
    store.put(image),
    /^Error: the bucket answered PUT with status 500 \(SlowDown\)$/,
  );
  await store.close();
  for (const [changes, code] of [
    [{ secretAccessKey: 'wrong' }, 'SignatureDoesNotMatch'],
    [{ accessKeyId: 'other' }, 'InvalidAccessKeyId'],
    [{ region: 'us-east-1' }, 'AuthorizationHeaderMalformed'],
    [{ bucket: 'none' }, 'NoSuchBucket'],
  ] as const) {
    const other = openBucketStore(changes);
    await assert.rejects(other.put(image), new RegExp(code));
    await other.close();
  }
});
