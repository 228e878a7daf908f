// Fetches a request's images by URL before its tokens are counted: Anthropic counts images in the
// request only.
import { invalidRequest } from '../../canonical/errors.ts';
import type { ClientRequest } from '../../formats/format.ts';
import { hasUrlDocument, inlineImages, listUrlImages } from '../../formats/messages/url-images.ts';
import type { ImageBytes } from '../../lib/image.ts';
import type { ImageFiles } from '../images/image-files.ts';

/**
 * Images by URL to fetch for one count: counting is free, so it must not make us fetch without
 * limit.
 */
const urlImagesMax = 20;

/** The URL of an image, in an error. */
export type NamedUrl = { readonly param: string; readonly subject: string };

/**
 * Returns null when an image can neither be inlined nor counted by its URL. `nameUrl`: names the
 * URL of a block's image in an error.
 */
export async function withImagesInlined<Request extends Pick<ClientRequest, 'body'>>(
  files: Pick<ImageFiles, 'readUrls'>,
  request: Request,
  {
    signal,
    nameUrl,
  }: { readonly signal: AbortSignal; readonly nameUrl: (path: string) => NamedUrl },
): Promise<Request | null> {
  if (hasUrlDocument(request)) return null;
  const listed = listUrlImages(request);
  if (listed.length === 0) return request;
  const urls = [...new Set(listed.map(({ url }) => url))];
  if (urls.length > urlImagesMax) return null;
  const readings = await files.readUrls(urls, signal).catch((error: unknown) => {
    if (signal.aborted) return null;
    throw error;
  });
  if (readings === null) return null;
  const images = new Map<string, ImageBytes>();
  for (const { url, path } of listed) {
    const reading = readings.get(url);
    if (reading?.kind === 'unreadable') {
      const { param, subject } = nameUrl(path);
      throw invalidRequest(param, `${subject} ${reading.problem}`);
    }
    if (reading) images.set(url, reading.image);
  }
  return inlineImages(request, images);
}
