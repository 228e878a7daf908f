// The models that an account can call, and its prices.
import type { ImageFamily, ImageFormat, ImageMode, ImageTier } from '../canonical/image-model.ts';
import { endpoint } from './endpoint.ts';

/** In microdollars for a million tokens. */
export type TokenPrices = {
  readonly input_micros: number;
  readonly output_micros: number;
  readonly cache_read_micros: number;
  readonly cache_write_micros: number;
  readonly cache_write_1h_micros: number;
};

export type ModelPrice = {
  /** null: from the beginning. */
  readonly effective_at: string | null;
  readonly base: TokenPrices;
  /** By rising threshold; the last one that the whole input exceeds prices the whole request. */
  readonly tiers: readonly { readonly above_input_tokens: number; readonly prices: TokenPrices }[];
};

type Listed = {
  readonly id: string;
  readonly name: string;
  /** `anthropic` */
  readonly vendor: string;
  readonly created_at: string;
  /** Other names that mean it. */
  readonly aliases: readonly string[];
  /** True when an enabled provider serves it. With test keys the sandbox answers for every model. */
  readonly is_live: boolean;
  /** The account's price in millionths of the list price. */
  readonly multiplier_ppm: number;
};

export type ChatModel = Listed & {
  /** Input and output together. */
  readonly context_tokens: number;
  readonly max_input_tokens: number;
  readonly max_output_tokens: number;
  readonly abilities: {
    readonly thinking: boolean;
    readonly streaming: boolean;
    readonly vision: boolean;
    readonly tools: boolean;
  };
  /** null: none is in effect yet, and it does not run. */
  readonly price: ModelPrice | null;
  /** Prices that come later, the next one first. */
  readonly scheduled_prices: readonly ModelPrice[];
  /** Microdollars for a search of the web that the model's provider runs; null: it runs none. May have a fraction. */
  readonly web_search_micros: number | null;
};

/** By quality or resolution, in microdollars with fractions. */
type MicrosByTier = Readonly<Partial<Record<ImageTier, number>>>;

export type ImagePrices = {
  /** True: `output_micros` is per megapixel; false: per image. */
  readonly per_megapixel: boolean;
  readonly output_micros: MicrosByTier;
  /** For each megapixel after the first; empty where `output_micros` is for the whole image. */
  readonly further_megapixel_micros: MicrosByTier;
  /** For each image that is put in, or each megapixel of it, once for every image that comes out. */
  readonly input_image_micros: MicrosByTier;
  readonly input_per_megapixel: boolean;
  /** Microdollars for a million tokens: the provider's count is charged, and the rest is for answers without one. null: not by tokens. */
  readonly tokens: {
    readonly text_micros: number;
    readonly cached_text_micros: number;
    readonly image_micros: number;
    readonly cached_image_micros: number;
    readonly output_micros: number;
  } | null;
};

type Choice = { readonly default: string; readonly allowed: readonly string[] };

/** The choices of a request: size and quality, or shape and resolution. */
export type ImageParameters =
  | {
      readonly kind: 'size';
      readonly default_size: string;
      readonly sizes: SizeRule;
      readonly quality: Choice;
    }
  | { readonly kind: 'shape'; readonly aspect_ratio: Choice; readonly resolution: Choice };

/** In pixels. */
export type SizeRule = {
  readonly multiple_of: number;
  readonly side_min: number;
  readonly side_max: number;
  readonly pixels_max: number;
  /** The long side by the short one. */
  readonly aspect_max: number;
};

export type ImageModelEntry = Listed & {
  readonly mode: ImageMode;
  readonly family: ImageFamily;
  readonly input_images: { readonly min: number; readonly max: number };
  readonly images_max: number;
  readonly prompt_characters_max: number;
  /** That can be asked for; none: the images come as the model makes them. */
  readonly output_formats: readonly ImageFormat[];
  readonly parameters: ImageParameters;
  readonly price: ImagePrices | null;
};

export type ModelCatalogue = {
  /** The days of the built-in prices, `YYYY-MM-DD`. */
  readonly as_of: { readonly chat: string; readonly images: string };
  readonly chat: readonly ChatModel[];
  readonly images: readonly ImageModelEntry[];
  /** The web search endpoint. The most that ten results cost, whoever answers, and the most that any search does; null: it is not sold. */
  readonly web_search: {
    readonly id: string;
    readonly price_micros: number | null;
    readonly price_max_micros: number | null;
    readonly is_live: boolean;
  };
};

export const modelsEndpoints = {
  /** In the catalogue's order. */
  'GET /accounts/:account/models': endpoint<ModelCatalogue>()({ access: 'member' }),
};
