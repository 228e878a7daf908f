// Rate limits of a key and of its account (all its keys in one mode): requests a minute, tokens a
// minute, requests at once. Both the key and the account must have room; when one refuses, nothing
// is taken from the other.
import type { Config } from '../../config/schema.ts';
import type { ApiKey } from '../../domain/keys/api-key.ts';
import type { Limits } from '../../domain/limits/open-limits.ts';
import type { TakeResult } from '../../domain/limits/rates.ts';
import type { SlotLimit } from '../../domain/limits/slots.ts';
import type { Headers } from '../client.ts';
import {
  batchesRefusal,
  rateRefusal,
  refusedLinesRefusal,
  slotRefusal,
  withRateHeaders,
  type LimitScope,
  type Need,
  type ScopedSlotLimit,
} from './rate-limit-refusal.ts';

/** A request's slot. End it with the tokens that were used. */
type Slot = { readonly headers: Headers; readonly end: (tokensUsed: number) => void };

type Defaults = Config['limits'];

/** Counting is free, but it uses the provider's rate limit, which all accounts share. */
const unpaidCountsPerMinute = 10;
/** Claude Code counts some thirty parts of its prompt at once. */
const countsPerMinute = 600;

const oneRequest = { unit: 'requests', amount: 1 } as const;
/** Batches of an account that are created at once: each reads and estimates all of its lines. */
const batchesAtOnce = 8;
/**
 * Lines a minute that an account may have read for batches that are refused: at least this, else a
 * twentieth of those that it may have in a day.
 */
const refusedLinesMin = 1_000;

type RateLimitsInput = Pick<Limits, 'rates' | 'slots'> & {
  /** For keys and accounts without limits of their own. */
  readonly defaults: Defaults;
  /** Returns true when the account has paid nothing yet. */
  readonly isUnpaid: (key: ApiKey) => Promise<boolean>;
};

export class RateLimits {
  readonly #input: RateLimitsInput;

  constructor(input: RateLimitsInput) {
    this.#input = input;
  }

  /**
   * Counts a request. Returns headers that show the client its limits. Throws ApiError
   * `rate_limit_exceeded`.
   */
  takeRequest(key: ApiKey): Headers | Promise<Headers> {
    return this.#take(needsOf(key, this.#input.defaults, oneRequest), {});
  }

  /**
   * Counts a count of tokens, apart from requests: a client that shows what its prompt consists of
   * must not use up the requests that run. A key that may send none may not count either. Throws
   * ApiError `rate_limit_exceeded`.
   */
  takeCount(key: ApiKey): Headers | Promise<Headers> {
    const none = needsOf(key, this.#input.defaults, oneRequest).find(
      ({ perMinute }) => perMinute === 0,
    );
    if (none) throw rateRefusal({ ...none, left: 0 }, {});
    const id = `counts ${key.accountId}:${key.mode}`;
    const counts = { unit: 'requests', kind: 'token counts', scope: 'account' } as const;
    return this.#take([{ ...counts, id, perMinute: countsPerMinute, amount: 1 }], {});
  }

