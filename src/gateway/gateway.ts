// Everything that a charged request needs from the rest of the program. serving.ts assembles it.
import type { Activity } from '../domain/activity/activity.ts';
import type { AccountStandings } from './charging/account-standings.ts';
import type { ActiveRuns } from './active-runs.ts';
import type { KeptBodies } from '../domain/bodies/kept-bodies.ts';
import type { ResponseCache } from '../domain/cache/response-cache.ts';
import type { Catalog } from '../domain/catalog/catalog.ts';
import type { Config } from '../config/schema.ts';
import type { DailyBytes } from '../domain/limits/daily-bytes.ts';
import type { Idempotency } from '../domain/idempotency/idempotency.ts';
import type { Ledger, LedgerId } from '../domain/ledger/commands.ts';
import type { Balance } from '../domain/ledger/reports/queries.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { HeaderNames } from '../canonical/header-names.ts';
import type { HoldGrowths } from './charging/hold-growth.ts';
import type { ImageFiles } from './images/image-files.ts';
import type { KeepAlives } from './keep-alives.ts';
import type { Meter } from './meter.ts';
import type { RateLimits } from './limits/rate-limits.ts';
import type { Routing } from './routing/routing.ts';
import type { ConnectedProviders } from './routing/providers.ts';
import type { WebSearchers } from './search/search-sources.ts';
import type { Upstreams } from './calling/upstreams.ts';

export type Gateway = {
  readonly config: Config;
  readonly catalog: Catalog;
  readonly ledger: Ledger;
  /** May be a moment old. */
  readonly readBalance: (ledgerId: LedgerId) => Balance | null | Promise<Balance | null>;
  readonly idempotency: Idempotency;
  /** Limits the bytes of free answers that are stored. */
  readonly freeBytes: DailyBytes;
  /** For answers that are too long for the database. */
  readonly fileBytes: DailyBytes;
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
  /** This process's name in the ledger's leases. */
  readonly owner: string;
  readonly runs: ActiveRuns;
  readonly keepAlives: KeepAlives;
  readonly growths: HoldGrowths;
  readonly routing: Routing;
  /** Counts what the ledger does not book. */
  readonly activity: Activity;
  /** Keeps the bodies of requests whose key asks for it. */
  readonly bodies: KeptBodies;
  /** Counts for the metrics. */
  readonly meter: Meter;
};
