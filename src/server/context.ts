// What the HTTP side needs from the program, and what it attaches to each request.
import type { RequestListener } from '../events/request-listener.ts';
import type { LiveSettings } from '../config/live-settings.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { KeptExchange } from '../domain/bodies/kept-exchange.ts';
import type { Billing } from '../domain/billing/billing.ts';
import type { Database } from '../db/database.ts';
import type { BatchParts } from '../gateway/batches/parts.ts';
import type { BatchQueue } from '../gateway/batches/queue.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { RequestRecord } from '../gateway/request-record.ts';
import { isGooglePath } from '../formats/registry.ts';
import type { KeyScope } from '../terms/key-scope.ts';
import type { ApiKey } from '../domain/keys/api-key.ts';
import type { KeyStore } from '../domain/keys/key-store.ts';
import type { LedgerId } from '../domain/ledger/commands.ts';
import type { Sealing } from '../domain/ledger/seals/sealing.ts';
import type { DeviceLogins } from '../domain/users/device-logins.ts';
import type { AddressRates } from '../domain/limits/address-rates.ts';
import type { Telemetry } from '../domain/telemetry/telemetry.ts';
import type { Registry } from '../lib/metrics/registry.ts';
import type { Secrets } from '../lib/secrets.ts';
import type { BodyRoom, Place } from './body-room.ts';
import type { Upload } from '../lib/upload.ts';
import type { LargeBodies } from './large-bodies.ts';
import type { Overload } from './overload.ts';

export type ServerContext = {
  readonly gateway: Gateway;
  readonly keys: KeyStore;
  readonly addressRates: AddressRates;
  readonly deviceLogins: DeviceLogins;
  readonly database: Database;
  readonly secrets: Secrets;
  readonly threads: ThreadsView;
  readonly settings: LiveSettings;
  readonly lifecycle: Lifecycle;
  readonly overload: Overload;
  readonly largeBodies: LargeBodies;
  readonly billing: Billing;
  readonly batches: { readonly parts: BatchParts; readonly queue: BatchQueue };
  readonly telemetry: Telemetry;
  /** Hear what happens to each request. */
  readonly listeners: readonly RequestListener[];
  readonly metrics: Registry;
  readonly sealing: Pick<Sealing, 'sealedUntilMs' | 'lookedAtMs' | 'hasProblem'>;
};

/** The HTTP threads of the process, as one of them sees them. */
export type ThreadsView = {
  readonly count: number;
  /** True for one of them: it runs the jobs that need to run only once. */
  readonly isFirst: boolean;
  /** Notes the memory that this thread uses, and returns that of all threads, in bytes. */
  readonly sumMemory: (ownBytes: number) => number;
  /** Returns the metrics of all threads as Prometheus reads them. */
  readonly readMetrics: (own: Registry) => Promise<string>;
  /** Notes that a load balancer asked whether the process is ready. */
  readonly noteReadinessAsked: () => void;
  /** Notes that this thread booked a loss that the account could provoke. */
  readonly noteLoss: (ledgerId: LedgerId) => void;
};

export type Lifecycle = {
  /**
   * `leaving`: the process was told to stop. Load balancers see it, and the requests that they
   * still send are served. `draining`: new work is refused, and running work ends.
   */
  phase: 'serving' | 'leaving' | 'draining';
  /** When `/readyz` was last asked, by `Clock.elapsedMs`. */
  readinessAskedMs: number;
};

/** OpenAI's name for the Responses endpoint, and Google's. */
export type QueryKey = 'api_key' | 'key';

/** Every path below it belongs to the public API. */
export const publicApiPath = '/v1';

/** Cohere's clients ask below `/v2`, and Google's below versions of their own. */
export function isPublicApi(path: string): boolean {
  return /^\/v[12]\//.test(path) || isGooglePath(path);
}

/** Every path below it belongs to the dashboard's API. */
export const dashboardApiPath = '/dashboard-api';
/** Every path below it belongs to the admin API. */
export const adminApiPath = '/admin/v1';

declare module 'fastify' {
  interface FastifyInstance {
    /** The configured address of the gateway, without a slash at its end; null: unknown. */
    publicUrl: string | null;
    /** Answers in memory that their clients have not read yet. */
    unread: BodyRoom;
  }
  interface FastifyRequest {
    /** `req_…`: the same id as the hold, the charge and the log line. */
    requestId: string;
    /** When it arrived, by `Clock.elapsedMs`. */
    arrivedAtMs: number;
    requestRecord: RequestRecord;
    /** Set by `authenticate`; null when no key was sent and none is needed. */
    apiKey: ApiKey | null;
    /** Notes the bodies for a key that keeps them; null: nothing is kept. */
    bodies: KeptExchange | null;
    /** The body's place among those that are kept while they run; null: it has none. */
    place: Place | null;
    /** The file of a form that is on disk; null: it has none. */
    upload: Upload | null;
  }
  interface FastifyContextConfig extends RouteConfig {
    /** The public URL that this route is an alias of; left out when it is none. */
    publicUrl?: string;
  }
}

/** What the hooks must know of a route. */
export type RouteConfig = {
  /**
   * The scope of the required key; default: `run`. `none`: keys are ignored. `optional`: a wrong key is
   * still refused.
   */
  readonly auth?: KeyScope | 'optional' | 'none';
  /** The parameter of the query that may hold the key; only few endpoints have one. */
  readonly queryKey?: QueryKey;
  /**
   * The route runs a model or counts its tokens: it is refused while the process drains or is
   * overloaded, and a shutdown waits for it.
   */
  readonly refusedUnderLoad?: boolean;
  /** Default: `server.body_limit_bytes`. */
  readonly bodyBytesMax?: number;
  /** The body is a form with a large file, and goes to disk. */
  readonly isUpload?: boolean;
};

export type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/**
 * Returns the pattern of the public URL that was requested, directly or through an alias. When no
 * route matches, returns the URL itself.
 */
export function publicUrlOf({ routeOptions, url }: FastifyRequest): string {
  return routeOptions.config.publicUrl ?? routeOptions.url ?? url;
}

/** Returns the key of a route that requires one. */
export function keyOf(request: FastifyRequest): ApiKey {
  if (!request.apiKey) throw new Error(`${request.routeOptions.url} is not behind authenticate`);
  return request.apiKey;
}
