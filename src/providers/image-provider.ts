// The interface of image providers: one function turns a job into images. Steps in between, such as
// polling, are the provider's own. The gateway does the HTTP, so that limits and timeouts are the
// same for all.
import type { UpstreamFailure } from '../canonical/event.ts';
import type { FailedReply } from '../canonical/make-failure.ts';
import type {
  ImageFormat,
  ImageMode,
  ImageQuality,
  ImageResolution,
  ImageUsage,
  PixelSize,
} from '../terms/image-model.ts';
import type { ImageBytes } from '../lib/image.ts';
import type { Clock } from '../lib/clock.ts';
import type { JsonObject } from '../lib/json.ts';
import type {
  UpstreamCall,
  UpstreamProvider,
  UpstreamReply,
  UpstreamTimeouts,
} from './upstream-call.ts';

export type ImageProviderKind = {
  /** `one`: always one image a call, whatever `count` is. */
  readonly imagesPerCall: 'many' | 'one';
  /**
   * Never rejects because of the upstream. Aborting the job's signal soon ends it as a failed
   * connection.
   */
  readonly generate: (job: ImageJob, connection: ImageConnection) => Promise<ImageJobResult>;
};

export type ImageJob = {
  readonly upstreamModel: string;
  readonly mode: ImageMode;
  readonly prompt: string;
  /** As many as the model's mode requires. */
  readonly images: readonly ImageBytes[];
  /** Shows what of the first image to change; null: none. */
  readonly mask: ImageBytes | null;
  /** 1 when the provider makes one image a call. */
  readonly count: number;
  readonly size: PixelSize | null;
  readonly quality: ImageQuality | null;
  readonly aspectRatio: string | null;
  readonly resolution: ImageResolution | null;
  readonly outputFormat: ImageFormat | null;
  /** Images to show while it is drawn, at most; left out: none. Not every provider has them. */
  readonly partials?: number;
  readonly show?: ((base64: string) => void) | undefined;
  readonly signal: AbortSignal;
  readonly clock: Clock;
};

export type ImageJobResult =
  /**
   * From 1 to `count` images in the upstream's order. `unread`: how many more it sent that are no
   * images. `usage`: its own count for the call, if any.
   */
  | {
      readonly kind: 'images';
      readonly images: readonly ImageBytes[];
      readonly unread: number;
      readonly usage?: ImageUsage;
    }
  | ImageJobFailed;

export type ImageJobFailed = {
  readonly kind: 'failure';
  readonly failure: UpstreamFailure;
  /** False: nothing reached the upstream, so it drew nothing. */
  readonly requestSent: boolean;
  /** The upstream bills the job: a later step, such as polling, failed, or it wrote a text instead. */
  readonly isTaken?: boolean;
};

export type ImageConnection = { readonly provider: ImageProvider; readonly http: ImageHttp };

/** A provider as configured. */
export type ImageProvider = UpstreamProvider & {
  /** null: it needs no key. */
  readonly apiKey: string | null;
  readonly timeouts: UpstreamTimeouts;
};

/** Sends one request. Never follows redirects. The provider's timeouts apply to each call. */
export type ImageHttp = {
  readonly send: (call: ImageCall) => Promise<UpstreamReply<false>>;
  /** Returns the events of a stream. They throw UpstreamBroken. */
  readonly open: (call: ImageCall) => Promise<AsyncIterable<JsonObject> | FailedReply>;
};

export type ImageCall = Omit<
  UpstreamCall,
  'provider' | 'service' | 'stream' | 'timeouts' | 'trace'
> & {
  readonly provider: ImageProvider;
};
