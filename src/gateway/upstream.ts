// The way out: HTTP to the providers. One pool of connections per provider, and so per credential; an exchange (upstream-exchange.ts) for each request.
// A call that fails is a return value. Nothing is tried twice here: a caller that wants to can send the same call again.
import { Readable } from 'node:stream';
import { Pool, type Dispatcher } from 'undici';
import type { UpstreamFailure } from '../canonical/event.ts';
import type { Clock } from '../lib/clock.ts';
import { LargeAnswers } from './large-answers.ts';
import { Exchange } from './upstream-exchange.ts';
import { withoutTrailing } from '../lib/without-trailing.ts';

export { UpstreamBroken } from './upstream-failure.ts';

/** Named as the configuration names them, and kept to within about a second: one coarse timer looks at all exchanges. */
export type UpstreamTimeouts = {
  readonly connect_ms: number;
  /** Until the head of the answer; without streaming also between two pieces of it, since some hosts send the head before they compute. */
  readonly first_byte_ms: number;
  /** Between two pieces of a stream. */
  readonly idle_ms: number;
  readonly total_ms: number;
};

export type UpstreamProvider = {
  /** Its name in the configuration: connections are never shared between names, and so not between credentials. */
  readonly name: string;
  /** http or https, possibly with a path, which goes before every call's path. */
  readonly baseUrl: string;
};

export type UpstreamCall = {
  readonly provider: UpstreamProvider;
  /** Left out: POST. */
  readonly method?: 'GET' | 'POST';
  /** Another origin that is the provider's own, where it sends us there; the path is then the whole path. */
  readonly origin?: string;
  /** Below the base URL: `/chat/completions`. */
  readonly path: string;
  /** Lower-case, beside content-type, accept and user-agent. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, unless the headers say otherwise. A list goes out piece by piece. */
  readonly body: Buffer | string | readonly Buffer[] | null;
  /** Left out: what the body of the answer says as JSON. `bytes`: the body as it came, as a Buffer. */
  readonly answer?: 'json' | 'bytes';
  /** Whether server-sent events are asked for. */
  readonly stream: boolean;
  readonly timeouts: UpstreamTimeouts;
  /** Destroys the request at once. It then ends like a failed connection: with a failure, or with UpstreamBroken in mid-stream. */
  readonly signal: AbortSignal;
  /** The longest answer that is read, a stream's aside. Left out: 64 MB. */
  readonly answerBytesMax?: number;
};

export type UpstreamReply =
  | { readonly kind: 'answer'; readonly body: unknown }
  /** Throws UpstreamBroken when the stream does not come to its proper end. Leaving the loop stops the upstream. */
  | { readonly kind: 'stream'; readonly chunks: AsyncIterable<Uint8Array> }
  | UpstreamFailed;

export type UpstreamFailed = {
  readonly kind: 'failure';
  readonly failure: UpstreamFailure;
  /** What the upstream answered with: parsed JSON, or text where it was none; null when it did not answer. */
  readonly body: unknown;
  /** `false`: not a byte of the request went out, so it cannot have been processed. */
  readonly requestSent: boolean;
};

export type Upstreams = {
  readonly send: (call: UpstreamCall) => Promise<UpstreamReply>;
  /** Destroys every connection; what still runs fails. */
  readonly close: () => Promise<void>;
};

export type UpstreamsOptions = {
  readonly clock: Clock;
  /** What whole answers may take together while they are read, the small ones aside. */
  readonly largeAnswerBytesMax: number;
  readonly userAgent?: string;
};

/** How often open exchanges are checked for lateness: one timer for all of them instead of one each. */
const sweepMs = 1_000;

export function createUpstreams({ clock, largeAnswerBytesMax, userAgent = 'tollgate' }: UpstreamsOptions): Upstreams {
  const destinations = new Map<string, Destination>();
  const open = new Set<Exchange>();
  const large = new LargeAnswers(largeAnswerBytesMax);
  const stopSweeping = clock.every(sweepMs, () => stopOverdue(open, clock.elapsedMs()));
  return {
    send: (call) => {
      const { pool, prefix } = destinationOf(destinations, call);
      const exchange = new Exchange(call, { open, clock, large });
      if (exchange.isRunning) pool.dispatch(requestOptions(call, prefix, userAgent), exchange);
      return exchange.reply;
    },
    close: async () => {
      stopSweeping();
      await Promise.all(Array.from(destinations.values(), ({ pool }) => pool.destroy()));
    },
  };
}

/** Where a provider's requests go, worked out once. */
type Destination = { readonly provider: UpstreamProvider; readonly pool: Pool; readonly prefix: string };

/** The time to connect is a pool's own: calls that set another one have a pool of their own. */
function destinationOf(destinations: Map<string, Destination>, call: UpstreamCall): Destination {
  const { provider, timeouts, origin: ownOrigin } = call;
  if (ownOrigin !== undefined) return otherOriginOf(destinations, call, ownOrigin);
  const key = `${provider.name} ${timeouts.connect_ms}`;
  const known = destinations.get(key);
  if (known && (known.provider === provider || known.provider.baseUrl === provider.baseUrl)) return known;
  // The provider has moved: what runs on the old connections comes to its end there.
  void known?.pool.close();
  const { origin, pathname } = new URL(provider.baseUrl);
  const destination = { provider, pool: openPool(origin, timeouts), prefix: withoutTrailing(pathname, '/') };
  destinations.set(key, destination);
  return destination;
}

/** Its connections are the provider's own too: they are shared with no other name. */
function otherOriginOf(
  destinations: Map<string, Destination>,
  { provider, timeouts }: UpstreamCall,
  origin: string,
): Destination {
  const name = `${provider.name} ${timeouts.connect_ms} ${origin}`;
  const known = destinations.get(name);
  if (known) return known;
  const destination = { provider, pool: openPool(origin, timeouts), prefix: '' };
  destinations.set(name, destination);
  return destination;
}

/** A connection carries one request at a time: a slow stream holds nobody up, and stopping it closes nobody else's. */
function openPool(origin: string, timeouts: UpstreamTimeouts): Pool {
  return new Pool(origin, {
    pipelining: 1,
    allowH2: false,
    connectTimeout: timeouts.connect_ms,
    keepAliveTimeout: 60_000,
    keepAliveMaxTimeout: 300_000,
    maxHeaderSize: 64 * 1024,
  });
}

function requestOptions(
  { method = 'POST', path, headers, body, stream }: UpstreamCall,
  prefix: string,
  userAgent: string,
): Dispatcher.DispatchOptions {
  return {
    method,
    path: prefix + path,
    headers: {
      ...(body !== null && { 'content-type': 'application/json' }),
      accept: stream ? 'text/event-stream' : 'application/json',
      'accept-encoding': 'identity',
      'user-agent': userAgent,
      ...headers,
    },
    body: isPieces(body) ? Readable.from(body) : body,
    // The exchange keeps these times itself, by the program's clock.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
}

function isPieces(body: UpstreamCall['body']): body is readonly Buffer[] {
  return Array.isArray(body);
}

/** The exchanges stand in the order in which they began, but providers differ in how long they may take. */
function stopOverdue(open: ReadonlySet<Exchange>, nowMs: number): void {
  for (const exchange of open) exchange.stopIfOverdue(nowMs);
}
