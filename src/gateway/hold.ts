// Places the hold of a request: the most it can cost, against the balance and both caps of its key, before anything goes upstream.
import { ApiError } from '../canonical/errors.ts';
import type { ClientFormatName } from '../canonical/format-name.ts';
import type { ClientRequest } from '../formats/format.ts';
import { upstreamFormats } from '../formats/registry.ts';
import type { ApiKey } from '../keys/api-key.ts';
import type { Model } from '../catalog/model.ts';
import { affordableOutputTokens, worstCaseMicros, type AppliedPrice } from '../catalog/price.ts';
import { ledgerIdOf, type Outcome, type RefusedOutcome } from '../ledger/commands.ts';
import { formatUsd, type Micros } from '../lib/money.ts';
import type { Gateway } from './gateway.ts';
import type { Asked } from './running.ts';

export type HoldRequest = {
  readonly requestId: string;
  readonly key: ApiKey;
  readonly model: Model;
  readonly price: AppliedPrice;
  readonly request: ClientRequest;
  readonly inputTokensUpper: number;
  /** What `outputLimitOf` gives. */
  readonly outputTokens: number;
  readonly format: ClientFormatName;
};

export type Hold = {
  readonly id: string;
  readonly amountMicros: Micros;
  /** The output limit the amount covers, which is the one to send upstream. */
  readonly maxOutputTokens: number;
  /** Below what the model would have given, because no more was affordable. */
  readonly isReduced: boolean;
  readonly availableMicros: Micros;
};

/** A caller that gave no maximum gets at least this much room to answer in, or an error. */
const reducedOutputTokensMin = 1_024;
/** What is affordable can shrink between the refusal and the next try, when others reserve at the same moment. */
const triesMax = 4;

/** The caller's own maximum, bounded by the model and by what the upstream takes at all; without one, the configuration's. */
export function outputLimitOf(
  { config }: Gateway,
  { model, request, route }: Pick<Asked, 'model' | 'request' | 'route'>,
): number {
  const least = route.transport === 'http' ? (upstreamFormats[route.format]?.outputTokensMin ?? 1) : 1;
  const wanted = request.maxOutputTokens ?? config.limits.default_max_output_tokens;
  return Math.max(Math.min(wanted, model.maxOutputTokens), least);
}

/** Throws ApiError 402, 403 or 429 when the most that the request can cost does not fit. */
export async function placeHold(gateway: Gateway, wanted: HoldRequest): Promise<Hold> {
  let maxOutputTokens = wanted.outputTokens;
  for (let tries = 1; ; tries++) {
    const amountMicros = worstCaseOf(wanted, maxOutputTokens);
    const outcome = await reserve(gateway, wanted, amountMicros);
    if (outcome.type === 'held') {
      const { availableMicros } = outcome;
      return {
        id: wanted.requestId,
        amountMicros,
        maxOutputTokens,
        isReduced: maxOutputTokens < wanted.outputTokens,
        availableMicros,
      };
    }
    const affordable = affordableTokens(wanted, outcome.affordableMicros, maxOutputTokens);
    const mayReduce = wanted.request.maxOutputTokens === null && affordable >= reducedFloor(wanted.request) && tries < triesMax;
    if (!mayReduce) throw refusal(wanted, outcome, { amountMicros, affordable, nowMs: gateway.nowMs() });
    maxOutputTokens = Math.min(affordable, maxOutputTokens - 1);
  }
}

function reducedFloor(request: ClientRequest): number {
  return reducedOutputTokensMin + request.thinkingBudgetTokens;
}

function worstCaseOf({ price, inputTokensUpper, request }: HoldRequest, outputTokens: number): Micros {
  return worstCaseMicros(price, { inputTokensUpper, outputTokens, choices: request.choices });
}

function affordableTokens({ price, inputTokensUpper, request }: HoldRequest, amountMicros: Micros, below: number): number {
  return Math.min(affordableOutputTokens(price, { amountMicros, inputTokensUpper, choices: request.choices }), below);
}

