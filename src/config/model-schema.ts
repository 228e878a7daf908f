// The schema of a model's entry, in the configuration and in the built-in catalogue. Every field is
// optional, because an entry may override one field of a built-in model.
// domain/catalog/load-catalog.ts checks what a new model needs and sets its defaults.
import { Type, type Static } from 'typebox';
import { upstreamFormatNames } from '../terms/format-name.ts';
import { modelTypeNames } from '../terms/model-type.ts';
import type { ServiceTier } from '../canonical/service-tier.ts';
import { searchToolNames, type SearchToolName } from '../terms/web-search.ts';
import { byName, closed, flag, integer, number, optional, orNull } from '../lib/schema-parts.ts';
import { sharedModelFields } from './shared-model-fields.ts';
import { ModelTimeouts } from './timeouts.ts';

/** Vendors' ids: `gpt-5.2`, `MiniMax-M3`, `meta-llama/Llama-3`, `llama3:8b`. */
export const modelNamePattern = '^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,199}$';
export const modelNames =
  'letters, digits and `._:/@+-`, beginning with a letter or digit, at most 200';

const usdPerMillion = (description: string) =>
  Type.Number({ minimum: 0, maximum: 1_000, description });
/** Paths of fields, such as `messages.content.hologram`. */
export const passFields = (description: string) =>
  Type.Array(
    Type.String({
      minLength: 1,
      maxLength: 200,
      pattern: '^[^\\s.\\[\\]]+(\\.[^\\s.\\[\\]]+)*$',
      shape: 'names separated by dots, without spaces and brackets',
    }),
    { description },
  );
const tokenCount = (description: string) =>
  Type.Integer({ minimum: 1, maximum: 100_000_000, description });

const tokenPrices = {
  input: usdPerMillion(
    'USD per million input tokens that were not read from or written to the prompt cache. An explicit 0 is free.',
  ),
  output: usdPerMillion('USD per million output tokens, including reasoning.'),
  ...optional({
    cache_write: usdPerMillion(
      'USD per million tokens written to the prompt cache. Default: the input price.',
    ),
    cache_read: usdPerMillion(
      'USD per million tokens read from the prompt cache. Default: the input price.',
    ),
    cache_write_1h: usdPerMillion(
      'USD per million tokens written to the prompt cache for one hour. Default: twice the input price.',
    ),
    audio: usdPerMillion(
      'USD per million input tokens of sound. Sound read from the prompt cache costs `cache_read` times `audio` by `input`. Default: the input price.',
    ),
  }),
};

const PriceTier = closed({
  above_input_tokens: integer(
    'The tier prices the whole request when its input, cached or not, has more tokens than this.',
    { minimum: 1, maximum: 100_000_000 },
  ),
  ...tokenPrices,
});

const priceSet = {
  ...tokenPrices,
  tiers: Type.Optional(Type.Array(PriceTier, { description: 'Other prices for long inputs.' })),
};
const tierPrices = (description: string) => Type.Optional(closed(priceSet, { description }));

const time = '([01]\\d|2[0-3]):[0-5]\\d';
const day = '(Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const HourlyPrice = closed({
  utc: Type.Array(
    Type.String({
      pattern: `^${day}(-${day})? ${time}-(${time}|24:00)$`,
      shape: 'days and hours, such as Mon-Fri 01:00-04:00',
    }),
    {
      minItems: 1,
      description:
        'Days and hours in UTC, such as `Mon-Fri 01:00-04:00`. Hours that end before they begin end on the next day.',
    },
  ),
  ...priceSet,
});

const Price = closed({
  effective_from: Type.Optional(
    Type.String({
      pattern: '^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2})?Z)?$',
      shape: 'a day, such as 2026-12-01, or a time like 2026-12-01T16:00Z',
      description:
        'When the price begins: a day (00:00 UTC), or a time like `2026-12-01T16:00Z`. Default: always.',
    }),
  ),
  ...priceSet,
  ...optional({
    million_characters: usdPerMillion(
      'USD per million characters of the text, for a `speech` model that is not billed by tokens; `input` and `output` are 0 then.',
    ),
    search: number(
      'USD a search unit of a model that ranks documents: a query with up to 100 documents. Its token prices are then 0. Default: it is charged by the input token.',
      { minimum: 0, maximum: 100 },
    ),
    minute: number(
      'USD per minute of audio, for a `transcription` model that is not billed by tokens; `input` and `output` are 0 then.',
      { minimum: 0, maximum: 1_000 },
    ),
    service_tiers: closed(
      {
        flex: tierPrices('Slower: `service_tier: flex`.'),
        priority: tierPrices('Faster: `service_tier: priority`, or `speed: fast` in Messages.'),
        ultrafast: tierPrices('The fastest: `service_tier: ultrafast`.'),
      } satisfies Record<ServiceTier, unknown>,
      { description: 'Prices of the service tiers that are sold.' },
    ),
    batch: Type.Number({
      minimum: 0.01,
      maximum: 1,
      description:
        "The part of every token price that a line of a batch pays when the provider's own batch API runs it, such as 0.5. Without it, no line goes there. Default for the built-in models of Anthropic, OpenAI, Groq and Mistral and newer ones of Gemini: 0.5; for some of xAI: 0.8.",
    }),
    hours: Type.Array(HourlyPrice, {
      description:
        'Other prices of the standard tier at some hours of the week. The time when the answer ends counts.',
    }),
  }),
});

