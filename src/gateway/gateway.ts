// Everything that a charged request needs from the rest of the program. serving.ts assembles it.
import type { HeaderNames } from '../terms/header-names.ts';
import type { Config } from '../config/schema.ts';
import type { Activity } from '../domain/activity/activity.ts';
import type { KeptBodies } from '../domain/bodies/kept-bodies.ts';
import type { ResponseCache } from '../domain/cache/response-cache.ts';
import type { Idempotency } from '../domain/idempotency/idempotency.ts';
import type { LedgerId } from '../domain/ledger/commands.ts';
import type { ApiKey } from '../domain/keys/api-key.ts';
import type { Balance } from '../domain/ledger/reports/queries.ts';
import type { DailyBytes } from '../domain/limits/daily-bytes.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { ActiveRuns } from './active-runs.ts';
import type { HoldGrowths } from './charging/hold-growth.ts';
import type { Books } from './charging/open-hold.ts';
import type { ImageFiles } from './images/image-files.ts';
import type { KeepAlives } from './keep-alives.ts';
import type { Meter } from './meter.ts';
import type { LongAnswers } from './limits/long-answers.ts';
import type { RateLimits } from './limits/rate-limits.ts';
import type { Hosts } from './routing/routing.ts';

export type Gateway = {
  /**
   * This and `hosts` follow the settings. A request uses a snapshot of the gateway, with both as
   * they are.
   */
  readonly config: Config;
  readonly books: Books & {
    readonly growths: HoldGrowths;
    /** May be a moment old. */
    readonly readBalance: (ledgerId: LedgerId) => Balance | null | Promise<Balance | null>;
  };
  /** Answers that repeats of a request get. */
  readonly answers: {
    readonly idempotency: Idempotency;
    readonly cache: ResponseCache;
    /** `free`: for answers that are free. `file`: for those that are too long for the database. */
    readonly dailyBytes: DailyBytes;
  };
  /** Where requests can go. */
  readonly hosts: Hosts;
  /** What counts and keeps for reports, metrics and the history. */
  readonly observe: {
    /** Counts what the ledger does not book. */
    readonly activity: Activity;
    /** Counts for the metrics. */
    readonly meter: Meter;
    /** Keeps the bodies of requests whose key asks for it. */
    readonly bodies: KeptBodies;
  };
  readonly rateLimits: RateLimits;
  /** One for each mode, because slow test answers must not block live ones. */
  readonly longAnswers: Readonly<Record<ApiKey['mode'], LongAnswers>>;
  readonly images: ImageFiles;
  readonly headers: HeaderNames;
  readonly runs: ActiveRuns;
  readonly keepAlives: KeepAlives;
  readonly log: Logger;
  readonly clock: Clock;
};

/** Returns the gateway as it is, for a request that sees one version of the settings to its end. */
export function snapshotOf(gateway: Gateway): Gateway {
  return { ...gateway };
}
