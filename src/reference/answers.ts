// The answers that the gateway writes itself, as schemas. They are closed: a field that is missing
// here fails the tests. Each is in the public document by the name that it is exported by.
import { Type } from 'typebox';
import { closed, orNull } from '../lib/schema-parts.ts';
import { priceTiers } from '../canonical/service-tier.ts';
import { searchToolNames } from '../terms/web-search.ts';
import { ErrorFields } from '../formats/error-schema.ts';

const count = Type.Integer({ minimum: 0 });
const text = Type.String();
/** ISO 8601, UTC. */
const time = Type.String({ format: 'date-time' });
const usd = (description: string) => Type.Number({ minimum: 0, description });

export const ModelEntry = closed({
  id: text,
  object: Type.Literal('model'),
  created: Type.Integer({ description: 'Unix seconds.' }),
  owned_by: text,
  type: Type.Enum([
    'model',
    'embedding',
    'rerank',
    'moderation',
    'speech',
    'transcription',
    'image',
  ]),
  display_name: text,
  created_at: time,
  max_input_tokens: Type.Optional(Type.Integer()),
  max_tokens: Type.Optional(Type.Integer({ description: 'The most output tokens.' })),
  deprecated_at: Type.Optional(time),
  retires_at: Type.Optional(time),
  successor: Type.Optional(Type.String()),
  ended: Type.Optional(Type.Literal(true)),
});

export const ModelList = closed({
  object: Type.Literal('list'),
  data: Type.Array(ModelEntry),
  has_more: Type.Boolean(),
  first_id: orNull(text),
  last_id: orNull(text),
});

export const GeminiModel = closed({
  name: text,
  version: text,
  displayName: text,
  description: text,
  inputTokenLimit: Type.Optional(Type.Integer()),
  outputTokenLimit: Type.Optional(Type.Integer()),
  thinking: Type.Optional(Type.Boolean()),
  supportedGenerationMethods: Type.Array(text),
});

export const GeminiModelList = closed({
  models: Type.Array(GeminiModel),
  nextPageToken: Type.Optional(text),
});

const million = usd('US dollars for a million tokens.');
const tokenPrices = {
  input_price_per_1m: million,
  output_price_per_1m: million,
  cache_write_price_per_1m: million,
  cache_write_1h_price_per_1m: million,
  cache_read_price_per_1m: million,
  audio_price_per_1m: Type.Optional(
    usd('US dollars for a million input tokens of sound. Left out: as other input.'),
  ),
};
const tieredPrices = {
  ...tokenPrices,
  price_tiers: Type.Array(closed({ above_input_tokens: count, ...tokenPrices })),
};

const allPrices = {
  ...tieredPrices,
  price_per_1m_characters: Type.Optional(
    usd('US dollars for a million characters of the text. Left out: by tokens.'),
  ),
  price_per_search_unit: Type.Optional(usd('US dollars for a query with up to 100 documents.')),
  price_per_minute: Type.Optional(usd('US dollars for a minute of audio. Left out: by tokens.')),
  price_variants: Type.Array(
    closed({
      service_tier: orNull(Type.Enum([...priceTiers])),
      hours_utc: orNull(text),
      ...tieredPrices,
    }),
  ),
};

export const ChatModelInfo = closed({
  id: text,
  display_name: text,
  type: Type.Optional(Type.Enum(['embedding', 'rerank', 'moderation', 'speech', 'transcription'])),
  dimensions: Type.Optional(orNull(closed({ default: count, min: count, max: count }))),
  context_window: Type.Integer({ description: 'The most input and output tokens together.' }),
  max_input_tokens: Type.Integer({ minimum: 0, description: 'The same as `context_window`.' }),
  max_prompt_tokens: Type.Integer({ minimum: 0, description: 'The most input tokens.' }),
  max_output_tokens: count,
  supports_thinking: Type.Boolean(),
  supports_streaming: Type.Boolean(),
  supports_vision: Type.Boolean(),
  supports_audio: Type.Boolean({ description: 'It hears: it takes sound in a conversation.' }),
  ...allPrices,
  scheduled_prices: Type.Array(closed({ effective_from: time, ...allPrices })),
  search_prices: closed(
    Object.fromEntries(
      searchToolNames.map((name) => [name, Type.Optional(usd('US dollars for one search.'))]),
    ),
  ),
});

const byTier = Type.Record(Type.String(), Type.Number({ minimum: 0 }));

const noTokenPrice = Type.Number({ description: 'Always 0: images have their own prices.' });

