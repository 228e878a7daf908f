// A model as it is written down, in the configuration and in the built-in catalogue alike. Every field is optional here: an entry may
// override one field of a built-in model. What a new model needs, and what it is given by default, is in catalog/load-catalog.ts.
import { Type, type Static } from 'typebox';
import { searchToolNames, type SearchToolName } from '../canonical/web-search.ts';
import { ModelTimeouts } from './timeouts.ts';

/** Ids as vendors write them: `gpt-4.1`, `MiniMax-M3`, `meta-llama/Llama-3`, `llama3:8b`. */
export const modelNamePattern = '^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,199}$';

const closed = { additionalProperties: false } as const;
const usdPerMillion = (description: string) => Type.Number({ minimum: 0, maximum: 1_000, description });
/** Paths of fields, such as `messages.content.hologram`. */
export const passFields = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 200, pattern: '^[^\\s.\\[\\]]+(\\.[^\\s.\\[\\]]+)*$' }), { description });
const tokenCount = (description: string) => Type.Integer({ minimum: 1, maximum: 100_000_000, description });

const tokenPrices = {
  input: usdPerMillion(
    'USD per million input tokens that were not read from or written to the prompt cache. An explicit 0 is free.',
  ),
  output: usdPerMillion('USD per million output tokens, reasoning included.'),
  cache_write: Type.Optional(usdPerMillion('USD per million tokens written to the prompt cache. Unknown: the input price.')),
  cache_read: Type.Optional(usdPerMillion('USD per million tokens read from the prompt cache. Unknown: the input price.')),
  cache_write_1h: Type.Optional(
    usdPerMillion('USD per million tokens written to the prompt cache for one hour. Unknown: the price of a cache write.'),
  ),
};

const PriceTier = Type.Object(
  {
    above_input_tokens: Type.Integer({
      minimum: 1,
      maximum: 100_000_000,
      description: 'The tier prices the whole request when its input, cached or not, has more tokens than this.',
    }),
    ...tokenPrices,
  },
  closed,
);

const Price = Type.Object(
  {
    effective_from: Type.Optional(
      Type.String({
        pattern: '^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2})?Z)?$',
        description:
          'When the price begins: a day, which begins at 00:00 UTC, or a moment like `2026-12-01T16:00Z`. Left out: always.',
      }),
    ),
    ...tokenPrices,
    tiers: Type.Optional(Type.Array(PriceTier, { description: 'Other prices for long inputs.' })),
  },
  closed,
);

const RouteEntry = Type.Object(
  {
    provider: Type.String({ minLength: 1, description: 'The name of a provider under `providers`, or of a known one.' }),
    model: Type.String({ minLength: 1, description: "The provider's own id of the model." }),
    api: Type.Optional(
      Type.Enum(['responses', 'chat', 'messages'], {
        description:
          "The wire format to use there. Left out: the client's own if the provider speaks it, else the provider's first.",
      }),
    ),
    rank: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1_000,
        description:
          'Lower ranks are tried first; routes of one rank share the load. Left out: its position in the list, from 0.',
      }),
    ),
    weight: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        default: 1,
        description: 'Its share of the load among routes of one rank.',
      }),
    ),
    context_tokens: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100_000_000,
        description: "The most tokens of input and output together there. Left out: the model's.",
      }),
    ),
    lacks: Type.Optional(
      Type.Array(Type.Enum(['streaming', 'vision', 'tools']), {
        description: 'What the model cannot do there: requests that need it are sent to other routes.',
      }),
    ),
  },
  closed,
);

const Supports = Type.Object(
  {
    thinking: Type.Optional(Type.Boolean({ description: 'Whether the model reasons before it answers. A new model: `false`.' })),
    streaming: Type.Optional(Type.Boolean({ description: 'Whether it can stream. A new model: `true`.' })),
    vision: Type.Optional(Type.Boolean({ description: 'Whether it takes images. A new model: `false`.' })),
    tools: Type.Optional(Type.Boolean({ description: 'Whether it calls tools. A new model: `true`.' })),
  },
  closed,
);

const toolPriceMeanings: Readonly<Record<SearchToolName, string>> = {
  web_search: 'The web search of Responses and of Messages.',
  web_search_preview: "The preview of web search in Responses, and Chat's `web_search_options`.",
};
const toolPrice = (name: SearchToolName) =>
  Type.Optional(
    Type.Union([Type.Number({ minimum: 0, maximum: 100 }), Type.Null()], {
      description: `USD a call. ${toolPriceMeanings[name]} \`null\`: not sold.`,
    }),
  );

/** Calls of tools that the provider runs, each at a price of its own beside the tokens. */
export const ToolPrices = Type.Object(
  Object.fromEntries(searchToolNames.map((name) => [name, toolPrice(name)])) as Record<
    SearchToolName,
    ReturnType<typeof toolPrice>
  >,
  closed,
);

export const ModelEntry = Type.Object(
  {
    display_name: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'The readable name. A new model: its id.' }),
    ),
    owned_by: Type.Optional(
      Type.String({ minLength: 1, maxLength: 100, description: 'Who made it. A new model: the provider of its first route.' }),
    ),
    created: Type.Optional(
      Type.String({
        pattern: '^\\d{4}-\\d{2}-\\d{2}$',
        description: 'The day it was released. A new model: the day of the built-in catalogue.',
      }),
    ),
    routes: Type.Optional(
      Type.Array(RouteEntry, {
        minItems: 1,
        description: 'Where it runs, in order: the later ones are fallbacks. A new model needs one.',
      }),
    ),
    context_tokens: Type.Optional(
      tokenCount('The most tokens of input and output together. A new model: `max_input_tokens` + `max_output_tokens`.'),
    ),
    max_input_tokens: Type.Optional(tokenCount('The most input tokens. A new model: 128000.')),
    max_output_tokens: Type.Optional(tokenCount('The most output tokens, reasoning included. A new model: 16384.')),
    supports: Type.Optional(Supports),
    prices: Type.Optional(
      Type.Union([Price, Type.Array(Price, { minItems: 1 })], {
        description:
          'USD per million tokens, as accounts pay it: `pricing.markup` is not added. Several, each with its `effective_from`, make a schedule. A model without a price never runs.',
      }),
    ),
    tool_prices: Type.Optional(ToolPrices),
    timeouts: Type.Optional(ModelTimeouts),
    pass_fields: Type.Optional(passFields('Like `pass_fields` of a provider, for all routes of this model.')),
  },
  closed,
);

export type DeepReadonly<T> = T extends object ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> } : T;
export type ModelEntry = DeepReadonly<Static<typeof ModelEntry>>;
export type PriceEntry = DeepReadonly<Static<typeof Price>>;
export type TokenPricesEntry = Omit<PriceEntry, 'effective_from' | 'tiers'>;
export type ToolPricesEntry = DeepReadonly<Static<typeof ToolPrices>>;
export type RouteEntry = DeepReadonly<Static<typeof RouteEntry>>;

/** The versions of an entry's price, in the order written; none when it states no price. */
export function pricesOf({ prices }: Pick<ModelEntry, 'prices'>): readonly PriceEntry[] {
  if (prices === undefined) return [];
  return 'input' in prices ? [prices] : prices;
}
