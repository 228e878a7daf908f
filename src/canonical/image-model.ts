// What a model that makes images is, once read: its prices, where it runs, and which parameters it takes.
import type { Picos } from '../lib/money.ts';

export const imageModes = ['text-to-image', 'edit', 'reference'] as const;
export type ImageMode = (typeof imageModes)[number];

export const imageFamilies = ['gpt-image', 'flux-2', 'nano-banana'] as const;
export type ImageFamily = (typeof imageFamilies)[number];

export const imageQualities = ['low', 'medium', 'high'] as const;
export type ImageQuality = (typeof imageQualities)[number];

export const imageResolutions = ['1k', '2k', '4k'] as const;
export type ImageResolution = (typeof imageResolutions)[number];

/** What an image is priced by, and what may choose the upstream's model: its quality or its resolution. */
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
};

/** How a family says what an image should be: by pixels and quality, or by shape and resolution. */
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
  readonly resolution: { readonly default: ImageResolution; readonly allowed: readonly ImageResolution[] };
};

/** Pixels. */
export type SizeRule = {
  readonly multipleOf: number;
  readonly sideMin: number;
  readonly sideMax: number;
  /** Of the whole image. */
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

/** As the provider charges it or the operator states it (`isListPrice`: then no markup is added). */
export type ImagePrice = {
  readonly isListPrice: boolean;
  /** Whether an output price is of a megapixel, or else of an image. */
  readonly perMegapixel: boolean;
  readonly output: Readonly<Partial<Record<ImageTier, Picos>>>;
  /** Of one image that is put in, once for each image that comes out. */
  readonly input: Readonly<Partial<Record<ImageTier, Picos>>>;
};
