// The models that an account can call, and its prices.
import { modelTypeNames } from '../../terms/model-type.ts';
import { Type } from 'typebox';
import { imageFamilies, imageModes, type ImageTier } from '../../terms/image-model.ts';
import { priceTiers } from '../../canonical/service-tier.ts';
import { AccountFilter, closed, Mode, orNull } from './common.ts';
import { endpoint, type Output } from './endpoint.ts';

/** In microdollars for a million tokens. */
export const TokenPrices = closed({
  input_micros: Type.Integer(),
  output_micros: Type.Integer(),
  cache_read_micros: Type.Integer(),
  cache_write_micros: Type.Integer(),
  cache_write_1h_micros: Type.Integer(),
  audio_micros: Type.Optional(
    Type.Integer({ description: 'Input tokens of sound. Left out: as other input.' }),
  ),
});
export type TokenPrices = Output<typeof TokenPrices>;

const PriceSet = closed({
  base: TokenPrices,
  tiers: Type.Array(closed({ above_input_tokens: Type.Integer(), prices: TokenPrices })),
});
export type PriceSet = Output<typeof PriceSet>;

export const UnitMicros = Type.Optional(
  Type.Number({
    description:
      'Microdollars, with fractions, for a character that a `speech` model speaks, or a search unit of a `rerank` model. Left out: it is billed by tokens.',
  }),
);

export const ModelPrice = closed({
  effective_at: orNull(Type.String(), 'null: from the beginning.'),
  ...PriceSet.properties,
  unit_micros: UnitMicros,
  variants: Type.Array(
    closed({
      service_tier: orNull(Type.Enum([...priceTiers]), 'null: the standard tier.'),
      hours_utc: orNull(Type.String(), '`Mon-Fri 01:00-04:00`; null: at all hours.'),
      ...PriceSet.properties,
    }),
    { description: 'Other prices, of service tiers and of hours.' },
  ),
});
export type ModelPrice = Output<typeof ModelPrice>;

export const endFields = {
  retires_at: orNull(Type.String(), 'When its provider ends it; null: no end is announced.'),
  successor: orNull(Type.String(), 'The id of the model to use in its place.'),
};

const Listed = closed({
  id: Type.String(),
  name: Type.String(),
  vendor: Type.String({ description: '`anthropic`' }),
  created_at: Type.String(),
  aliases: Type.Array(Type.String(), { description: 'Other names that mean it.' }),
  is_live: Type.Boolean(),
  ...endFields,
  multiplier_ppm: Type.Integer(),
});

export const ChatModel = closed({
  ...Listed.properties,
  context_tokens: Type.Integer({ description: 'Input and output together.' }),
  max_input_tokens: Type.Integer(),
  max_output_tokens: Type.Integer(),
  abilities: closed({
    thinking: Type.Boolean(),
    streaming: Type.Boolean(),
    vision: Type.Boolean(),
    audio: Type.Boolean({ description: 'It hears sound.' }),
    tools: Type.Boolean(),
  }),
  price: orNull(ModelPrice, 'null: none is in effect yet, and it does not run.'),
  scheduled_prices: Type.Array(ModelPrice),
  web_search_micros: orNull(Type.Number()),
});
export type ChatModel = Output<typeof ChatModel>;

const otherTypes = modelTypeNames.filter((type) => type !== 'chat');

/** A model that does not answer conversations. */
export const OtherModel = closed({
  ...Listed.properties,
  type: Type.Enum(otherTypes),
  max_input_tokens: Type.Integer({ description: 'Of each text.' }),
  dimensions: orNull(
    closed({ default: Type.Integer(), min: Type.Integer(), max: Type.Integer() }),
    'null: unknown, or it makes no vectors.',
  ),
  price: orNull(ModelPrice, 'null: none is in effect yet, and it does not run.'),
  scheduled_prices: Type.Array(ModelPrice),
});
export type OtherModel = Output<typeof OtherModel>;

/** By quality or resolution, in microdollars with fractions. */
const MicrosByTier = closed({
  low: Type.Optional(Type.Number()),
  medium: Type.Optional(Type.Number()),
  high: Type.Optional(Type.Number()),
  '1k': Type.Optional(Type.Number()),
  '2k': Type.Optional(Type.Number()),
  '4k': Type.Optional(Type.Number()),
} satisfies Readonly<Record<ImageTier, unknown>>);