async function reserve(
  gateway: Gateway,
  { requestId, key }: HoldRequest,
  amountMicros: Micros,
): Promise<Extract<Outcome, { type: 'held' }> | RefusedOutcome> {
  const outcome = await gateway.ledger.submit({
    type: 'reserve',
    holdId: requestId,
    ledgerId: ledgerIdOf(key.accountId, key.mode),
    keyId: key.id,
    amountMicros,
    dailyCapMicros: key.dailyCapMicros,
    monthlyCapMicros: key.monthlyCapMicros,
    owner: gateway.owner,
  });
  switch (outcome.type) {
    case 'held':
    case 'account-frozen':
    case 'insufficient-balance':
    case 'key-daily-limit':
    case 'key-monthly-limit':
      return outcome;
    default:
      throw new Error(`the ledger answered a reservation with ${outcome.type}`);
  }
}

type RefusalFacts = { readonly amountMicros: Micros; readonly affordable: number; readonly nowMs: number };

function refusal(wanted: HoldRequest, outcome: RefusedOutcome, facts: RefusalFacts): ApiError {
  switch (outcome.type) {
    case 'account-frozen':
      return new ApiError('account_frozen', 'This account is frozen. Contact the operator of this service.');
    case 'insufficient-balance':
      return new ApiError('insufficient_balance', refusalMessage(wanted, outcome, facts, 'The balance'), {
        details: refusalDetails('balance', outcome, facts),
      });
    case 'key-daily-limit':
      return capError('key_daily_limit_reached', refusalMessage(wanted, outcome, facts, "This key's daily cap"), {
        details: refusalDetails('daily_cap', outcome, facts),
        retryAfterSeconds: secondsUntilReset(outcome, facts),
      });
    case 'key-monthly-limit':
      return capError('key_monthly_limit_reached', refusalMessage(wanted, outcome, facts, "This key's monthly cap"), {
        details: refusalDetails('monthly_cap', outcome, facts),
        retryAfterSeconds: secondsUntilReset(outcome, facts),
      });
  }
}

type CapErrorCode = 'key_daily_limit_reached' | 'key_monthly_limit_reached';
type CapErrorOptions = { readonly details: Readonly<Record<string, unknown>>; readonly retryAfterSeconds: number | null };

/** The SDKs would try a 429 again at once; a cap does not mend itself in seconds. */
function capError(code: CapErrorCode, message: string, options: CapErrorOptions): ApiError {
  return new ApiError(code, message, { ...options, headers: { 'x-should-retry': 'false' } });
}

function refusalDetails(limit: string, outcome: RefusedOutcome, facts: RefusalFacts): Readonly<Record<string, unknown>> {
  return {
    limit,
    required_micros: facts.amountMicros,
    left_micros: outcome.leftMicros,
    held_micros: outcome.heldMicros,
    affordable_output_tokens: facts.affordable,
    resets_at: resetTime(outcome),
  };
}

function resetTime(outcome: RefusedOutcome): string | null {
  return outcome.resetsAtMs === null ? null : new Date(outcome.resetsAtMs).toISOString();
}

function secondsUntilReset(outcome: RefusedOutcome, { nowMs }: RefusalFacts): number | null {
  return outcome.resetsAtMs === null ? null : Math.max(1, Math.ceil((outcome.resetsAtMs - nowMs) / 1_000));
}

/** Each client format's own name for its output limit. */
const limitFields: Readonly<Record<ClientFormatName, string>> = {
  responses: 'max_output_tokens',
  chat: 'max_completion_tokens',
  messages: 'max_tokens',
};

function refusalMessage(wanted: HoldRequest, outcome: RefusedOutcome, facts: RefusalFacts, subject: string): string {
  const held = outcome.heldMicros > 0 ? `; running requests hold $${formatUsd(outcome.heldMicros)}` : '';
  const fits =
    facts.affordable > 0
      ? ` Up to ${facts.affordable} output tokens would fit: send \`${limitFields[wanted.format]}\` of at most that.`
      : ' Not even its input would fit.';
  const resets = outcome.resetsAtMs === null ? '' : ` It starts anew at ${resetTime(outcome)}.`;
  return `This request can cost up to $${formatUsd(facts.amountMicros)}. ${subject} has $${formatUsd(outcome.leftMicros)} left${held}.${fits}${resets}`;
}
