// Types of a request to an upstream and its reply.
import type { FailedReply } from '../canonical/make-failure.ts';
import type { TraceContext } from '../lib/trace-context.ts';
import type { Credential } from './credential.ts';

/**
 * Named as in the configuration, accurate to about a second: one coarse timer checks all exchanges.
 */
export type UpstreamTimeouts = {
  readonly connect_ms: number;
  /**
   * Until the head of the answer. Without streaming also between two pieces of it, because some
   * hosts send the head before they compute.
   */
  readonly first_byte_ms: number;
  /** Between two pieces of a stream. */
  readonly idle_ms: number;
  readonly total_ms: number;
};

export type UpstreamProvider = {
  /**
   * The provider's name in the configuration. Names never share connections, so neither do
   * credentials.
   */
  readonly name: string;
  /** An account's own key, which shares no connection either; left out: the operator's. */
  readonly ownKeyId?: string;
  /** http or https, optionally with a path, which precedes every call's path. */
  readonly baseUrl: string;
  /** Authorizes each call. Left out or null: the call's own headers do. */
  readonly credential?: Credential | null;
};

/** `Stream`: true when it asks for a stream, false when for a whole answer. */
export type UpstreamCall<Stream extends boolean = boolean> = {
  readonly provider: UpstreamProvider;
  /** Default: POST. */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Another origin of the provider, where it has files or redirects to; `path` is then the whole path. */
  readonly origin?: string;
  /** The service of a cloud that the call is signed for. Left out: that of its models. */
  readonly service?: 's3';
  /** Below the base URL: `/chat/completions`. */
  readonly path: string;
  /** In lower case, in addition to content-type, accept and user-agent. */
  readonly headers: Readonly<Record<string, string>>;
  /** Continued by this call, unless `origin` leads elsewhere; null or left out: there is none. */
  readonly trace?: TraceContext | null;
  /** JSON unless the headers say otherwise. A function's pieces are sent one by one. */
  readonly body: Buffer | string | (() => AsyncIterable<Buffer>) | null;
  /**
   * Default: the answer's body parsed as JSON, or a stream of events. `bytes`: the raw body, as a
   * Buffer, or a stream of audio. `file`: a stream of any type.
   */
  readonly answer?: 'json' | 'bytes' | 'file';
  /** True to ask for server-sent events. */
  readonly stream: Stream;
  readonly timeouts: UpstreamTimeouts;
  /**
   * Aborts the request at once. It ends like a failed connection: with a failure, or with
   * UpstreamBroken in the middle of a stream.
   */
  readonly signal: AbortSignal;
  /** The longest answer that is read; streams have no limit here. Default: 64 MB. */
  readonly answerBytesMax?: number;
};

export type UpstreamReply<Stream extends boolean = boolean> = AnswerTo<Stream> | FailedReply;

/** A stream for a call that asked for one, else a whole answer. */
export type AnswerTo<Stream extends boolean> = Stream extends true ? StreamedAnswer : WholeAnswer;

type WholeAnswer = {
  readonly kind: 'answer';
  readonly body: unknown;
  /** As a header counts them; left out: none does. */
  readonly inputTokens?: number;
};

type StreamedAnswer = {
  readonly kind: 'stream';
  /** Throws UpstreamBroken when the stream ends early. Leaving the loop stops the upstream. */
  readonly chunks: AsyncIterable<Uint8Array>;
};
