// What a charged request needs of the rest of the program, gathered by app.ts, and what it tells the log.
import type { Activity } from '../activity/activity.ts';
import type { AnswerWorth } from '../canonical/stored-response.ts';
import type { AccountStandings } from './account-standings.ts';
import type { ActiveRuns } from './active-runs.ts';
import type { ResponseCache } from '../cache/response-cache.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { Config } from '../config/schema.ts';
import type { Idempotency } from '../idempotency/idempotency.ts';
import type { Ledger, LedgerId } from '../ledger/commands.ts';
import type { Balance } from '../ledger/queries.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { HeaderNames } from './headers.ts';
import type { HoldGrowths } from './hold-growth.ts';
import type { ImageFiles } from './image-files.ts';
import type { KeepAlives } from './keep-alives.ts';
import type { RateLimits } from './rate-limits.ts';
import type { Routing } from './routing.ts';
import type { ConnectedProviders } from './providers.ts';
import type { ReplaySource } from './replay.ts';
import type { WebSearchers } from './search-sources.ts';
import type { Upstreams } from './upstream.ts';

export type Gateway = {
  readonly config: Config;
  readonly catalog: Catalog;
  readonly ledger: Ledger;
  /** Perhaps a moment old. */
  readonly readBalance: (ledgerId: LedgerId) => Balance | null | Promise<Balance | null>;
  readonly idempotency: Idempotency;
  readonly cache: ResponseCache;
  readonly providers: ConnectedProviders;
  readonly upstreams: Upstreams;
  readonly rateLimits: RateLimits;
  readonly standings: AccountStandings;
  readonly images: ImageFiles;
  readonly searchers: WebSearchers;
  readonly headers: HeaderNames;
  readonly log: Logger;
  readonly clock: Clock;
  /** This process, in the ledger's leases. */
  readonly owner: string;
  readonly runs: ActiveRuns;
  readonly keepAlives: KeepAlives;
  readonly growths: HoldGrowths;
  readonly routing: Routing;
  /** What is not booked. */
  readonly activity: Activity;
};

/** What is known of a request for its one log line; filled in as it goes. Never holds a key, a prompt or an answer. */
export type RequestTrace = {
  requestId: string;
  /** By `Clock.elapsedMs`. */
  startedAtMs: number;
  accountId?: string;
  keyId?: string;
  mode?: 'live' | 'test';
  model?: string;
  /** The one that served, or that was tried last. */
  provider?: string;
  /** How often it was sent upstream. */
  attempts?: number;
  stream?: boolean;
  /** Answered with what an earlier request was, free of charge, and how it was found. */
  cache?: ReplaySource;
  /** What that answer had cost, as far as it is known. */
  saved?: AnswerWorth;
  inputTokens?: number;
  outputTokens?: number;
  /** That were delivered. */
  images?: number;
  /** Web searches that the provider ran. */
  searches?: number;
  costMicros?: number;
  upstreamCostMicros?: number;
  lossMicros?: number;
  holdMicros?: number;
  ending?: 'complete' | 'cut-off' | 'failed';
  errorCode?: string;
  upstreamStatus?: number | null;
  /** From the request's arrival to the first piece of a stream. */
  firstByteMs?: number;
};

/** Since the request's arrival, in whole milliseconds. */
export function elapsedMs({ startedAtMs }: RequestTrace, clock: Clock): number {
  return Math.round(clock.elapsedMs() - startedAtMs);
}
