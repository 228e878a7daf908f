// A request for images, as its client sent it and as it is understood.
import type {
  ImageFormat,
  ImageQuality,
  ImageResolution,
  PixelSize,
} from '../../terms/image-model.ts';
import type { JsonObject } from '../../lib/json.ts';

/** The client's request with every field's type checked; `null` counts as left out. */
export type RawImageRequest = {
  readonly body: JsonObject;
  /** The client's name for the model. */
  readonly model: string;
  readonly prompt: string;
  /** URLs and data URLs: the body's own array. Taking the images out of it frees the long texts. */
  readonly images: string[];
  /** As an image; null: none. */
  readonly mask: string | null;
  readonly count: number | null;
  readonly size: string | null;
  readonly quality: string | null;
  readonly aspectRatio: string | null;
  readonly resolution: string | null;
  readonly outputFormat: string | null;
  readonly responseFormat: 'url' | 'b64_json';
  /** Body fields that are dropped without changing the result. */
  readonly ignored: readonly string[];
};

/**
 * A request with all defaults filled in. Has either size and quality, or aspect ratio and
 * resolution.
 */
export type ImageRequest = Omit<
  RawImageRequest,
  'count' | 'size' | 'quality' | 'resolution' | 'outputFormat'
> & {
  readonly count: number;
  readonly size: PixelSize | null;
  readonly quality: ImageQuality | null;
  readonly resolution: ImageResolution | null;
  /** null: the upstream chooses. */
  readonly outputFormat: ImageFormat | null;
  /** Images to show while it is drawn, at most. Left out: none. */
  readonly partials?: number;
};
