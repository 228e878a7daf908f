// Stores images in a bucket of any S3-compatible service, for any number of gateways: `<prefix><day
// of expiry>/<id>`. Only keys in our own format are ever read or removed.
import type { Readable } from 'node:stream';
import type { buildConnector } from 'undici';
import { parseImageId } from './image-id.ts';
import {
  imagePlaces,
  type ByteRange,
  type ImageStore,
  type ImageStoreOptions,
} from './image-store.ts';
import { openBucket, type Bucket, type BucketRequests } from './s3-requests.ts';

type S3StoreOptions = ImageStoreOptions & {
  readonly bucket: Bucket;
  /** Prepended to every key: '' or with a slash at its end. */
  readonly prefix: string;
  readonly connect?: buildConnector.connector;
};

export function openS3Store({ bucket, prefix, connect, ...options }: S3StoreOptions): ImageStore {
  const requests = openBucket(bucket, { clock: options.clock, connect });
  const places = imagePlaces(options);
  return {
    put: async ({ bytes, mediaType }) => {
      const { image, folder } = places.next(mediaType);
      const key = `${prefix}${folder}/${image.id}`;
      const headers = { 'content-type': mediaType, 'content-length': String(bytes.length) };
      await requests.sendForText({ method: 'PUT', key, headers, body: bytes });
      return image;
    },
    find: async (id) => {
      const found = places.locate(id);
      if (!found) return null;
      const { status, headers, body } = await requests.send({
        method: 'HEAD',
        key: prefix + found.place,
        expected: [404],
      });
      await body.dump();
      return status === 404
        ? null
        : { mediaType: found.mediaType, sizeBytes: Number(headers['content-length']) };
    },
    read: async (id, range) => {
      const found = places.locate(id);
      return found && readObject(requests, prefix + found.place, range);
    },
    removeExpired: async (signal) => {
      for (const day of await listFolders(requests, prefix)) {
        if (places.isOver(day)) await removeDay(requests, `${prefix}${day}/`, signal);
      }
    },
    close: () => requests.close(),
  };
}

async function readObject(
  requests: BucketRequests,
  key: string,
  range: ByteRange | null,
): Promise<Readable | null> {
  const headers: Record<string, string> = range
    ? { range: `bytes=${range.start}-${range.end}` }
    : {};
  const { status, body } = await requests.send({
    method: 'GET',
    key,
    headers,
    expected: [206, 404],
  });
  if (status === (range ? 206 : 200)) return body;
  await body.dump();
  if (status === 404) return null;
  throw new Error(
    `the bucket answered a GET ${range ? 'with' : 'without'} a range with status ${status}`,
  );
}

/**
 * Returns the first thousand folders below the prefix. We have only a few more folders than days of an
 * image's lifetime.
 */
async function listFolders(requests: BucketRequests, prefix: string): Promise<string[]> {
  const query = { 'list-type': '2', delimiter: '/', ...(prefix !== '' && { prefix }) };
  const listing = await requests.sendForText({ method: 'GET', key: '', query });
  return [...listing.matchAll(/<CommonPrefixes>\s*<Prefix>([^<]*)<\/Prefix>/g)].map(([, folder]) =>
    folder!.slice(0, -1).split('/').at(-1)!,
  );
}

/**
 * Removes the images of a day. Repeating the query returns the next ones. It ends when a list has
 * none of ours.
 */
async function removeDay(
  requests: BucketRequests,
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const query = { 'list-type': '2', 'max-keys': '100', prefix: folder };
    const listing = await requests.sendForText({ method: 'GET', key: '', query });
    const names = [...listing.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key]) =>
      key!.split('/').at(-1)!,
    );
    const ids = names.filter((name) => parseImageId(name) !== null);
    if (ids.length === 0) return;
    for (const id of ids) {
      if (signal.aborted) return;
      await requests.sendForText({ method: 'DELETE', key: folder + id, expected: [204, 404] });
    }
  }
}
