// Reads our own image links from the store, for example when a generated image is edited next. A
// gateway without a public address could not fetch them over the network.
import { buffer } from 'node:stream/consumers';
import { readImage, unreadable, type ImageReading } from '../../lib/image.ts';
import { imageFilesPath, type ImageLinks } from './image-links.ts';
import type { ImageStore } from './image-store.ts';
import type { FetchLimits, SafeFetch } from './safe-fetch.ts';

type OwnLinksOptions = {
  readonly links: ImageLinks;
  readonly store: ImageStore;
  readonly fetcher: SafeFetch;
  readonly nowMs: () => number;
};

/**
 * Wraps `fetcher`: links that we signed are read from the store. The host does not matter, because
 * the signature is the permission.
 */
export function fetchWithOwnLinks({ links, store, fetcher, nowMs }: OwnLinksOptions): SafeFetch {
  return async (url, limits) => {
    const id = signedId(url, { links, nowMs });
    return (id !== null && (await readStored(store, id, limits))) || fetcher(url, limits);
  };
}

function signedId(
  text: string,
  { links, nowMs }: Pick<OwnLinksOptions, 'links' | 'nowMs'>,
): string | null {
  const url = URL.parse(text);
  const at = url?.pathname.indexOf(imageFilesPath) ?? -1;
  if (url === null || at < 0) return null;
  const id = url.pathname.slice(at + imageFilesPath.length);
  const [expires, signature] = [
    url.searchParams.get('expires') ?? '',
    url.searchParams.get('signature') ?? '',
  ];
  return links.verify({ id, expires, signature }, nowMs() / 1_000) ? id : null;
}

async function readStored(
  store: ImageStore,
  id: string,
  { bytesMax, budget }: FetchLimits,
): Promise<ImageReading | null> {
  const found = await store.find(id);
  if (found === null) return null;
  if (found.sizeBytes > bytesMax) return unreadable(`is larger than ${bytesMax} bytes`);
  if (!budget.take(found.sizeBytes)) return unreadable(budget.problem);
  const stream = await store.read(id, null);
  return stream && readImage(await buffer(stream));
}
