// HTTP to the providers. Each provider, and so each credential, has its own connection pool; each
// request has an exchange (exchange.ts). A failed call is a return value. Nothing is retried here:
// the caller may send the same call again.
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { Pool } from '../../lib/undici.ts';
import type { Clock } from '../../lib/clock.ts';
import { ActiveSet } from '../../lib/active-set.ts';
import { traceHeaders } from '../../lib/trace-context.ts';
import { LargeAnswers } from './large-answers.ts';
import { authorize } from './authorize.ts';
import { Exchange } from './exchange.ts';
import type {
  UpstreamCall,
  UpstreamProvider,
  UpstreamReply,
  UpstreamTimeouts,
} from '../../providers/upstream-call.ts';
import { withoutTrailing } from '../../lib/without-trailing.ts';

export type Upstreams = ReturnType<typeof createUpstreams>;

type UpstreamSockets = {
  readonly provider: string;
  readonly used: number;
  readonly idle: number;
  /** Calls that wait for a connection. */
  readonly waiting: number;
};

type UpstreamsOptions = {
  readonly clock: Clock;
  /** Memory for whole answers while they are read, small ones excluded. */
  readonly largeAnswerBytesMax: number;
};

/** How often open exchanges are checked for timeouts: one timer for all. */
const sweepMs = 1_000;

export function createUpstreams({ clock, largeAnswerBytesMax }: UpstreamsOptions) {
  const destinations = new Map<string, Destination>();
  const open = new ActiveSet<Exchange>();
  const large = new LargeAnswers(largeAnswerBytesMax);
  const stopSweeping = clock.every(sweepMs, () => {
    const nowMs = clock.elapsedMs();
    for (const exchange of open.members()) exchange.stopIfOverdue(nowMs);
  });
  const dispatch = <Stream extends boolean>(call: UpstreamCall<Stream>) => {
    const { pool, prefix } = destinationOf(destinations, call);
    const exchange = new Exchange(call, { open, clock, large });
    // An aborted call has its reply already.
    if (!call.signal.aborted) pool.dispatch(requestOptions(call, prefix), exchange);
    // An exchange answers with a stream only when one was asked for (read-reply.ts).
    return exchange.reply as Promise<UpstreamReply<Stream>>;
  };
  const sendAuthorized = async <Stream extends boolean>(call: UpstreamCall<Stream>) => {
    const authorized = await authorize(call, urlOf(call));
    return 'kind' in authorized ? authorized : dispatch(authorized);
  };
  return {
    send: <Stream extends boolean>(call: UpstreamCall<Stream>): Promise<UpstreamReply<Stream>> =>
      call.provider.credential ? sendAuthorized(call) : dispatch(call),
    /** Returns how the connections of each provider are used, those of all own keys together. */
    sockets: (): readonly UpstreamSockets[] => sumSockets([...destinations.values()]),
    /**
     * Closes a provider's connections, or those of one own key, when their calls have ended; later calls
     * open new ones.
     */
    retire: (provider: string, ownKeyId?: string): void => {
      for (const [key, destination] of destinations) {
        const { name, ownKeyId: own } = destination.provider;
        if (name !== provider || own !== ownKeyId) continue;
        destinations.delete(key);
        void destination.pool.close();
      }
    },
    /** Destroys every connection. Running calls fail. */
    close: async (): Promise<void> => {
      stopSweeping();
      await Promise.all(Array.from(destinations.values(), ({ pool }) => pool.destroy()));
    },
  };
}

/** A provider's connections, and the path before each call's path. */
type Destination = {
  readonly provider: UpstreamProvider;
  readonly pool: Pool;
  readonly prefix: string;
};

function sumSockets(destinations: readonly Destination[]): UpstreamSockets[] {
  const byName = Map.groupBy(destinations, ({ provider }) => provider.name);
  return Array.from(byName, ([provider, own]) => {
    const sum = (of: 'connected' | 'free' | 'queued') =>
      own.reduce((total, { pool }) => total + pool.stats[of], 0);
    const idle = sum('free');
    return { provider, used: sum('connected') - idle, idle, waiting: sum('queued') };
  });
}

/** The connect timeout belongs to the pool: calls with another timeout use another pool. */
function destinationOf(
  destinations: Map<string, Destination>,
  { provider, timeouts, origin }: UpstreamCall,
): Destination {
  const { name, ownKeyId = '', baseUrl } = provider;
  const key = `${name}${ownKeyId} ${baseUrl} ${timeouts.connect_ms} ${origin ?? ''}`;
  const known = destinations.get(key);
  if (known) return known;
  const base = new URL(provider.baseUrl);
  const destination = {
    provider,
    pool: openPool(origin ?? base.origin, timeouts),
    prefix: origin === undefined ? withoutTrailing(base.pathname, '/') : '',
  };
  destinations.set(key, destination);
  return destination;
}

/**
 * Each connection carries one request at a time: a slow stream delays nobody, and stopping it
 * closes nobody else's.
 */
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

function urlOf({ provider, origin, path }: UpstreamCall): URL {
  return new URL(origin === undefined ? provider.baseUrl + path : origin + path);
}

function requestOptions(
  { method = 'POST', origin, path, headers, trace, body, stream }: UpstreamCall,
  prefix: string,
): Dispatcher.DispatchOptions {
  return {
    method,
    path: prefix + path,
    headers: {
      ...(body !== null && { 'content-type': 'application/json' }),
      accept: stream ? 'text/event-stream' : 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'tollgate',
      // Another origin need not be the provider's own: it learns nothing of the client.
      ...(trace && origin === undefined && traceHeaders(trace)),
      ...headers,
    },
    body: typeof body === 'function' ? Readable.from(body()) : body,
    // The exchange handles these timeouts itself, by the program's clock.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
}
