// What the HTTP side needs of the program, and what it attaches to each request.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Billing } from '../billing/billing.ts';
import type { Database } from '../db/database.ts';
import type { Gateway, RequestTrace } from '../gateway/gateway.ts';
import type { ApiKey } from '../keys/api-key.ts';
import type { KeyStore } from '../keys/key-store.ts';
import type { Secrets } from '../lib/secrets.ts';
import type { Users } from './dashboard-api/users.ts';
import type { KnownLane } from './known/known-lane.ts';
import type { LargeBodies } from './large-bodies.ts';
import type { Overload } from './overload.ts';

export type ServerContext = {
  readonly gateway: Gateway;
  readonly keys: KeyStore;
  readonly database: Database;
  readonly secrets: Secrets;
  readonly lifecycle: Lifecycle;
  readonly overload: Overload;
  readonly largeBodies: LargeBodies;
  readonly billing: Billing;
  readonly users: Users;
  readonly lane: KnownLane;
};

export type Lifecycle = {
  /**
   * `leaving`: told to stop; load balancers are told so, and what they still send is taken. `draining`: new work is refused, and open
   * work comes to its end.
   */
  phase: 'serving' | 'leaving' | 'draining';
  /** When somebody last asked whether work should be sent here, by `Clock.elapsedMs`. */
  readinessAskedMs: number;
};

declare module 'fastify' {
  interface FastifyRequest {
    /** `req_…`: the hold, the charge and the log line carry the same id. */
    requestId: string;
    trace: RequestTrace;
    /** Set by `authenticate`; null where no key was sent and none is needed. */
    apiKey: ApiKey | null;
  }
  interface FastifyContextConfig {
    /** `none`: keys are not looked at. `optional`: a wrong key is refused all the same. */
    auth?: 'required' | 'optional' | 'none';
    /** Whether `?api_key=` is read: on the Responses endpoint only. */
    queryKey?: boolean;
    /** Runs a model, or has it count: refused while draining or overloaded. */
    charged?: boolean;
    /** Left out: `server.body_limit_bytes`. */
    bodyBytesMax?: number;
    /** The public URL that it is another way to; left out: it is none. */
    publicUrl?: string;
  }
}

export type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/** The pattern of the public URL that was asked for, or that this one is another way to; of one that nothing matches, the URL itself. */
export function publicUrlOf({ routeOptions, url }: FastifyRequest): string {
  return routeOptions.config.publicUrl ?? routeOptions.url ?? url;
}

/** The key of a route that requires one. */
export function keyOf(request: FastifyRequest): ApiKey {
  if (!request.apiKey) throw new Error(`${request.routeOptions.url} is not behind authenticate`);
  return request.apiKey;
}
