// Shared by the tests of image providers: a job, a local provider that serves it, and the bytes of
// small images.
import type { TestContext } from 'node:test';
import { startUpstream, type LocalUpstream, type Script } from '../upstream.ts';
import { imageHttpOver } from '../../../src/gateway/images/image-maker.ts';
import { createUpstreams } from '../../../src/gateway/calling/upstreams.ts';
import { readImage, type ImageBytes } from '../../../src/lib/image.ts';
import type {
  ImageConnection,
  ImageJob,
  ImageJobFailed,
  ImageJobResult,
  ImageProvider,
} from '../../../src/providers/image-provider.ts';
import { type Clock, systemClock } from '../../../src/lib/clock.ts';

export const apiKey = 'key-of-the-operator';

export const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
export const gif = Buffer.from(
  'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7',
  'base64',
);

export function imageOf(bytes: Buffer): ImageBytes {
  const reading = readImage(bytes);
  if (reading.kind !== 'image') throw new Error(reading.problem);
  return reading.image;
}

export function jobFor({ images = [], ...changes }: Partial<ImageJob> = {}): ImageJob {
  return {
    upstreamModel: 'model-x',
    mode: images.length === 0 ? 'text-to-image' : 'reference',
    prompt: 'a café',
    images,
    mask: null,
    count: 1,
    size: null,
    quality: null,
    aspectRatio: null,
    resolution: null,
    outputFormat: null,
    signal: new AbortController().signal,
    clock: systemClock,
    ...changes,
  };
}

export type LocalProviderOptions = {
  readonly basePath: string;
  readonly timeouts?: Partial<ImageProvider['timeouts']>;
  readonly clock?: Clock;
};

export type LocalProvider = {
  readonly upstream: LocalUpstream;
  readonly connection: ImageConnection;
};

/** `basePath`: the path of the base URL. */
export async function startProvider(
  t: TestContext,
  { basePath, timeouts, clock = systemClock }: LocalProviderOptions,
): Promise<LocalProvider> {
  const upstream = await startUpstream(t);
  const upstreams = createUpstreams({ clock, largeAnswerBytesMax: Infinity });
  t.after(upstreams.close);
  const provider: ImageProvider = {
    name: 'local',
    baseUrl: upstream.url + basePath,
    apiKey,
    timeouts: {
      connect_ms: 5_000,
      first_byte_ms: 10_000,
      idle_ms: 10_000,
      total_ms: 10_000,
      ...timeouts,
    },
  };
  return { upstream, connection: { provider, http: imageHttpOver(upstreams, null) } };
}

/** A file whose content type says nothing about it. */
export function answerFile(bytes: Buffer, type = 'application/octet-stream'): Script {
  return (response) => {
    response.writeHead(200, { 'content-type': type });
    response.end(bytes);
  };
}

/** Part of an answer, then a cut connection. */
export function answerCutOff(text: string): Script {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(text, () => response.destroy());
  };
}

/** Endless JSON, for as long as it is read. */
export const answerEndlessly: Script = async (response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const piece = Buffer.alloc(1_024 * 1_024, ' ');
  while (!response.destroyed) {
    if (response.write(piece)) continue;
    await new Promise((resolve) => {
      response.once('drain', resolve);
      response.once('close', resolve);
    });
  }
};

export function failureOf(result: ImageJobResult): ImageJobFailed {
  if (result.kind !== 'failure') throw new Error('images came where a failure was expected');
  return result;
}

export function mediaTypesOf(result: ImageJobResult): string[] {
  if (result.kind === 'failure') throw new Error(`a failure came: ${result.failure.message}`);
  return result.images.map(({ mediaType }) => mediaType);
}
