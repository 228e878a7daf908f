// The stages of a charged request: IncomingRequest → Accepted → Held → Called. Each adds to the one
// before and changes nothing of it, so the type says what is known.
import type { ApiError } from '../canonical/errors.ts';
import type { CallSpan } from '../canonical/request-spans.ts';
import type { CacheName } from '../domain/cache/cache-name.ts';
import type { RequestName } from '../domain/idempotency/request-name.ts';
import type { ApiKey } from '../domain/keys/api-key.ts';
import type { Asked } from '../domain/telemetry/content.ts';
import type { UpstreamFormat } from '../formats/format.ts';
import type { JsonObject } from '../lib/json.ts';
import type { TraceContext } from '../lib/trace-context.ts';
import type { ForwardableHeaders } from '../providers/provider.ts';
import type { Held as HeldOffer, Offer } from './charging/offer.ts';
import type { UnseenOutput } from './charging/unseen-output.ts';
import type { Granted } from './charging/worst-case.ts';
import type { Headers } from './client.ts';
import type { Gateway } from './gateway.ts';
import type { RequestLog } from './request-log.ts';
import type { Attempt, RoutePlan } from './routing/plan.ts';
import type { Asked as AskedModel } from './routing/write-request.ts';

/** Read from HTTP. */
export type IncomingRequest = {
  readonly requestId: string;
  /** When it arrived, by `Clock.elapsedMs`. */
  readonly arrivedAtMs: number;
  readonly key: ApiKey;
  readonly method: string;
  /** The pattern of its route, without a query. */
  readonly path: string;
  /** The base URL by which the client reaches the gateway, without a slash at its end. */
  readonly baseUrl: string;
  /** The header's value, if sent. */
  readonly idempotencyKey: string | undefined;
  /** The cache header's value, if sent. */
  readonly cacheHeader: string | undefined;
  /** The stream-comments header's value, if sent. */
  readonly commentsHeader: string | undefined;
  /** The tags header's value, if sent. */
  readonly tagsHeader: string | undefined;
  /** Headers that a body's meaning depends on. */
  readonly versionHeaders: Readonly<Record<string, string>>;
  /** Parsed JSON. */
  readonly body: unknown;
  /** For a large body: waits for the next turn of the event loop before each long stage. */
  readonly nextTurn: (() => Promise<void>) | null;
  readonly forwardable: ForwardableHeaders;
  /** The client's trace, which calls to providers continue; null: none. */
  readonly trace: TraceContext | null;
  readonly log: RequestLog;
};

/** Reads and checks a request, and finds its routes. Throws ApiError 400 or 404. */
export type Endpoint = (gateway: Gateway, incoming: IncomingRequest) => Sale;

/** What a request asks to buy. Nothing is held yet. */
export type Sale = {
  /** The model id that the key's list of models allows or refuses. */
  readonly modelId: string;
  /** The provider that will probably serve it, for the log. */
  readonly provider: string;
  /** The route that will probably serve it, for the cache. */
  readonly route: string;
  /** True when the client asked for a stream. */
  readonly stream: boolean;
  /** True when the cache is used unless a header says otherwise. */
  readonly isCachedUnasked: boolean;
  /** Headers of every answer: that its model ends. */
  readonly headers: Headers;
  /** The body as it came, for the cache. */
  readonly body: JsonObject;
  /** For the traces of an account that wants prompts and answers in them. */
  readonly content: Content;
  /**
   * Estimates the request. An estimate costs time, so this is called only when the request needs a
   * run.
   */
  readonly estimate: () => Estimate;
  /** The frames that end a stream to which only keep-alives were sent; left out: it never streams. */
  readonly writeFailure?: (error: ApiError) => string;
};

type Content = {
  readonly asked: () => Asked;
  /** null: the answer has no text of a model. */
  readonly answerFormat: UpstreamFormat | null;
};

type Estimate = {
  /** Tokens that it will probably use of its key's limit a minute. */
  readonly tokens: number;
  /** Throws ApiError when no route accepts the request. */
  readonly offer: (accepted: Accepted) => Offer;
};

/**
 * A request that its key may send, counted against the requests a minute. Whether it is replayed or
 * run is still open.
 */
export type Accepted = Pick<
  IncomingRequest,
  'requestId' | 'arrivedAtMs' | 'key' | 'baseUrl' | 'nextTurn' | 'forwardable' | 'trace' | 'log'
> & {
  readonly gateway: Gateway;
  /** Each once; undefined: none. */
  readonly tags: readonly string[] | undefined;
  /** null: it has no Idempotency-Key. */
  readonly name: RequestName | null;
  /** null: it does not use the cache. */
  readonly cacheName: CacheName | null;
  readonly sale: Sale;
  /** The stream reports its cost in a comment as well. */
  readonly wantsComments: boolean;
  readonly rateHeaders: Headers;
};

/** A model request whose worst case is held. */
export type Held = Accepted &
  AskedModel &
  HeldOffer & {
    readonly plan: RoutePlan;
    readonly granted: Granted;
    /** True when it is not stopped when its client leaves. */
    readonly runsToEnd: boolean;
  };

/** One call of a route. A request may need several. */
export type Called = Held & {
  readonly attempt: Attempt;
  /** 1 for the request's first call. */
  readonly number: number;
  /** Counts what the call may have written without showing it. */
  readonly unseen: UnseenOutput;
  /** null: telemetry is off. */
  readonly span: CallSpan | null;
};

/** The time since the request's arrival, in whole milliseconds. */
export function elapsedMs({
  gateway,
  arrivedAtMs,
}: Pick<Accepted, 'gateway' | 'arrivedAtMs'>): number {
  return Math.round(gateway.clock.elapsedMs() - arrivedAtMs);
}
