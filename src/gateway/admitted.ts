// A charged request before anything is held for it: as it comes in, and as it stands once its key may send it.
import type { CacheName } from '../cache/cache-name.ts';
import type { RequestName } from '../idempotency/request-name.ts';
import type { ApiKey } from '../keys/api-key.ts';
import type { ForwardableHeaders } from '../providers/provider.ts';
import type { Headers } from './client.ts';
import type { Work } from './endpoint.ts';
import type { Gateway, RequestTrace } from './gateway.ts';

export type IncomingRequest = {
  readonly requestId: string;
  readonly key: ApiKey;
  readonly method: string;
  /** As its route is written, without a query. */
  readonly path: string;
  /** By which the client reaches us, without a slash at its end. */
  readonly baseUrl: string;
  /** The header's value, if it was sent. */
  readonly idempotencyKey: string | undefined;
  /** What the client wishes of the cache: the header's value, if it was sent. */
  readonly cacheHeader: string | undefined;
  /** Those that a body's meaning depends on. */
  readonly versionHeaders: Readonly<Record<string, string>>;
  /** The parsed JSON. */
  readonly body: unknown;
  readonly forwardable: ForwardableHeaders;
  readonly trace: RequestTrace;
};

/** A request that its key may send: what it is answered with is open, and nothing is held yet. */
export type Admitted = Omit<IncomingRequest, 'body'> & {
  readonly gateway: Gateway;
  /** null: it has no Idempotency-Key. */
  readonly name: RequestName | null;
  /** null: it does not use the cache. */
  readonly cacheName: CacheName | null;
  readonly work: Work;
  readonly rateHeaders: Headers;
};
