// What an upstream of images is: one function that turns a job into images. What lies in between, such as polling, is its own affair;
// how HTTP is spoken is the gateway's, so that bounds and time limits are the same for all.
import type { UpstreamFailure } from '../canonical/event.ts';
import type { ImageFormat, ImageMode, ImageQuality, ImageResolution, PixelSize } from '../canonical/image-model.ts';
import type { ImageBytes } from '../lib/image.ts';
import type { Clock } from '../lib/clock.ts';

export type ImageProviderKind = {
  /** `one`: whatever `count` says, so that several images take several calls. */
  readonly imagesPerCall: 'many' | 'one';
  /** Never rejects for what an upstream does. Aborting the job's signal ends it soon, as a failed connection. */
  readonly generate: (job: ImageJob, connection: ImageConnection) => Promise<ImageJobResult>;
};

export type ImageJob = {
  readonly upstreamModel: string;
  readonly mode: ImageMode;
  readonly prompt: string;
  /** As many as the mode takes. */
  readonly images: readonly ImageBytes[];
  /** 1 where the kind makes one image a call. */
  readonly count: number;
  readonly size: PixelSize | null;
  readonly quality: ImageQuality | null;
  readonly aspectRatio: string | null;
  readonly resolution: ImageResolution | null;
  readonly outputFormat: ImageFormat | null;
  readonly signal: AbortSignal;
  readonly clock: Clock;
};

export type ImageJobResult =
  /** At least one and at most `count`, in the upstream's order. */
  { readonly kind: 'images'; readonly images: readonly ImageBytes[] } | ImageJobFailed;

export type ImageJobFailed = {
  readonly kind: 'failure';
  readonly failure: UpstreamFailure;
  /** `false`: nothing reached the upstream, so it cannot have drawn anything. */
  readonly requestSent: boolean;
};

export type ImageConnection = { readonly provider: ImageProvider; readonly http: ImageHttp };

/** A provider as the configuration has it. */
export type ImageProvider = {
  readonly name: string;
  readonly baseUrl: string;
  /** null: it wants none. */
  readonly apiKey: string | null;
  readonly timeouts: {
    readonly connect_ms: number;
    readonly first_byte_ms: number;
    readonly idle_ms: number;
    readonly total_ms: number;
  };
};

/** One exchange. Redirects are never followed; the provider's time limits hold for each. */
export type ImageHttp = { readonly send: (call: ImageCall) => Promise<ImageReply> };

export type ImageCall = {
  readonly provider: ImageProvider;
  readonly method: 'GET' | 'POST';
  /** Of another origin than the provider's, where it says so itself: `https://api.eu.bfl.ai`. Left out: the provider's base URL. */
  readonly origin?: string;
  /** Below the base URL or the origin. */
  readonly path: string;
  /** Lower-case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Pieces go out as they are, without a copy of the whole. */
  readonly body: string | readonly Buffer[] | null;
  /** `json` answers with the parsed value, `bytes` with what came. */
  readonly answer: 'json' | 'bytes';
  readonly answerBytesMax: number;
  readonly signal: AbortSignal;
};

export type ImageReply =
  | { readonly kind: 'answer'; readonly body: unknown }
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  | { readonly kind: 'failure'; readonly failure: UpstreamFailure; readonly body: unknown; readonly requestSent: boolean };
