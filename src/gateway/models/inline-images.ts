// Fetches a request's images by URL before its tokens are counted: Anthropic counts images in the
// request only.
import { ApiError, invalidRequest } from '../../canonical/errors.ts';
import type { ImageMemory } from '../../domain/images/fetched-bytes.ts';
import { inlineImages, listUrlMedia } from '../../formats/url-media.ts';
import type { ImageBytes } from '../../lib/image.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { ImageFiles } from '../images/image-files.ts';

/**
 * Images by URL to fetch for one count: counting is free, so it must not make us fetch without
 * limit.
 */
const urlImagesMax = 20;

/** The URL of an image, in an error. */
export type NamedUrl = { readonly param: string; readonly subject: string };

type Reading = {
  readonly signal: AbortSignal;
  readonly memory: ImageMemory;
  /** Names the URL of a block's image in an error. */
  readonly nameUrl: (path: string) => NamedUrl;
};

/** Returns null when an image can neither be inlined nor counted by its URL. */
export async function withImagesInlined(
  files: Pick<ImageFiles, 'readUrls'>,
  body: JsonObject,
  { signal, memory, nameUrl }: Reading,
): Promise<JsonObject | null> {
  const { images: listed, other } = listUrlMedia(body);
  if (other !== null) return null;
  if (listed.length === 0) return body;
  const urls = [...new Set(listed.map(({ url }) => url))];
  if (urls.length > urlImagesMax) return null;
  const readings = await files.readUrls(urls, { signal, memory }).catch((error: unknown) => {
    if (signal.aborted || error instanceof ApiError) return null;
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
  return inlineImages(body, images);
}
