// Charged requests and their costs.
import { Type, type Static, type TSchema } from 'typebox';
import { endpointNames } from '../../terms/charged-endpoints.ts';
import { missReasons } from '../../terms/prompt-cache.ts';
import { closed, Mode, Named, orNull, UtcDay } from './common.ts';
import { endpoint, type Output } from './endpoint.ts';

const amount = (maximum: number) => Type.Optional(Type.Integer({ minimum: 0, maximum }));

/** A field that is left out does not filter. Days are UTC; both are inclusive. */
export const UsageFilters = {
  mode: Mode,
  key: Type.Optional(Type.String({ maxLength: 64 })),
  /** An id of the catalogue. */
  model: Type.Optional(Type.String({ maxLength: 200 })),
  endpoint: Type.Optional(Type.Enum([...endpointNames])),
  outcome: Type.Optional(Type.Enum(['complete', 'cut-off'])),
  /** A whole tag: `project=alpha`. */
  tag: Type.Optional(Type.String({ maxLength: 193 })),
  /** Charged requests only, because the history does not have it. */
  provider: Type.Optional(Type.String({ maxLength: 64 })),
  /** The user who created the key. */
  member: Type.Optional(Type.String({ maxLength: 64 })),
  /** An hour of the week in UTC: 0 begins on Sunday at midnight. */
  hour: Type.Optional(Type.Integer({ minimum: 0, maximum: 167 })),
  /** Of the charged cost. Free requests cost 0. */
  cost_min_micros: amount(Number.MAX_SAFE_INTEGER),
  cost_max_micros: amount(Number.MAX_SAFE_INTEGER),
  duration_min_ms: amount(2 ** 31 - 1),
  /**
   * A program, of one version or of all: `openai-python/2.8`, `openai-python`. As long as the
   * history has it.
   */
  client: Type.Optional(Type.String({ maxLength: 64 })),
  from: Type.Optional(UtcDay),
  to: Type.Optional(UtcDay),
};

const UsageQuery = Type.Object(UsageFilters);
export type UsageQuery = Static<typeof UsageQuery>;

export const UsageRecord = closed({
  request_id: Type.String(),
  created_at: Type.String(),
  mode: Mode,
  key: Named,
  model: Named,
  endpoint: Type.String({ description: 'One of `endpointNames`.' }),
  outcome: Type.Enum(['complete', 'cut-off']),
  streamed: Type.Boolean(),
  input_tokens: Type.Integer({ description: 'All of the input, cached or not.' }),
  output_tokens: Type.Integer(),
  images: Type.Integer(),
  web_searches: Type.Integer(),
  cost_micros: Type.Integer(),
  duration_ms: orNull(Type.Integer(), "From the request's arrival to its charge; null: not known."),
});
export type UsageRecord = Output<typeof UsageRecord>;

/** The prices of a charge, as the account pays them. */
export const UsagePrice = closed({
  input_micros: Type.Integer({ description: 'Microdollars for a million tokens.' }),
  cache_read_micros: Type.Integer(),
  cache_write_micros: Type.Integer(),
  cache_write_1h_micros: Type.Integer(),
  output_micros: Type.Integer(),
  web_search_micros: Type.Number({ description: 'Microdollars for one. May have a fraction.' }),
  image_micros: Type.Number({ description: 'Microdollars for one. May have a fraction.' }),
  request_micros: Type.Number(),
});
export type UsagePrice = Output<typeof UsagePrice>;

const count = (description: string) => Type.Integer({ description });

const CacheMiss = closed({
  reason: Type.Enum([...missReasons]),
  requests: Type.Integer(),
  tokens: count('The input that was not read.'),
  cost_micros: count('What these tokens cost beyond their price when read; 0 on first turns.'),
  turn: Type.Integer(),
});

const cacheSums = {
  requests: Type.Integer(),
  input_tokens: count('All input: `read_tokens`, `new_tokens` and the tokens in `missed`.'),
  read_tokens: count('Read from the provider’s cache.'),
  new_tokens: count('Sent for the first time.'),
  cost_micros: Type.Integer(),
  saved_micros: Type.Integer(),
  saved_by_marks_micros: count('The same, of requests that Tollgate marked.'),
  saved_by_affinity_micros: Type.Integer(),
  missed: Type.Array(CacheMiss),
};

const cacheRow = {
  id: Type.String({ description: 'Of the model, key or conversation, or the day.' }),
  model_id: Type.String({ description: 'Of the last request.' }),
  key_id: Type.String({ description: 'Of the last request.' }),
  last_at: Type.String({ description: 'The time of the last request.' }),
  ...cacheSums,
};

const cacheReportOf = <Row extends TSchema>(row: Row) =>
  closed({
    total: closed(cacheSums, { description: 'Of all rows.' }),
    rows: Type.Array(row),
    cut_at: orNull(Type.String()),
  });

export const CacheReport = cacheReportOf(closed(cacheRow));
const NamedCacheReport = cacheReportOf(
  closed({ ...cacheRow, name: orNull(Type.String(), 'Of the model or key; null: it has none.') }),
);
export type NamedCacheReport = Output<typeof NamedCacheReport>;

export const UsageDetail = closed({
  ...UsageRecord.properties /** Each token of the input is in one of the first four. */,
  tokens: closed({
    input: Type.Integer(),
    cache_read: Type.Integer(),
    cache_write: Type.Integer(),
    cache_write_1h: Type.Integer(),
    output: Type.Integer(),
    reasoning: Type.Integer({ description: 'The part of the output that is reasoning.' }),
  }),
  usage_source: Type.Enum(['upstream', 'estimate']),
  price_version: Type.String(),
  price: orNull(UsagePrice, 'null: it was made before prices were kept.'),
  hold_micros: Type.Integer({ description: 'Reserved before it ran.' }),
  loss_micros: Type.Integer(),
  provider: Type.String({ description: 'Who served it.' }),
  attempts: Type.Integer({ description: 'Calls to providers that it took.' }),
  first_byte_ms: orNull(Type.Integer()),
  cache_miss: orNull(CacheMiss, 'Why not more was read from the cache; null: nothing is missing.'),
});
export type UsageDetail = Output<typeof UsageDetail>;

export const usageEndpoints = {
  'GET /accounts/:account/usage.csv': endpoint({
    access: 'viewer',
    operator: true,
    noted: 'daily',
    summary: 'Export the charges that match the filters',
    query: UsageQuery,
    file: 'text/csv',
  }),
  'GET /accounts/:account/prompt-cache': endpoint({
    access: 'viewer',
    operator: true,
    summary: 'Report what was read from providers’ prompt caches',
    note: 'What could have been read, why it was not, and what that cost. At most 31 days, both included. Answers to test keys come from no cache.',
    query: Type.Object({
      mode: Mode,
      from: UtcDay,
      to: UtcDay,
      by: Type.Enum(['model', 'key', 'day', 'conversation']),
    }),
    output: NamedCacheReport,
  }),
};
