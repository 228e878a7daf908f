// A request that may be answered by an earlier answer, and what that needs of the program.
import type { ApiError } from '../../canonical/errors.ts';
import type { Headers } from '../client.ts';
import type { CacheName } from '../../domain/cache/cache-name.ts';
import type { ResponseCache } from '../../domain/cache/response-cache.ts';
import type { Idempotency } from '../../domain/idempotency/idempotency.ts';
import { nameRequest, type RequestName } from '../../domain/idempotency/request-name.ts';
import type { DailyBytes } from '../../domain/limits/daily-bytes.ts';
import type { LedgerId } from '../../domain/ledger/commands.ts';
import type { Balance } from '../../domain/ledger/reports/queries.ts';
import type { HeaderNames } from '../../terms/header-names.ts';
import type { ActiveRuns } from '../active-runs.ts';
import type { KeepAlives } from '../keep-alives.ts';
import type { Caller, IncomingRequest } from '../request.ts';

/** Answers that are stored for repeats. */
export type StoredAnswers = {
  readonly idempotency: Idempotency;
  readonly cache: ResponseCache;
  /** `free`: for answers that are free. `file`: for those that are too long for the database. */
  readonly dailyBytes: DailyBytes;
};

/** What replaying needs of the program. */
type Replays = {
  readonly answers: StoredAnswers;
  readonly books: {
    readonly readBalance: (ledgerId: LedgerId) => Balance | null | Promise<Balance | null>;
  };
  readonly runs: ActiveRuns;
  readonly keepAlives: KeepAlives;
  readonly headers: HeaderNames;
};

/** A request that may be answered by an earlier answer. */
export type Replayable = {
  readonly gateway: Replays;
  readonly caller: Caller;
  readonly names: {
    /** null: it has no Idempotency-Key. */
    readonly request: RequestName | null;
    /** null: it does not use the cache. */
    readonly cache: CacheName | null;
  };
  readonly sale: {
    readonly stream: boolean;
    readonly headers: Headers;
    readonly opening?: { readonly keepAlive: string; readonly headers: Headers };
    readonly writeFailure?: (error: ApiError) => string;
  };
  readonly rateHeaders: Headers;
};

/**
 * Returns null without an Idempotency-Key. Throws ApiError `invalid_request` for one that cannot
 * be.
 */
export function nameUnderKey(incoming: IncomingRequest): RequestName | null {
  const { key } = incoming.caller;
  const { idempotencyKey } = incoming.wishes;
  return nameRequest({
    ...incoming,
    idempotencyKey,
    keyId: key.id,
    generation: key.cacheGeneration,
  });
}