export const ImagePrices = closed({
  per_megapixel: Type.Boolean(),
  output_micros: MicrosByTier,
  /** For each megapixel after the first; empty where `output_micros` is for the whole image. */
  further_megapixel_micros: MicrosByTier,
  /** For each input image, or each megapixel of it, once for every output image. */
  input_image_micros: MicrosByTier,
  input_per_megapixel: Type.Boolean(),
  tokens: orNull(
    closed({
      text_micros: Type.Number(),
      cached_text_micros: Type.Number(),
      image_micros: Type.Number(),
      cached_image_micros: Type.Number(),
      output_micros: Type.Number(),
    }),
    "Microdollars for a million tokens, with fractions: the provider's count is charged, and the rest is for answers without one. null: not by tokens.",
  ),
});
export type ImagePrices = Output<typeof ImagePrices>;

const Choice = closed({ default: Type.String(), allowed: Type.Array(Type.String()) });

/** In pixels. */
export const SizeRule = closed({
  multiple_of: Type.Integer(),
  side_min: Type.Integer(),
  side_max: Type.Integer(),
  pixels_max: Type.Integer(),
  aspect_max: Type.Number({ description: 'The long side by the short one.' }),
});
export type SizeRule = Output<typeof SizeRule>;

/** The choices of a request: size and quality, or shape and resolution. */
export const ImageParameters = Type.Union([
  closed({
    kind: Type.Literal('size'),
    default_size: Type.String(),
    sizes: SizeRule,
    quality: Choice,
  }),
  closed({ kind: Type.Literal('shape'), aspect_ratio: Choice, resolution: Choice }),
]);
export type ImageParameters = Output<typeof ImageParameters>;

export const ImageModelEntry = closed({
  ...Listed.properties,
  mode: Type.Enum([...imageModes]),
  family: Type.Enum([...imageFamilies]),
  input_images: closed({ min: Type.Integer(), max: Type.Integer() }),
  images_max: Type.Integer(),
  prompt_characters_max: Type.Integer(),
  output_formats: Type.Array(Type.Enum(['png', 'jpeg', 'webp'])),
  parameters: ImageParameters,
  price: orNull(ImagePrices),
});
export type ImageModelEntry = Output<typeof ImageModelEntry>;

export type AnyModel = ChatModel | ImageModelEntry | OtherModel;

export const ModelCatalogue = closed({
  /** The days of the built-in prices, `YYYY-MM-DD`. */
  as_of: closed({ chat: Type.String(), images: Type.String() }),
  chat: Type.Array(ChatModel),
  images: Type.Array(ImageModelEntry),
  others: Type.Array(OtherModel),
  /**
   * Highest prices of a web search by any provider: for ten results, and for any number. In
   * microdollars, with fractions; null: not sold.
   */
  web_search: closed({
    id: Type.String(),
    price_micros: orNull(Type.Number()),
    price_max_micros: orNull(Type.Number()),
    is_live: Type.Boolean(),
  }),
});
export type ModelCatalogue = Output<typeof ModelCatalogue>;

/** In milliseconds. */
const Latency = closed({ p50_ms: Type.Integer(), p95_ms: Type.Integer() });

export const MeasuredModel = closed({
  id: Type.String(),
  answered: Type.Integer({ description: 'Charged requests.' }),
  failed: Type.Integer(),
  first_token: orNull(Latency, 'To the first piece of streams; null: none was measured.'),
  whole: orNull(Latency, 'To the end of the answer; null: none was measured.'),
  tokens_per_second: orNull(Type.Number()),
});
export type MeasuredModel = Output<typeof MeasuredModel>;

export const PricedModel = Type.Union([
  closed({ type: Type.Literal('chat'), ...ChatModel.properties }),
  closed({ type: Type.Literal('image'), ...ImageModelEntry.properties }),
  OtherModel,
]);

export const modelsEndpoints = {
  'GET /accounts/:account/models': endpoint({
    access: 'viewer',
    operator: true,
    summary: 'List the models and the account’s prices',
    note: "In the catalogue's order.",
    output: ModelCatalogue,
  }),
  'GET /accounts/:account/models/measured': endpoint({
    access: 'viewer',
    summary: 'Get the measured speed and uptime of the models that the account used',
    note: 'Over the last 30 UTC days, with today. Some seconds old, and exact to within 10 %. Models without requests are missing.',
    query: Type.Object({ mode: Mode }),
    output: closed({ days: Type.Integer(), data: Type.Array(MeasuredModel) }),
  }),
  'GET /admin/v1/models': endpoint({
    scope: 'prices:read',
    summary: 'List the models with their prices',
    note: 'In the order of their ids, at list prices with the markup. `account`: at its prices.',
    query: Type.Object({ account: AccountFilter }),
    list: PricedModel,
    order: 'id',
  }),
};
