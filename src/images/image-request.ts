// A request for images: first its shape, which no model is needed for, then all of it against the model that it names.
import type { ImageFormat, ImageModel, ImageQuality, ImageResolution, PixelSize } from '../canonical/image-model.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** As the client wrote it, with the shape of every field checked; `null` counts as left out. */
export type RawImageRequest = {
  readonly body: JsonObject;
  readonly model: string;
  readonly prompt: string;
  /** URLs and data URLs. */
  readonly images: readonly string[];
  readonly count: number | null;
  readonly size: string | null;
  readonly quality: string | null;
  readonly aspectRatio: string | null;
  readonly resolution: string | null;
  readonly outputFormat: string | null;
  readonly responseFormat: 'url' | 'b64_json';
  /** Fields of the body that are dropped without changing what the client gets. */
  readonly ignored: readonly string[];
};

/** What the model is asked for, every default filled in. Either size and quality, or aspect ratio and resolution. */
export type ImageRequest = {
  readonly body: JsonObject;
  /** As the client named it. */
  readonly model: string;
  readonly prompt: string;
  readonly images: readonly string[];
  readonly count: number;
  readonly size: PixelSize | null;
  readonly quality: ImageQuality | null;
  readonly aspectRatio: string | null;
  readonly resolution: ImageResolution | null;
  /** null: the upstream's own. */
  readonly outputFormat: ImageFormat | null;
  readonly responseFormat: 'url' | 'b64_json';
  readonly ignored: readonly string[];
};

/** Throws ApiError `invalid_request` naming the field. */
export function parseImageRequest(_body: unknown): RawImageRequest {
  throw new Error('not written yet');
}

/** Throws ApiError `invalid_request` naming the field and the values that this model takes. */
export function checkImageRequest(_raw: RawImageRequest, _model: ImageModel): ImageRequest {
  throw new Error('not written yet');
}
