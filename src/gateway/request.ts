// A request as it came, and who sent it. Every part of the gateway may use these.
import type { ApiKey } from '../domain/keys/api-key.ts';
import type { Clock } from '../lib/clock.ts';
import type { Upload } from '../lib/upload.ts';
import type { UpstreamFormatName } from '../terms/format-name.ts';
import type { ForwardableHeaders } from '../providers/provider.ts';
import type { RequestRecord } from './request-record.ts';

/** Who asks. */
export type Caller = {
  readonly requestId: string;
  /** When the request arrived, by `Clock.elapsedMs`. */
  readonly arrivedAtMs: number;
  readonly key: ApiKey;
  /** The base URL by which the client reaches the gateway, without a slash at its end. */
  readonly baseUrl: string;
  /** For a large body: waits for the next turn of the event loop before each long stage. */
  readonly nextTurn: (() => Promise<void>) | null;
  readonly record: RequestRecord;
  /**
   * A line of a batch, which counts as one request of its key: the line is bounded by the queue, and
   * waits for memory. Left out: a request by itself.
   */
  readonly isLine?: true;
};

/** Headers with which the client asks for something; undefined: not sent. */
type Wishes = {
  readonly idempotencyKey: string | undefined;
  readonly cache: string | undefined;
  readonly streamComments: string | undefined;
  readonly tags: string | undefined;
};

/** Where the provider's batch API runs a request. */
export type BatchRoute = {
  readonly provider: string;
  readonly upstreamModel: string;
  readonly format: UpstreamFormatName;
};

/** A line of a batch that a provider's batch API runs, at the batch price. */
export type PassedLine = {
  readonly route: BatchRoute;
  /** The provider's answer, in the place of a call; null: it is not there yet. */
  readonly answer: { readonly status: number; readonly body: unknown } | null;
};

/** Read from HTTP. */
export type IncomingRequest = {
  readonly caller: Caller;
  readonly method: string;
  /** The pattern of its route, without a query. */
  readonly path: string;
  readonly wishes: Wishes;
  /** Headers that a body's meaning depends on. */
  readonly versionHeaders: Readonly<Record<string, string>>;
  readonly forwardable: ForwardableHeaders;
  /** The client's id of its conversation, from a header; null: none was sent. */
  readonly sessionId: string | null;
  /** Parsed JSON. */
  readonly body: unknown;
  /** The file of a form; null or left out: it has none. */
  readonly upload?: Upload | null;
  /** Left out: the gateway calls the provider. */
  readonly passed?: PassedLine;
};

/** The time since the request's arrival, in whole milliseconds. */
export function elapsedMs(clock: Pick<Clock, 'elapsedMs'>, { arrivedAtMs }: Caller): number {
  return Math.round(clock.elapsedMs() - arrivedAtMs);
}
