// Reads a request's input images, from data URLs or public URLs. Returns all of them, or throws a
// 400 that names the failing one.
import { invalidRequest } from '../../canonical/errors.ts';
import {
  imageTypesInWords,
  unreadable,
  type ImageBytes,
  type ImageReading,
} from '../../lib/image.ts';
import { isDataUrl, readDataUrl } from './data-url.ts';
import { ByteBudget, type ImageMemory } from './fetched-bytes.ts';
import type { SafeFetch } from './safe-fetch.ts';

/**
 * The limit of the strictest common provider (Black Forest Labs: 20 MB an image), with room for
 * several.
 */
const inputImageBytesMax = 20 * 1024 * 1024;
const inputImagesBytesMax = 50 * 1024 * 1024;

export type ReadInputImagesOptions = {
  /** The model's maximum. */
  readonly max: number;
  readonly bytesMaxEach?: number;
  readonly bytesMaxTotal?: number;
  readonly fetcher: SafeFetch;
  readonly signal: AbortSignal;
  readonly memory: ImageMemory;
  /** The field's name in the request: `images`. */
  readonly field: string;
  /** False: the field is no list, but one image. Left out: true. */
  readonly isList?: boolean;
};

/**
 * Returns the images in the order of `texts`. Throws ApiError `invalid_request` with the field,
 * such as `images[2]`, and what to do, or `overloaded`; the first problem aborts the other fetches.
 * Rejects with the signal's reason on abort.
 */
export async function readInputImages(
  texts: readonly string[],
  options: ReadInputImagesOptions,
): Promise<ImageBytes[]> {
  const {
    max,
    bytesMaxTotal = inputImagesBytesMax,
    signal,
    memory,
    field,
    isList = true,
  } = options;
  if (texts.length > max) {
    throw invalidRequest(
      field,
      `\`${field}\` must have at most ${max} images; got ${texts.length}. Send fewer.`,
    );
  }
  const budget = new ByteBudget(bytesMaxTotal, memory);
  const failed = new AbortController();
  const reading = { ...options, budget, signal: AbortSignal.any([signal, failed.signal]) };
  try {
    return await Promise.all(
      texts.map((text, index) => readOne(text, isList ? `${field}[${index}]` : field, reading)),
    );
  } catch (error) {
    failed.abort();
    throw error;
  }
}

/**
 * Fetches several public URLs within one shared budget. Rejects with the signal's reason. Throws ApiError
 * `overloaded`.
 */
export async function readUrls(
  urls: readonly string[],
  {
    fetcher,
    signal,
    memory,
    bytesMaxTotal = inputImagesBytesMax,
  }: Pick<ReadInputImagesOptions, 'fetcher' | 'signal' | 'memory' | 'bytesMaxTotal'>,
): Promise<ReadonlyMap<string, ImageReading>> {
  const failed = new AbortController();
  const limits = {
    bytesMax: inputImageBytesMax,
    budget: new ByteBudget(bytesMaxTotal, memory),
    signal: AbortSignal.any([signal, failed.signal]),
  };
  try {
    return new Map(
      await Promise.all(urls.map(async (url) => [url, await fetcher(url, limits)] as const)),
    );
  } catch (error) {
    failed.abort();
    throw error;
  }
}

type Reading = ReadInputImagesOptions & { readonly budget: ByteBudget };

async function readOne(
  text: string,
  field: string,
  { bytesMaxEach: bytesMax = inputImageBytesMax, fetcher, budget, signal }: Reading,
): Promise<ImageBytes> {
  const result = isDataUrl(text)
    ? withinBudget(readDataUrl(text, { bytesMax }), budget)
    : await fetcher(text, { bytesMax, budget, signal });
  if (result.kind === 'image') return result.image;
  throw invalidRequest(
    field,
    `\`${field}\` ${result.problem}. Give the public URL of a ${imageTypesInWords} image of at most ${bytesMax} bytes, or the image itself as \`data:image/<type>;base64,<data>\`.`,
  );
}

function withinBudget(result: ImageReading, budget: ByteBudget): ImageReading {
  if (result.kind === 'unreadable' || budget.take(result.image.bytes.length)) return result;
  return unreadable(budget.problem);
}
