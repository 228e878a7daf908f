// What a key, and all keys of its account in one mode together, may ask for: requests a minute, tokens a minute, requests at once. Both the
// key's limit and its account's must have room; when one refuses, nothing is taken of the other.
import type { Config } from '../config/schema.ts';
import type { ApiKey } from '../keys/api-key.ts';
import type { Budget } from '../limits/bucket.ts';
import type { Limits } from '../limits/open-limits.ts';
import type { Taken } from '../limits/rates.ts';
import type { SlotLimit } from '../limits/slots.ts';
import type { Headers } from './client.ts';
import { rateHeaders, rateRefusal, slotRefusal, type LimitScope } from './rate-limit-refusal.ts';

export type RateLimits = {
  /** Counts a request. Returns the headers that tell the client where it stands. Throws ApiError `rate_limit_exceeded`. */
  readonly takeRequest: (key: ApiKey) => Headers | Promise<Headers>;
  /** Lets a provider count tokens for an account that has nothing to pay with. false: it has had its share of this minute. */
  readonly takeUnpaidCount: (key: ApiKey) => Promise<boolean>;
  /** Lets a request run: takes a slot, and the tokens that it will likely use. Throws ApiError `rate_limit_exceeded`. */
  readonly begin: (key: ApiKey, tokens: number, headers: Headers) => Promise<Place>;
};

/** A request's place among those that run. It must be ended, with the tokens that were used. */
type Place = { readonly headers: Headers; readonly end: (tokensUsed: number) => void };

type Scoped<Limit> = Limit & { readonly scope: LimitScope };
type Asked = { readonly unit: 'requests' | 'tokens'; readonly amounts: readonly number[]; readonly headers: Headers };

/** The defaults of whoever has no limit of its own. */
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

/** The credential's own limits at the provider are shared by all accounts, and counting is free. */
const unpaidCountsPerMinute = 10;

type RateLimitsInput = Pick<Limits, 'rates' | 'slots'> & {
  readonly defaults: Defaults;
  /** Whether the account has paid nothing yet. */
  readonly isUnpaid: (key: ApiKey) => Promise<boolean>;
};

export function createRateLimits({ rates, slots, defaults, isUnpaid }: RateLimitsInput): RateLimits {
  return {
    takeRequest(key) {
      const budgets = requestBudgetsOf(key, defaults);
      return takeFrom(budgets, { unit: 'requests', amounts: budgets.map(() => 1), headers: {} });
    },
    async takeUnpaidCount({ accountId }) {
      const taken = await rates.take({ id: `unpaid-counts ${accountId}`, perMinute: unpaidCountsPerMinute }, 1);
      return taken.isGranted;
    },
    async begin(key, tokens, headers) {
      const limits = slotLimitsOf(key, { ...defaults, account_concurrent_requests: await accountSlots(key) });
      await takeSlots(limits, headers);
      const budgets = tokenBudgetsOf(key, defaults);
      // A request that is larger than a whole minute runs when the minute is untouched, and is paid off afterwards.
      const amounts = budgets.map(({ perMinute }) => Math.max(1, Math.min(tokens, perMinute)));
      try {
        const withTokens = await takeFrom(budgets, { unit: 'tokens', amounts, headers });
        return { headers: withTokens, end: (tokensUsed) => end(limits, budgets, amounts, tokensUsed) };
      } catch (error) {
        for (const limit of limits) slots.give(limit);
        throw error;
      }
    },
  };

  /** The default of the account: less where it has paid nothing yet. */
  async function accountSlots(key: ApiKey): Promise<number | null> {
    const { account_concurrent_requests: paid, unpaid_concurrent_requests: unpaid } = defaults;
    const isLimited = unpaid !== null && key.accountLimits.concurrentRequests === null && (await isUnpaid(key));
    return isLimited ? Math.min(unpaid, paid ?? unpaid) : paid;
  }

  /** Takes from all or none; returns the headers with those of the budget that has least left. In memory there is nothing to wait for. */
  function takeFrom(budgets: readonly Scoped<Budget>[], asked: Asked): Headers | Promise<Headers> {
    if (budgets.length === 0) return asked.headers;
    const taken = budgets.map((budget, index) => rates.take(budget, asked.amounts[index]!));
    return taken.every(isTaken) ? judge(budgets, asked, taken) : judgeLater(budgets, asked, taken);
  }

  async function judgeLater(
    budgets: readonly Scoped<Budget>[],
    asked: Asked,
    taken: readonly (Taken | Promise<Taken>)[],
  ): Promise<Headers> {
    return judge(budgets, asked, await Promise.all(taken.map(async (one) => one)));
  }

  function judge(budgets: readonly Scoped<Budget>[], { unit, amounts, headers }: Asked, taken: readonly Taken[]): Headers {
    const standings = budgets.map((budget, index) => ({ budget, amount: amounts[index]!, unit, ...taken[index]! }));
    const refused = standings.find(({ isGranted }) => !isGranted);
    if (!refused) return { ...headers, ...rateHeaders(standings.reduce(tighter)) };
    for (const { isGranted, budget, amount } of standings) if (isGranted) rates.correct(budget, amount);
    throw rateRefusal(refused, headers);
  }

  async function takeSlots(limits: readonly Scoped<SlotLimit>[], headers: Headers): Promise<void> {
    const taken: SlotLimit[] = [];
    for (const limit of limits) {
      if (await slots.take(limit)) taken.push(limit);
      else {
        for (const other of taken) slots.give(other);
        throw slotRefusal(limit, headers);
      }
    }
  }

  function end(limits: readonly SlotLimit[], budgets: readonly Budget[], amounts: readonly number[], tokensUsed: number): void {
    for (const limit of limits) slots.give(limit);
    for (const [index, budget] of budgets.entries()) {
      const difference = amounts[index]! - tokensUsed;
      if (difference !== 0) rates.correct(budget, difference);
    }
  }
}

function isTaken(taken: Taken | Promise<Taken>): taken is Taken {
  return !(taken instanceof Promise);
}

function tighter<Standing extends Taken>(one: Standing, other: Standing): Standing {
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

function budgetsOf(key: ApiKey, unit: Asked['unit'], limits: ByScope): Scoped<Budget>[] {
  return scopesOf(key, limits).map(({ scope, id, limit }) => ({ scope, id: `${unit} ${id}`, perMinute: limit }));
}

/** The limits that there are. Test keys cannot use up what live ones need, so an account has each of its limits once for each mode. */
function scopesOf(key: ApiKey, limits: ByScope): { readonly scope: LimitScope; readonly id: string; readonly limit: number }[] {
  const scopes = [];
  if (limits.key !== null) scopes.push({ scope: 'key' as const, id: key.id, limit: limits.key });
  if (limits.account !== null) {
    scopes.push({ scope: 'account' as const, id: `${key.accountId}:${key.mode}`, limit: limits.account });
  }
  return scopes;
}