const RouteEntry = closed({
  provider: Type.String({
    minLength: 1,
    description: "A provider's name under `providers`, or a known provider.",
  }),
  model: Type.String({ minLength: 1, description: "The provider's own id for the model." }),
  ...optional({
    api: Type.Enum([...upstreamFormatNames], {
      description:
        "The wire format to use. Default: the client's format if the provider supports it, otherwise the provider's first. A cloud speaks one or two with each model, which it tells by the model's id: state it for a deployment, an endpoint or an ARN of another name.",
    }),
    rank: integer(
      'Lower ranks are tried first; routes of one rank share the load. Default: the position in the list, from 0.',
      { minimum: 0, maximum: 1_000 },
    ),
    weight: integer("The route's share of the load among routes of one rank.", {
      minimum: 1,
      maximum: 1_000_000,
      default: 1,
    }),
    cost_factor: number(
      'What the provider bills on this route, as a factor of the price: `1.1` for a region that costs a tenth more. It changes the cost that is booked, and so the margin, never what accounts pay. Default: 1.',
      { minimum: 0, maximum: 100 },
    ),
    batch_model: Type.String({
      minLength: 1,
      description:
        "For `azure`: the name of the model's deployment of a batch type. Lines of batches go to Azure's batch API there, if `prices.batch` is known. Default: none, and they run one by one.",
    }),
    context_tokens: integer(
      "The most tokens of input and output together on this route. Default: the model's.",
      { minimum: 1, maximum: 100_000_000 },
    ),
    lacks: Type.Array(Type.Enum(['streaming', 'vision', 'tools']), {
      description:
        'What the model cannot do on this route; requests that need it use other routes.',
    }),
  }),
});

const Supports = closed(
  optional({
    thinking: flag('The model reasons before it answers. Default for a new model: `false`.'),
    streaming: flag('The model can stream. Default for a new model: `true`.'),
    vision: flag('The model takes images. Default for a new model: `false`.'),
    audio: flag(
      'The model hears: it takes sound in a conversation. Give `prices.audio` if its provider bills sound apart. Default for a new model: `false`.',
    ),
    tools: flag('The model can call tools. Default for a new model: `true`.'),
  }),
);

const toolPriceMeanings: Readonly<Record<SearchToolName, string>> = {
  web_search: 'The web search of Responses and Messages; for a search provider, each call to it.',
  web_search_preview: "The preview web search of Responses, and Chat's `web_search_options`.",
};
const toolPrice = (name: SearchToolName) =>
  orNull(
    Type.Number({ minimum: 0, maximum: 100 }),
    `USD a call. ${toolPriceMeanings[name]} \`null\`: not sold.`,
  );

/** Prices of the provider's own tools, for each call, in addition to tokens. */
export const ToolPrices = closed(optional(byName(searchToolNames, toolPrice)));

const vectorSize = (description: string) =>
  Type.Integer({ minimum: 1, maximum: 100_000, description });

const Dimensions = closed(
  {
    default: vectorSize('The size of its vectors when a request names none.'),
    min: Type.Optional(vectorSize('The smallest size that it can make. Default: `default`.')),
    max: Type.Optional(vectorSize('The largest size that it can make. Default: `default`.')),
  },
  { description: 'The size of the vectors of an embedding model, in numbers.' },
);

export const ModelEntry = closed({
  ...sharedModelFields,
  ...optional({
    type: Type.Enum([...modelTypeNames], {
      description:
        'What the model does. `embedding`: it makes vectors of texts, and `prices.output` is 0. `rerank`: it ranks documents by a query, at `prices.input` a token or `prices.search` a search unit. `moderation`: it judges texts and images. `speech`: it speaks a text. `transcription`: it writes down what is said. Fixed for a built-in model. Default: `chat`.',
    }),
    dimensions: Dimensions,
    routes: Type.Array(RouteEntry, {
      minItems: 1,
      description:
        'Where the model runs, in order; later routes are fallbacks. A new model needs at least one.',
    }),
    context_tokens: tokenCount(
      'The most tokens of input and output together. Default for a new model: `max_input_tokens` + `max_output_tokens`.',
    ),
    max_input_tokens: tokenCount('The most input tokens. Default for a new model: 128000.'),
    max_output_tokens: tokenCount(
      'The most output tokens, including reasoning. Default for a new model: 16384.',
    ),
    supports: Supports,
    prices: Type.Union([Price, Type.Array(Price, { minItems: 1 })], {
      description:
        'USD per million tokens, as accounts pay them, without `pricing.markup`. Several entries, each with its `effective_from`, make a schedule. A model without a price never runs.',
    }),
    tool_prices: ToolPrices,
    timeouts: ModelTimeouts,
    pass_fields: passFields("Like a provider's `pass_fields`, for all routes of this model."),
    cache_marks: flag(
      'Conversations of Responses and Chat clients with a Claude model are marked for its prompt cache, which makes each later turn cheaper. Default: `true`.',
    ),
  }),
});

export type DeepReadonly<T> = T extends object
  ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
  : T;
export type ModelEntry = DeepReadonly<Static<typeof ModelEntry>>;
export type PriceEntry = DeepReadonly<Static<typeof Price>>;
export type PriceSetEntry = Omit<
  PriceEntry,
  'effective_from' | 'search' | 'service_tiers' | 'hours' | 'batch'
>;
export type TokenPricesEntry = Omit<PriceSetEntry, 'tiers'>;
export type ToolPricesEntry = DeepReadonly<Static<typeof ToolPrices>>;
export type RouteEntry = DeepReadonly<Static<typeof RouteEntry>>;

/** Returns the prices of a version: the standard ones, those of tiers, and those of hours. */
export function priceSetsOf(price: PriceEntry): readonly PriceSetEntry[] {
  return [price, ...Object.values(price.service_tiers ?? {}), ...(price.hours ?? [])];
}

/** Returns all versions of an entry's price in the order written; empty when it has no price. */
export function pricesOf({ prices }: Pick<ModelEntry, 'prices'>): readonly PriceEntry[] {
  if (prices === undefined) return [];
  return 'input' in prices ? [prices] : prices;
}
