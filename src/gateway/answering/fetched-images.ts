// A host in the operator's own network fetches no address of a client: it could reach what clients must
// not, such as the metadata of a cloud. The gateway fetches the images, under its rules for them.
import { inlineImages, listUrlMedia, mediaNames } from '../../formats/url-media.ts';
import type { ImageMemory } from '../../domain/images/fetched-bytes.ts';
import type { ImageBytes } from '../../lib/image.ts';
import type { JsonObject } from '../../lib/json.ts';
import { makeFailure, type FailedReply } from '../../canonical/make-failure.ts';
import { stopped, unsent } from '../calling/failure.ts';
import type { ImageFiles } from '../images/image-files.ts';
import type { ChosenRoute } from '../routing/route.ts';

const imagesMax = 20;
/** The most bytes that the images of a request may have together. */
const bytesMax = 16 * 1024 * 1024;

/** True when the body names media that such a host would fetch. */
export function namesMediaInside(route: ChosenRoute, text: string): boolean {
  if (!route.provider.isInside || !mediaNames.test(text)) return false;
  const { images, other } = listUrlMedia(JSON.parse(text) as JsonObject, route.passFields);
  return images.length > 0 || other !== null;
}

type ToSend = {
  readonly text: string;
  readonly route: ChosenRoute;
  readonly signal: AbortSignal;
  readonly memory: ImageMemory;
  /** By address. A request fetches an image once for all of its calls, and has room for it once. */
  readonly fetched: Map<string, ImageBytes>;
};

/**
 * Returns the body with the images in it, or the failure that refuses the request. Throws ApiError
 * `overloaded`.
 */
export async function withFetchedImages(
  files: Pick<ImageFiles, 'readUrls'>,
  { text, route, signal, memory, fetched }: ToSend,
): Promise<string | FailedReply> {
  if (!mediaNames.test(text)) return text;
  const body = JSON.parse(text) as JsonObject;
  const { images, other } = listUrlMedia(body, route.passFields);
  if (other !== null)
    return refused(
      `A part of type ${other} must hold its data here, in base64 or as a data: URL, not an address.`,
    );
  const urls = [...new Set(images.map(({ url }) => url))];
  if (urls.length === 0) return text;
  if (urls.length > imagesMax)
    return refused(`At most ${imagesMax} images by URL are possible here; got ${urls.length}.`);
  // The sandbox refuses the same, and looks at no image.
  if (route.isSandbox) return text;
  const missing = urls.filter((url) => !fetched.has(url));
  const readings = await files
    .readUrls(missing, { signal, memory, bytesMaxTotal: bytesMax })
    .catch((error: unknown) => {
      if (signal.aborted) return null;
      throw error;
    });
  if (readings === null) return unsent(stopped);
  for (const [url, reading] of readings) {
    if (reading.kind === 'unreadable') return refused(`An image by URL ${reading.problem}.`);
    fetched.set(url, reading.image);
  }
  return JSON.stringify(inlineImages(body, fetched));
}

function refused(message: string): FailedReply {
  return unsent(makeFailure(400, message));
}
