// An image model as the catalogue has it: prices, routes and parameters.
import type { Picos, PicosPerToken } from '../lib/money.ts';
import type { Retirement } from './retirement.ts';

export const imageModes = ['text-to-image', 'edit', 'reference'] as const;
export type ImageMode = (typeof imageModes)[number];

export const imageFamilies = ['gpt-image', 'flux-2', 'nano-banana'] as const;
export type ImageFamily = (typeof imageFamilies)[number];

export const imageQualities = ['low', 'medium', 'high'] as const;
export type ImageQuality = (typeof imageQualities)[number];

export const imageResolutions = ['1k', '2k', '4k'] as const;
export type ImageResolution = (typeof imageResolutions)[number];

/** The quality or resolution of an image. It sets the price and may choose the upstream's model. */
export type ImageTier = ImageQuality | ImageResolution;

export type ImageFormat = 'png' | 'jpeg' | 'webp';

export type PixelSize = { readonly width: number; readonly height: number };

export type ImageModel = {
  readonly id: string;
  readonly displayName: string;
  readonly ownedBy: string;
  /** Unix seconds. */
  readonly createdAtSeconds: number;
  readonly mode: ImageMode;
  readonly family: ImageFamily;
  /** 0 and 0: it takes none. */
  readonly inputImages: { readonly min: number; readonly max: number };
  readonly promptCharactersMax: number;
  /** The most images of one request. */
  readonly countMax: number;
  readonly parameters: ImageParameters;
  /** Tried in order. */
  readonly routes: readonly ImageRoute[];
  /** null: the price is unknown and the model never runs. */
  readonly price: ImagePrice | null;
  /** null: no end is announced. */
  readonly retirement: Retirement | null;
};

/** A family describes an image by pixels and quality, or by shape and resolution. */
export type ImageParameters = (SizedParameters | ShapedParameters) & {
  /** The file formats that can be asked for; none: the upstream chooses. */
  readonly outputFormats: readonly ImageFormat[];
};

export type SizedParameters = {
  readonly kind: 'size';
  readonly size: SizeRule & { readonly default: PixelSize };
  readonly quality: { readonly default: ImageQuality; readonly allowed: readonly ImageQuality[] };
};

export type ShapedParameters = {
  readonly kind: 'shape';
  readonly aspectRatio: { readonly default: string; readonly allowed: readonly string[] };
  readonly resolution: {
    readonly default: ImageResolution;
    readonly allowed: readonly ImageResolution[];
  };
};

/** In pixels. */
export type SizeRule = {
  readonly multipleOf: number;
  readonly sideMin: number;
  readonly sideMax: number;
  /** Pixels of the whole image. */
  readonly pixelsMax: number;
  /** The long side by the short one: 3 allows 1:3 to 3:1. */
  readonly aspectMax: number;
};

export type ImageRoute = {
  /** The name of a provider in the configuration. */
  readonly provider: string;
  /** The provider's id of the model, for each quality or resolution. */
  readonly upstreamModels: Readonly<Partial<Record<ImageTier, string>>>;
};

/** The provider's price, or the operator's own (`isListPrice`: no markup is added then). */
export type ImagePrice = {
  readonly isListPrice: boolean;
  /** True: output prices are per megapixel; false: per image. */
  readonly perMegapixel: boolean;
  /** The price of an image, or of its first megapixel. */
  readonly output: PicosByTier;
  /** The price of each further megapixel of an image. */
  readonly furtherMegapixel: PicosByTier;
  /** The price of an input image, or of a megapixel of it, for each output image. */
  readonly input: PicosByTier;
  readonly inputPerMegapixel: boolean;
  /**
   * Token prices; null when the provider does not bill by tokens. If it does, the prices above
   * apply only to answers without a token count.
   */
  readonly tokens: ImageTokenPrices | null;
};

/**
 * Prices of tokens: of the prompt and the input images, fresh or from the provider's cache, and of
 * the output images.
 */
export type ImageTokenPrices = Readonly<
  Record<'text' | 'cachedText' | 'image' | 'cachedImage' | 'output', PicosPerToken>
>;

/** A provider's own count for all images of one call. Untrusted. 0: not counted. */
export type ImageUsage = {
  /** Prompt and images, cached or not. */
  readonly inputTokens: number;
  /** The image tokens within `inputTokens`; null when not reported. */
  readonly imageTokens: number | null;
  readonly cachedTextTokens: number;
  readonly cachedImageTokens: number;
  readonly outputTokens: number;
};

export type PicosByTier = Readonly<Partial<Record<ImageTier, Picos>>>;
