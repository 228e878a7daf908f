// Buckets in which clouds read the lines of batches and write their results. A path that begins with
// `bucket:` is one of the service with the bucket.
import { unreadable } from '../../canonical/upstream-broken.ts';
import type { SizedBody } from '../../lib/multipart.ts';
import type { ProviderPlace } from '../provider.ts';
import type { BatchAddress, BatchHost, HostCalls, ToSend } from './host.ts';

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
  const [, bucket, key] = /^(?:s3|gs):\/\/([\w.-]+)\/(.+)$/.exec(String(address)) ?? [];
  if (bucket === undefined || key === undefined) throw unreadable('the batch has no files');
  return `${prefix}/${bucket}/${key.split('/').map(encodeURIComponent).join('/')}`;
}

/** Returns the path of a page of a list of objects, in Google's JSON. */
export function listPath(folder: unknown): string {
  const [, bucket, key] = /^gs:\/\/([\w.-]+)\/(.+)$/.exec(String(folder)) ?? [];
  if (bucket === undefined || key === undefined) throw unreadable('the batch has no files');
  return `${prefix}/storage/v1/b/${bucket}/o?prefix=${encodeURIComponent(key)}`;
}

/** The file of a batch, whose id is its address. */
export function filesIn({
  bucket,
}: BatchCloud): Pick<Required<BatchHost>, 'hasBucket' | 'upload' | 'filePath'> {
  return {
    hasBucket: true,
    async upload(calls: HostCalls, { mark, lines }: ToSend) {
      const address = `${bucket}/${mark}/lines.jsonl`;
      const body: SizedBody = { ...lines, headers: { 'content-type': 'application/jsonl' } };
      await calls.send(objectPath(address), body, 'PUT');
      return address;
    },
    filePath: objectPath,
  };
}
