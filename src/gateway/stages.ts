// The stages of a charged request: IncomingRequest → Accepted → Held → Called. Each has the parts of the
// one before and one more, so the type says what is known.
import type { ApiError } from '../canonical/errors.ts';
import type { CacheName } from '../domain/cache/cache-name.ts';
import type { RequestName } from '../domain/idempotency/request-name.ts';
import type { Prompt } from '../domain/telemetry/content.ts';
import type { AnswerReader } from '../formats/format.ts';
import type { JsonObject } from '../lib/json.ts';
import type { CalledModel, ModelCall } from './charging/model-call.ts';
import type { Running, Offer } from './charging/offer.ts';
import type { Client, Headers } from './client.ts';
import type { Gateway } from './gateway.ts';
import type { Caller, IncomingRequest } from './request.ts';

/** Reads and checks a request, and finds its routes. Throws ApiError 400 or 404. */
export type Endpoint = (gateway: Gateway, incoming: IncomingRequest) => Sale;

/** What a request asks to buy. Nothing is held yet. */
export type Sale = {
  /** The model id that the key's list of models allows or refuses. */
  readonly modelId: string;
  /** The provider that will probably serve it, for the log. */
  readonly provider: string;
  /** The route that will probably serve it, and the images that it may draw, for the cache. */
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
  /** Answers a request for which nothing runs, free of charge. Left out: it runs. */
  readonly answerUnrun?: (client: Client, headers: Headers) => void;
  /** How its stream begins before its first frame. Left out: as events, with a comment. */
  readonly opening?: { readonly keepAlive: string; readonly headers: Headers };
  /** The frames that end a stream to which only keep-alives were sent; left out: it never streams. */
  readonly writeFailure?: (error: ApiError) => string;
};

type Content = {
  readonly asked: () => Prompt;
  /** null: the answer has no text of a model. */
  readonly answerFormat: AnswerReader | null;
};

type Estimate = {
  /** Tokens that it will probably use of its key's limit a minute. */
  readonly tokens: number;
  /** The memory that its answer takes until it is sent. Left out: little. */
  readonly answerBytes?: number;
  /** Throws ApiError when no route accepts the request. */
  readonly offer: (accepted: Accepted) => Offer;
};

/**
 * A request that its key may send, counted against the requests a minute. Whether it is replayed or
 * run is still open.
 */
export type Accepted = {
  readonly gateway: Gateway;
  readonly caller: Caller;
  readonly sale: Sale;
  readonly names: {
    /** null: it has no Idempotency-Key. */
    readonly request: RequestName | null;
    /** null: it does not use the cache. */
    readonly cache: CacheName | null;
  };
  readonly rateHeaders: Headers;
  /** Each once; undefined: none. */
  readonly tags: readonly string[] | undefined;
  /** The stream reports its cost in a comment as well. */
  readonly wantsComments: boolean;
};

/** A request whose highest price is held. */
export type HeldRequest = Accepted & { readonly running: Running };

/** A model request whose worst case is held. */
export type Held = HeldRequest & Pick<CalledModel, 'asked' | 'plan' | 'granted'>;

/** One call of a route. A request may need several. */
export type Called = Held & { readonly call: ModelCall };
