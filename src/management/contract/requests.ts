// The history of requests: charged, repeated, refused and failed ones in one list.
import { Type } from 'typebox';
import { closed, Mode, Named, orNull } from './common.ts';
import { endpoint, type Output } from './endpoint.ts';
import { UsageDetail, UsageFilters } from './usage.ts';

export const requestOutcomes = ['complete', 'cut-off', 'cached', 'replayed', 'failed'] as const;

const RequestFilters = {
  ...UsageFilters,
  outcome: Type.Optional(Type.Enum([...requestOutcomes])),
  code: Type.Optional(Type.String({ maxLength: 64 })),
};

export const RequestRecord = closed({
  request_id: Type.String(),
  created_at: Type.String(),
  key: Named,
  model: orNull(Named, 'null: it failed before its model was known.'),
  endpoint: Type.String({ description: 'One of `endpointNames`, or the path of another route.' }),
  outcome: Type.Enum([...requestOutcomes]),
  code: orNull(Type.String(), 'The error code; null: it did not fail.'),
  status: Type.Integer({ description: 'The HTTP status that the code has; 200: it did not fail.' }),
  streamed: Type.Boolean(),
  input_tokens: Type.Integer({ description: 'All of the input, cached or not.' }),
  output_tokens: Type.Integer(),
  images: Type.Integer(),
  web_searches: Type.Integer(),
  cost_micros: Type.Integer(),
  saved_micros: Type.Integer({ description: 'What the repeated answer had cost, if known.' }),
  duration_ms: orNull(Type.Integer()),
  first_token_ms: orNull(Type.Integer(), 'null: it did not stream, or it is not known.'),
  finish: orNull(Type.String(), 'Why the model stopped; null: not known.'),
  client: orNull(
    Type.String(),
    'The program that sent it, from `User-Agent`: `openai-python/2.8`; null: not known, or removed after `history.days`.',
  ),
  tags: Type.Array(Type.String()),
});
export type RequestRecord = Output<typeof RequestRecord>;

const RequestError = closed({
  code: Type.String(),
  meaning: Type.String(),
  remedy: Type.String(),
  message: orNull(
    Type.String(),
    'As it was sent; null: the provider worded it, or it was not kept.',
  ),
  param: orNull(Type.String(), 'The field at fault.'),
  documentation_url: Type.String(),
});

const RequestTry = closed({
  provider: Type.String(),
  model: Type.String({ description: "The provider's name of the model." }),
  ending: Type.Enum(['answered', 'failed']),
  failure: orNull(Type.String(), '`status`, `timeout`, `connection`, `broken-stream` …'),
  status: orNull(Type.Integer(), 'The HTTP status of a failure.'),
  ms: Type.Integer(),
});

export const RequestDetail = closed({
  ...RequestRecord.properties,
  mode: Mode,
  charge: orNull(UsageDetail, 'null: it was not charged.'),
  error: orNull(RequestError, 'null: it did not fail.'),
  history: orNull(
    closed({
      asked_model: orNull(Type.String(), 'The model’s name as it was sent.'),
      address: orNull(Type.String(), "The client's address."),
      trace_id: orNull(Type.String(), 'From the `traceparent` that the client sent.'),
      client_gone: Type.Boolean(),
      tries: Type.Array(RequestTry),
    }),
    'null: it was removed after `history.days`, or the gateway was killed before it wrote this.',
  ),
});
export type RequestDetail = Output<typeof RequestDetail>;

const KeptBody = closed({
  text: Type.String({ description: 'The body as it was sent, or its start.' }),
  bytes: Type.Integer({ description: 'Its whole length.' }),
  cut: Type.Boolean({ description: 'Only its start is kept.' }),
});
export type KeptBody = Output<typeof KeptBody>;

export const noBodiesReasons = [
  'disabled',
  'account-off',
  'key-off',
  'expired',
  'erased',
  'unreadable',
  'not-kept',
] as const;

export const RequestBodies = closed({
  kept: orNull(
    closed({
      request: orNull(KeptBody),
      answer: orNull(KeptBody, 'null: the client left before.'),
      streamed: Type.Boolean({ description: 'The answer is the text of an event stream.' }),
      expires_at: Type.String(),
    }),
    'null: there are none; `reason` says why.',
  ),
  reason: orNull(Type.Enum([...noBodiesReasons])),
});
export type RequestBodies = Output<typeof RequestBodies>;

export const RequestTotals = closed({
  charged: orNull(
    closed({
      requests: Type.Integer(),
      input_tokens: Type.Integer(),
      output_tokens: Type.Integer(),
      cost_micros: Type.Integer(),
    }),
    'null: the filter has no charged requests, or is finer than the sums by day.',
  ),
  uncharged: orNull(
    closed({
      cached: Type.Integer(),
      replayed: Type.Integer(),
      failed: Type.Integer(),
      saved_micros: Type.Integer(),
    }),
    'null: the filter has none, or is finer than the sums by day.',
  ),
});
export type RequestTotals = Output<typeof RequestTotals>;

const reading = { access: 'viewer', operator: true, scope: 'reports:read' } as const;

export const requestEndpoints = {
  'GET /accounts/:account/requests': endpoint({
    ...reading,
    noted: 'daily',
    summary: 'List requests',
    note: 'Newest first, or in another order: the first hundred of the chosen days then, at most 31, or of the last 30. Charged requests are complete. Others are some seconds old and kept for `history.days`, and a storm of them is sampled.',
    query: Type.Object({
      ...RequestFilters,
      sort: Type.Optional(Type.Enum(['cost', 'duration', 'first-token'])),
    }),
    page: RequestRecord,
  }),
  'GET /accounts/:account/requests/totals': endpoint({
    ...reading,
    summary: 'Sum the requests that match a filter',
    note: 'At most 366 days; without days, the last 30.',
    query: Type.Object(RequestFilters),
    output: RequestTotals,
  }),
  'GET /accounts/:account/requests/:request': endpoint({
    ...reading,
    noted: 'daily',
    commands: ['requests show'],
    summary: 'Get a request',
    note: 'Finds a request of either mode.',
    output: RequestDetail,
  }),
  'GET /accounts/:account/requests/:request/bodies': endpoint({
    access: 'admin',
    operator: true,
    noted: 'each',
    summary: 'Get the kept bodies of a request',
    note: 'Of a key that keeps them (`body_days`).',
    output: RequestBodies,
  }),
};
