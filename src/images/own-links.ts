// A link of ours given back as an input, as when an image that was generated is edited next: its bytes are taken from the store. Over the
// network it could not be had where the gateway itself is at no public address.
import { buffer } from 'node:stream/consumers';
import { readImage, type ImageReading } from '../lib/image.ts';
import { imageFilesPath, type ImageLinks } from './image-links.ts';
import type { ImageStore } from './image-store.ts';
import type { FetchLimits, SafeFetch } from './safe-fetch.ts';

export type OwnLinksOptions = {
  readonly links: ImageLinks;
  readonly store: ImageStore;
  readonly fetcher: SafeFetch;
  readonly nowMs: () => number;
};

/** Like `fetcher`, but for links that we signed: whatever host stands before them, the signature is what opens them. */
export function fetchWithOwnLinks({ links, store, fetcher, nowMs }: OwnLinksOptions): SafeFetch {
  return async (url, limits) => {
    const id = signedId(url, { links, nowMs });
    return (id !== null && (await readStored(store, id, limits))) || fetcher(url, limits);
  };
}

function signedId(text: string, { links, nowMs }: Pick<OwnLinksOptions, 'links' | 'nowMs'>): string | null {
  const url = URL.parse(text);
  const at = url?.pathname.indexOf(imageFilesPath) ?? -1;
  if (url === null || at < 0) return null;
  const id = url.pathname.slice(at + imageFilesPath.length);
  const [expires, signature] = [url.searchParams.get('expires') ?? '', url.searchParams.get('signature') ?? ''];
  return links.verify({ id, expires, signature }, nowMs() / 1_000) ? id : null;
}

async function readStored(store: ImageStore, id: string, { bytesMax, budget }: FetchLimits): Promise<ImageReading | null> {
  const found = await store.find(id);
  if (found === null) return null;
  if (found.sizeBytes > bytesMax) return { kind: 'unreadable', problem: `is larger than ${bytesMax} bytes` };
  if (!budget.take(found.sizeBytes)) return { kind: 'unreadable', problem: budget.problem };
  const stream = await store.read(id, null);
  return stream && readImage(await buffer(stream));
}