export const ImageModelInfo = closed({
  id: text,
  display_name: text,
  type: Type.Literal('image'),
  mode: Type.Enum(['text-to-image', 'edit', 'reference']),
  family: text,
  max_input_images: count,
  context_window: Type.Literal(0),
  max_input_tokens: Type.Literal(0),
  max_prompt_tokens: Type.Literal(0),
  max_output_tokens: Type.Literal(0),
  supports_thinking: Type.Literal(false),
  supports_streaming: Type.Literal(false),
  supports_vision: Type.Boolean(),
  input_price_per_1m: noTokenPrice,
  output_price_per_1m: noTokenPrice,
  cache_write_price_per_1m: noTokenPrice,
  cache_read_price_per_1m: noTokenPrice,
  image_prices: closed({
    per_megapixel: Type.Boolean(),
    output: byTier,
    further_megapixel: byTier,
    input_per_megapixel: Type.Boolean(),
    input_image: byTier,
    tokens: orNull(
      closed({
        text: million,
        cached_text: million,
        image: million,
        cached_image: million,
        output: million,
      }),
    ),
  }),
});

export const ModelInfoList = closed({
  data: Type.Array(Type.Union([ChatModelInfo, ImageModelInfo])),
  web_search: orNull(
    closed({
      id: text,
      price_per_search: usd('The most that ten results cost, in US dollars.'),
      price_per_search_max: usd('The most that any search costs, in US dollars.'),
    }),
  ),
});

export const Balance = closed({
  balance_cents: Type.Integer({ description: 'Less what running requests hold.' }),
  total_input_tokens: count,
  total_output_tokens: count,
  total_tokens_used: count,
});

export const UsageRecord = closed({
  created_at: time,
  model: Type.String({ description: 'Its name.' }),
  model_id: text,
  key_id: text,
  input_tokens: count,
  output_tokens: count,
  total_tokens: count,
  cost_cents: Type.Number({ minimum: 0 }),
  web_searches: Type.Optional(count),
  images: Type.Optional(count),
  tags: Type.Optional(
    Type.Array(text, { description: 'In order of the alphabet; only if there are any.' }),
  ),
  request_id: text,
});

export const UsagePage = closed({
  data: Type.Array(UsageRecord),
  next_cursor: orNull(Type.String()),
});

export const TokenCount = closed({ input_tokens: count });

export const InputCount = closed({
  object: Type.Literal('response.input_tokens'),
  input_tokens: count,
  estimated: Type.Optional(
    Type.Literal(true, { description: 'The provider cannot count; this is our own estimate.' }),
  ),
});

export const Embeddings = closed({
  object: Type.Literal('list'),
  data: Type.Array(
    closed({
      object: Type.Literal('embedding'),
      index: count,
      embedding: Type.Union([Type.Array(Type.Number()), Type.String()]),
    }),
  ),
  model: text,
  usage: closed({ prompt_tokens: count, total_tokens: count }),
});

const vector = closed({ values: Type.Array(Type.Number()) });
const embeddingUsage = closed({ promptTokenCount: count, totalTokenCount: count });

export const GeminiEmbedding = closed({ embedding: vector, usageMetadata: embeddingUsage });

export const GeminiEmbeddings = closed({
  embeddings: Type.Array(vector),
  usageMetadata: embeddingUsage,
});

export const SpeechEvent = Type.Union([
  closed({
    type: Type.Literal('speech.audio.delta'),
    audio: Type.String({ description: 'Base64.' }),
  }),
  closed({
    type: Type.Literal('speech.audio.done'),
    usage: closed({
      input_tokens: count,
      output_tokens: count,
      total_tokens: count,
      cost: usd('US dollars.'),
    }),
  }),
  closed({ error: ErrorFields }),
]);
const searchUnits = closed({ search_units: count });

export const Ranking = closed({
  id: text,
  model: text,
  results: Type.Array(
    closed({
      index: count,
      relevance_score: Type.Number(),
      document: Type.Optional(closed({ text })),
    }),
  ),
  meta: closed({
    api_version: closed({ version: text }),
    billed_units: Type.Union([searchUnits, closed({ input_tokens: count })]),
  }),
  usage: Type.Union([searchUnits, closed({ prompt_tokens: count, total_tokens: count })]),
});

