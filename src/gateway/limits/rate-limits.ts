// Rate limits of a key and of its account (all its keys in one mode): requests a minute, tokens a
// minute, requests at once. Both the key and the account must have room; when one refuses, nothing
// is taken from the other.
import type { Config } from '../../config/schema.ts';
import type { ApiKey } from '../../domain/keys/api-key.ts';
import type { Budget } from '../../domain/limits/bucket.ts';
import type { Limits } from '../../domain/limits/open-limits.ts';
import type { TakeResult } from '../../domain/limits/rates.ts';
import type { SlotLimit } from '../../domain/limits/slots.ts';
import type { Headers } from '../client.ts';
import {
  rateRefusal,
  slotRefusal,
  withRateHeaders,
  type LimitScope,
} from './rate-limit-refusal.ts';

/** A request's slot. End it with the tokens that were used. */
type Slot = { readonly headers: Headers; readonly end: (tokensUsed: number) => void };

type Scoped<Limit> = Limit & { readonly scope: LimitScope };
type LimitQuery = {
  readonly unit: 'requests' | 'tokens';
  readonly amounts: readonly number[];
  readonly headers: Headers;
};

/** The defaults for keys and accounts without limits of their own. */
type Defaults = Pick<
  Config['limits'],
  | 'requests_per_minute'
  | 'tokens_per_minute'
  | 'concurrent_requests'
  | 'account_requests_per_minute'
  | 'account_tokens_per_minute'
  | 'account_concurrent_requests'
  | 'unpaid_concurrent_requests'
>;

/** Counting is free, but it uses the provider's rate limit, which all accounts share. */
const unpaidCountsPerMinute = 10;

type RateLimitsInput = Pick<Limits, 'rates' | 'slots'> & {
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
    const budgets = requestBudgetsOf(key, this.#input.defaults);
    return this.#takeFrom(budgets, {
      unit: 'requests',
      amounts: budgets.map(() => 1),
      headers: {},
    });
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
   * Starts a request: takes a slot, and the tokens that it will likely use. Throws ApiError
   * `rate_limit_exceeded`; the request then no longer counts.
   */
  async begin(key: ApiKey, tokens: number, headers: Headers): Promise<Slot> {
    const { defaults, rates } = this.#input;
    try {
      return await this.#takePlace(key, tokens, headers);
    } catch (error) {
      for (const budget of requestBudgetsOf(key, defaults)) rates.correct(budget, 1);
      throw error;
    }
  }

  async #takePlace(key: ApiKey, tokens: number, headers: Headers): Promise<Slot> {
    const { defaults, slots } = this.#input;
    const limits = slotLimitsOf(key, {
      ...defaults,
      account_concurrent_requests: await this.#accountSlots(key),
    });
    await this.#takeSlots(limits, headers);
    const budgets = tokenBudgetsOf(key, defaults);
    // A request that is larger than a whole minute's budget runs when the budget is full, and later
    // requests wait until it is paid off.
    const amounts = budgets.map(({ perMinute }) => Math.max(1, Math.min(tokens, perMinute)));
    try {
      const withTokens = await this.#takeFrom(budgets, { unit: 'tokens', amounts, headers });
      return {
        headers: withTokens,
        end: (tokensUsed) => this.#end(limits, budgets, amounts, tokensUsed),
      };
    } catch (error) {
      for (const limit of limits) slots.give(limit);
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
  #takeFrom(budgets: readonly Scoped<Budget>[], asked: LimitQuery): Headers | Promise<Headers> {
    if (budgets.length === 0) return asked.headers;
    const taken = budgets.map((budget, index) =>
      this.#input.rates.take(budget, asked.amounts[index]!),
    );
    if (taken.every(isTaken)) return this.#judge(budgets, asked, taken);
    return Promise.all(taken.map(async (one) => one)).then((all) =>
      this.#judge(budgets, asked, all),
    );
  }

  #judge(
    budgets: readonly Scoped<Budget>[],
    { unit, amounts, headers }: LimitQuery,
    taken: readonly TakeResult[],
  ): Headers {
    const states = budgets.map((budget, index) => ({
      budget,
      amount: amounts[index]!,
      unit,
      ...taken[index]!,
    }));
    const refused = states.find(({ isGranted }) => !isGranted);
    if (!refused) return withRateHeaders(headers, states.reduce(tighter));
    for (const { isGranted, budget, amount } of states)
      if (isGranted) this.#input.rates.correct(budget, amount);
    throw rateRefusal(refused, headers);
  }

  async #takeSlots(limits: readonly Scoped<SlotLimit>[], headers: Headers): Promise<void> {
    const { slots } = this.#input;
    const taken: SlotLimit[] = [];
    for (const limit of limits) {
      if (await slots.take(limit)) taken.push(limit);
      else {
        for (const other of taken) slots.give(other);
        throw slotRefusal(limit, headers);
      }
    }
  }

  #end(
    limits: readonly SlotLimit[],
    budgets: readonly Budget[],
    amounts: readonly number[],
    tokensUsed: number,
  ): void {
    const { rates, slots } = this.#input;
    for (const limit of limits) slots.give(limit);
    for (const [index, budget] of budgets.entries()) {
      const difference = amounts[index]! - tokensUsed;
      if (difference !== 0) rates.correct(budget, difference);
    }
  }
}

function isTaken(taken: TakeResult | Promise<TakeResult>): taken is TakeResult {
  return !(taken instanceof Promise);
}

function tighter<LimitState extends TakeResult>(one: LimitState, other: LimitState): LimitState {
  return other.left < one.left ? other : one;
}

function requestBudgetsOf(key: ApiKey, defaults: Defaults): Scoped<Budget>[] {
  return budgetsOf(key, 'requests', {
    key: key.limits.requestsPerMinute ?? defaults.requests_per_minute,
    account: key.accountLimits.requestsPerMinute ?? defaults.account_requests_per_minute,
  });
}

function tokenBudgetsOf(key: ApiKey, defaults: Defaults): Scoped<Budget>[] {
  return budgetsOf(key, 'tokens', {
    key: key.limits.tokensPerMinute ?? defaults.tokens_per_minute,
    account: key.accountLimits.tokensPerMinute ?? defaults.account_tokens_per_minute,
  });
}

function slotLimitsOf(key: ApiKey, defaults: Defaults): Scoped<SlotLimit>[] {
  return scopesOf(key, {
    key: key.limits.concurrentRequests ?? defaults.concurrent_requests,
    account: key.accountLimits.concurrentRequests ?? defaults.account_concurrent_requests,
  }).map(({ scope, id, limit }) => ({ scope, id, max: limit }));
}

type ByScope = Readonly<Record<LimitScope, number | null>>;

function budgetsOf(key: ApiKey, unit: LimitQuery['unit'], limits: ByScope): Scoped<Budget>[] {
  return scopesOf(key, limits).map(({ scope, id, limit }) => ({
    scope,
    id: `${unit} ${id}`,
    perMinute: limit,
  }));
}

/**
 * The limits of a request. An account has each limit once for each mode, so that test keys cannot
 * use up the live ones.
 */
function scopesOf(
  key: ApiKey,
  limits: ByScope,
): { readonly scope: LimitScope; readonly id: string; readonly limit: number }[] {
  const scopes = [];
  if (limits.key !== null) scopes.push({ scope: 'key' as const, id: key.id, limit: limits.key });
  if (limits.account !== null) {
    scopes.push({
      scope: 'account' as const,
      id: `${key.accountId}:${key.mode}`,
      limit: limits.account,
    });
  }
  return scopes;
}