  /**
   * Returns true when a provider may count tokens for an account without balance; false when its
   * share of this minute is used up.
   */
  async takeUnpaidCount({ accountId }: ApiKey): Promise<boolean> {
    const taken = await this.#input.rates.take(
      { id: `unpaid-counts ${accountId}`, perMinute: unpaidCountsPerMinute },
      1,
    );
    return taken.isGranted;
  }

  /**
   * Begins the creation of a batch. Call the result at its end, with the lines that were read in vain:
   * 0 when it was created. Throws ApiError `rate_limit_exceeded` while as many as allowed are being
   * created, or those that were refused have had too many lines.
   */
  async beginBatch({
    accountId,
  }: Pick<ApiKey, 'accountId'>): Promise<(linesRefused: number) => void> {
    const { defaults, rates, slots } = this.#input;
    const slot = { id: `batches ${accountId}`, max: batchesAtOnce };
    if (!(await slots.take(slot))) throw batchesRefusal(batchesAtOnce);
    const perMinute = Math.max(refusedLinesMin, Math.ceil(defaults.batch_lines_per_day / 20));
    const lines = { id: `refused-lines ${accountId}`, perMinute };
    const { isGranted, left } = await rates.take(lines, 1);
    if (isGranted)
      return (linesRefused) => {
        slots.give(slot);
        rates.correct(lines, 1 - linesRefused);
      };
    slots.give(slot);
    throw refusedLinesRefusal(perMinute, left);
  }

  /**
   * Starts a request: takes a slot, and the tokens that it will likely use. Throws ApiError
   * `rate_limit_exceeded`; the request then no longer counts.
   */
  async begin(key: ApiKey, tokens: number, headers: Headers): Promise<Slot> {
    const { defaults, rates, slots } = this.#input;
    const taken: ScopedSlotLimit[] = [];
    try {
      const slotDefaults = {
        key: defaults.concurrent_requests,
        account: await this.#accountSlots(key),
      };
      for (const limit of slotLimitsOf(key, slotDefaults)) {
        if (!(await slots.take(limit))) throw slotRefusal(limit, headers);
        taken.push(limit);
      }
      const needs = needsOf(key, defaults, { unit: 'tokens', amount: tokens });
      return {
        headers: await this.#take(needs, headers),
        end: (tokensUsed) => this.#end(taken, needs, tokensUsed),
      };
    } catch (error) {
      for (const limit of taken) slots.give(limit);
      for (const need of needsOf(key, defaults, oneRequest)) rates.correct(need, need.amount);
      throw error;
    }
  }

  /** Returns the account's default, which is lower until it has paid something. */
  async #accountSlots(key: ApiKey): Promise<number | null> {
    const { defaults, isUnpaid } = this.#input;
    const { account_concurrent_requests: paid, unpaid_concurrent_requests: unpaid } = defaults;
    const isLimited =
      unpaid !== null && key.accountLimits.concurrentRequests === null && (await isUnpaid(key));
    return isLimited ? Math.min(unpaid, paid ?? unpaid) : paid;
  }

  /**
   * Takes from all limits or from none. Returns the headers, with those of the budget that has
   * least left. Does not wait when the limits are in memory.
   */
  #take(needs: readonly Need[], headers: Headers): Headers | Promise<Headers> {
    if (needs.length === 0) return headers;
    const taken = needs.map((need) => this.#input.rates.take(need, need.amount));
    if (taken.every(isTaken)) return this.#judge(needs, taken, headers);
    return Promise.all(taken.map(async (one) => one)).then((all) =>
      this.#judge(needs, all, headers),
    );
  }

  #judge(needs: readonly Need[], taken: readonly TakeResult[], headers: Headers): Headers {
    const states = needs.map((need, index) => ({ ...need, ...taken[index]! }));
    const refused = states.find(({ isGranted }) => !isGranted);
    if (!refused) return withRateHeaders(headers, states.reduce(tighter));
    for (const state of states) if (state.isGranted) this.#input.rates.correct(state, state.amount);
    throw rateRefusal(refused, headers);
  }

  #end(limits: readonly SlotLimit[], needs: readonly Need[], tokensUsed: number): void {
    const { rates, slots } = this.#input;
    for (const limit of limits) slots.give(limit);
    for (const need of needs) {
      const difference = need.amount - tokensUsed;
      if (difference !== 0) rates.correct(need, difference);
    }
  }
}

function isTaken(taken: TakeResult | Promise<TakeResult>): taken is TakeResult {
  return !(taken instanceof Promise);
}

function tighter<LimitState extends TakeResult>(one: LimitState, other: LimitState): LimitState {
  return other.left < one.left ? other : one;
}

/** The limits a minute of a key and of its account, and those of keys and accounts without their own. */
const limitFields = {
  requests: ['requestsPerMinute', 'requests_per_minute', 'account_requests_per_minute'],
  tokens: ['tokensPerMinute', 'tokens_per_minute', 'account_tokens_per_minute'],
} as const;

/**
 * A request that is larger than a whole minute's limit runs when the limit is full, and later
 * requests wait until it is paid off.
 */
function needsOf(
  key: ApiKey,
  defaults: Defaults,
  { unit, amount }: Pick<Need, 'unit' | 'amount'>,
): Need[] {
  const [own, ofKeys, ofAccounts] = limitFields[unit];
  const limits = {
    key: key.limits[own] ?? defaults[ofKeys],
    account: key.accountLimits[own] ?? defaults[ofAccounts],
  };
  return scopesOf(key, limits).map(({ scope, id, limit }) => ({
    unit,
    scope,
    id: `${unit} ${id}`,
    perMinute: limit,
    amount: Math.max(1, Math.min(amount, limit)),
  }));
}

function slotLimitsOf(key: ApiKey, defaults: ByScope): ScopedSlotLimit[] {
  const limits = {
    key: key.limits.concurrentRequests ?? defaults.key,
    account: key.accountLimits.concurrentRequests ?? defaults.account,
  };
  return scopesOf(key, limits).map(({ scope, id, limit }) => ({ scope, id, max: limit }));
}

type ByScope = Readonly<Record<LimitScope, number | null>>;

/**
 * The limits of a request. An account has each limit once for each mode, so that test keys cannot
 * use up the live ones.
 */
function scopesOf(key: ApiKey, limits: ByScope) {
  const scopes: { scope: LimitScope; id: string; limit: number }[] = [];
  if (limits.key !== null) scopes.push({ scope: 'key', id: key.id, limit: limits.key });
  if (limits.account !== null)
    scopes.push({ scope: 'account', id: `${key.accountId}:${key.mode}`, limit: limits.account });
  return scopes;
}
