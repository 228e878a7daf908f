// Charged requests and their costs.
import { Type, type Static } from 'typebox';
import { endpointNames } from '../canonical/endpoint-name.ts';
import { Mode, PageQuery, type Page } from './common.ts';
import { endpoint } from './endpoint.ts';

/** A UTC day, such as `2026-11-21`. */
const Day = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' });

/** A field that is left out does not filter. Days are UTC; both are inclusive. */
const UsageFilters = {
  mode: Mode,
  key: Type.Optional(Type.String({ maxLength: 64 })),
  /** An id of the catalogue. */
  model: Type.Optional(Type.String({ maxLength: 200 })),
  endpoint: Type.Optional(Type.Enum([...endpointNames])),
  outcome: Type.Optional(Type.Enum(['complete', 'cut-off'])),
  from: Type.Optional(Day),
  to: Type.Optional(Day),
};

/**
 * The query of `GET /accounts/:account/usage.csv`, which is a stream and so not among the endpoints
 * below.
 */
export const UsageExportQuery = Type.Object(UsageFilters);
export type UsageExportQuery = Static<typeof UsageExportQuery>;

export type UsageRecord = {
  readonly request_id: string;
  readonly created_at: string;
  readonly mode: Mode;
  readonly key: { readonly id: string; readonly name: string };
  readonly model: { readonly id: string; readonly name: string };
  /** One of `endpointNames`. */
  readonly endpoint: string;
  /** `cut-off`: the client left, and pays for what had come. */
  readonly outcome: 'complete' | 'cut-off';
  readonly streamed: boolean;
  /** All of the input, cached or not. */
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly images: number;
  readonly web_searches: number;
  readonly cost_micros: number;
  /** From the request's arrival to its charge; null: not known. */
  readonly duration_ms: number | null;
};

/** The prices of a charge, as the account pays them. */
export type UsagePrice = {
  /** Microdollars for a million tokens. */
  readonly input_micros: number;
  readonly cache_read_micros: number;
  readonly cache_write_micros: number;
  readonly cache_write_1h_micros: number;
  readonly output_micros: number;
  /** Microdollars for one. May have a fraction. */
  readonly web_search_micros: number;
  readonly image_micros: number;
  /** Microdollars for the request beside what is counted: images that their provider bills by tokens. */
  readonly request_micros: number;
};

export type UsageDetail = UsageRecord & {
  /** Each token of the input is in one of the first four. */
  readonly tokens: {
    readonly input: number;
    readonly cache_read: number;
    readonly cache_write: number;
    readonly cache_write_1h: number;
    readonly output: number;
    /** The part of the output that is reasoning. */
    readonly reasoning: number;
  };
  /** Who counted the tokens: the provider, or the gateway where the provider did not say. */
  readonly usage_source: 'upstream' | 'estimate';
  readonly price_version: string;
  /** null: it was made before prices were kept. */
  readonly price: UsagePrice | null;
  /** Reserved before it ran. */
  readonly hold_micros: number;
  /** The part of the cost that exceeded balance and caps: the operator's loss. */
  readonly loss_micros: number;
  /** Who served it. */
  readonly provider: string;
  /** Calls to providers that it took. */
  readonly attempts: number;
  /** To the first piece of a stream; null: it came whole, or it is not known. */
  readonly first_byte_ms: number | null;
};

/** A request that was refused or failed, and so was free. */
export type FailedRequest = {
  readonly request_id: string;
  readonly created_at: string;
  readonly key: { readonly id: string; readonly name: string };
  /** Its id; null: it failed before its model was known. */
  readonly model: string | null;
  /** `/v1/chat/completions` */
  readonly path: string;
  /** A code of docs/errors.md, with its meaning and remedy. */
  readonly code: string;
  readonly status: number;
  readonly meaning: string;
  readonly remedy: string;
};

/** Answers that repeated an earlier answer, free of charge, in one UTC day. */
export type CacheDay = {
  readonly day: string;
  /** From the cache. */
  readonly hits: number;
  /** Requests that were answered again under their Idempotency-Key. */
  readonly replays: number;
  /** The original cost of the answers, as far as it is known. */
  readonly saved_micros: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
};

export const usageEndpoints = {
  /** Newest first: at most the last hundred, of the last 30 days. Some seconds old. */
  'GET /accounts/:account/failed-requests': endpoint<{ readonly data: readonly FailedRequest[] }>()(
    {
      access: 'member',
      query: Type.Object({ mode: Mode }),
    },
  ),
  /** Newest first; days without any are left out. At most 366 days. */
  'GET /accounts/:account/cache-days': endpoint<{ readonly data: readonly CacheDay[] }>()({
    access: 'member',
    query: Type.Object({ mode: Mode, from: Day, to: Day }),
  }),
  /** Newest first. */
  'GET /accounts/:account/usage': endpoint<Page<UsageRecord>>()({
    access: 'member',
    query: Type.Object({ ...PageQuery, ...UsageFilters }),
  }),
  /** Finds a request of either mode. */
  'GET /accounts/:account/usage/:request': endpoint<UsageDetail>()({ access: 'member' }),
};