export const Moderations = closed({
  id: text,
  model: text,
  results: Type.Array(
    closed({
      flagged: Type.Boolean(),
      categories: Type.Record(Type.String(), Type.Union([Type.Boolean(), Type.Null()])),
      category_scores: Type.Record(Type.String(), Type.Number()),
      category_applied_input_types: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    }),
  ),
});

const transcriptUsage = Type.Object({
  type: Type.Enum(['duration', 'tokens']),
  seconds: Type.Optional(Type.Integer({ minimum: 0, description: 'Of audio.' })),
  input_tokens: Type.Optional(count),
  output_tokens: Type.Optional(count),
  total_tokens: Type.Optional(count),
  cost: Type.Optional(usd('US dollars. In the last event of a stream.')),
});

const times = {
  start: Type.Number({ description: 'In seconds.' }),
  end: Type.Number({ description: 'In seconds.' }),
};
const described = (description: string) => Type.Optional(Type.String({ description }));
const speaker = described('For `diarized_json`: who speaks.');

/** Providers may add other fields. */
export const Transcription = Type.Object({
  text,
  language: described('For formats with times: its name or its code.'),
  duration: Type.Optional(
    Type.Number({ description: 'For formats with times: seconds of audio.' }),
  ),
  segments: Type.Optional(
    Type.Array(Type.Object({ ...times, text, speaker }), {
      description: 'For formats with times, if the provider tells them.',
    }),
  ),
  words: Type.Optional(
    Type.Array(Type.Object({ ...times, word: Type.String({ description: 'One word.' }) }), {
      description: 'For `verbose_json`, if the provider tells them.',
    }),
  ),
  usage: transcriptUsage,
});

export const TranscriptionEvent = Type.Union([
  Type.Object({ type: Type.Literal('transcript.text.delta'), delta: text }),
  Type.Object({ type: Type.Literal('transcript.text.segment'), ...times, text, speaker }),
  Type.Object({ type: Type.Literal('transcript.text.done'), text, usage: transcriptUsage }),
  closed({ error: ErrorFields }),
]);

export const GeneratedImages = closed({
  created: Type.Integer({ description: 'Unix seconds.' }),
  model: text,
  data: Type.Array(
    Type.Union([
      closed({ url: Type.String({ description: 'A signed link, without a key.' }) }),
      closed({ b64_json: text }),
    ]),
  ),
});

export const SearchResults = closed({
  id: Type.String({ pattern: '^ws_' }),
  object: Type.Literal('search'),
  query: text,
  provider: text,
  results: Type.Array(
    closed({
      position: Type.Integer({ minimum: 1 }),
      title: text,
      url: text,
      snippet: text,
      date: orNull(Type.String({ description: '`2026-01-05`' })),
      source: Type.String({ description: 'The host without `www.`.' }),
      score: orNull(Type.Number()),
    }),
  ),
  usage: closed({ searches: Type.Literal(1) }),
});

export const Health = closed({ status: Type.Literal('ok') });

/** Details only with the metrics token. */
export const Readiness = closed({
  status: text,
  running: Type.Optional(count),
  overloaded: Type.Optional(orNull(text)),
  routes_in_trouble: Type.Optional(
    Type.Array(
      closed({ provider: text, model: text, state: text, reason: orNull(text), until: time }),
    ),
  ),
});

export const Hello = closed({ ok: Type.Literal(true) });

const about = (description: string) => ({ description });
const cents = (what: string) => Type.Integer({ description: `${what}, in cents, rounded down.` });
export const Spend = closed({
  extra_usage: Type.Object(
    {
      is_enabled: Type.Literal(true, about('Always true.')),
      monthly_limit: orNull(
        cents('The cap'),
        'The cap, of a day or a month, in cents; null: the key has none.',
      ),
      used_credits: cents('What is spent of it; without a cap in this UTC month'),
      utilization: orNull(Type.Integer(), 'The part, in percent.'),
      currency: Type.Literal('USD', about('Always dollars.')),
    },
    about('The cap of which the largest part is spent.'),
  ),
  limits: Type.Array(
    closed({
      kind: Type.Literal('spend', about('Always a cap of spending.')),
      group: Type.Enum(['daily', 'monthly'], about('The window of the cap.')),
      percent: Type.Integer(about('The part of it that is spent.')),
      resets_at: time,
      severity: Type.Enum(['normal', 'warning'], about('`warning` from 75 percent on.')),
      is_active: Type.Boolean(about('`extra_usage` is about this one.')),
    }),
    about('The caps of the key and of its owner.'),
  ),
});

export const StripeReceipt = closed({ received: Type.Literal(true) });
