// Buckets in which clouds read the lines of batches and write their results. A path that begins with
// `bucket:` is one of the service with the bucket.
import { unreadable } from '../../canonical/upstream-broken.ts';
import type { ProviderPlace } from '../provider.ts';
import type { BatchAddress, HostCalls, ToSend } from './host.ts';

export type BatchCloud = {
  /** With its scheme, and a folder or none: `s3://bucket/folder`. */
  readonly bucket: string;
  /** The ARN of the role with which the cloud opens the bucket; null: it needs none. */
  readonly role: string | null;
  readonly place: ProviderPlace;
  readonly baseUrl: string;
  /** As in BatchHost, for Bedrock. */
  readonly linesMin: number;
};

const prefix = 'bucket:';

/** `api`, `bucket`: where they are. */
export function addressesOf(
  api: Omit<BatchAddress, 'path'>,
  bucket: Omit<BatchAddress, 'path'>,
): (path: string) => BatchAddress {
  return (path) =>
    path.startsWith(prefix) ? { ...bucket, path: path.slice(prefix.length) } : { ...api, path };
}

/** `s3://bucket/a b` → `bucket:/bucket/a%20b`. Throws UpstreamBroken. */
export function objectPath(address: unknown): string {
  const { bucket, key } = partsOf(address);
  return `${prefix}/${bucket}/${key.split('/').map(encodeURIComponent).join('/')}`;
}

/** Returns the path of the list of a folder's objects, in Google's JSON. Throws UpstreamBroken. */
export function listPath(folder: string): string {
  const { bucket, key } = partsOf(`${folder}/`);
  return `${prefix}/storage/v1/b/${bucket}/o?prefix=${encodeURIComponent(key)}`;
}

/** Throws UpstreamBroken. */
export function partsOf(address: unknown) {
  const [, root, bucket, key] = /^((?:s3|gs):\/\/([\w.-]+)\/)(.+)$/.exec(String(address)) ?? [];
  if (!root || !bucket || !key) throw unreadable('the batch has no files');
  return { root, bucket, key };
}

/** The file of a batch, whose id is its address. */
export function filesIn({ bucket }: BatchCloud) {
  return {
    hasBucket: true,
    async upload(calls: HostCalls, { mark, lines }: ToSend) {
      const address = `${bucket}/${mark}/lines.jsonl`;
      const headers = { 'content-type': 'application/jsonl' };
      await calls.send(objectPath(address), { ...lines, headers }, 'PUT');
      return address;
    },
    filePath: objectPath,
  } as const;
}
