// What a client is told when the most that its request can cost does not fit: which limit refused it, by how much, and what would fit.
import { ApiError } from '../canonical/errors.ts';
import type { RefusedOutcome } from '../ledger/commands.ts';
import { formatUsd, type Micros } from '../lib/money.ts';
import type { HoldRequest } from './hold.ts';

/** What was to be held for, in words. */
export type Wanted = {
  readonly amountMicros: Micros;
  readonly nowMs: number;
  /** Follows "This request can cost up to $1": ` with 2 web searches`. */
  readonly costPart: string;
  /** What would fit, as a sentence after a space. */
  readonly fitsPart: string;
  readonly details: Readonly<Record<string, unknown>>;
};

/** The ApiError 402, 403 or 429. */
export function refuseHold(outcome: RefusedOutcome, wanted: Wanted): ApiError {
  switch (outcome.type) {
    case 'account-frozen':
      return new ApiError('account_frozen', 'This account is frozen. Contact the operator of this service.');
    case 'insufficient-balance':
      return new ApiError('insufficient_balance', messageOf(outcome, wanted, 'The balance'), {
        details: detailsOf('balance', outcome, wanted),
      });
    case 'key-daily-limit':
      return capError('key_daily_limit_reached', messageOf(outcome, wanted, "This key's daily cap"), {
        details: detailsOf('daily_cap', outcome, wanted),
        retryAfterSeconds: secondsUntilReset(outcome, wanted),
      });
    case 'key-monthly-limit':
      return capError('key_monthly_limit_reached', messageOf(outcome, wanted, "This key's monthly cap"), {
        details: detailsOf('monthly_cap', outcome, wanted),
        retryAfterSeconds: secondsUntilReset(outcome, wanted),
      });
  }
}

/** The same for a model's answer. `affordable`: the output tokens that would fit. */
export function refusal(wanted: HoldRequest, outcome: RefusedOutcome, facts: RefusalFacts): ApiError {
  const { search } = wanted;
  const { amountMicros, nowMs, affordable } = facts;
  const fitsPart =
    affordable > 0
      ? ` Up to ${affordable} output tokens would fit: send \`${wanted.limitField}\` of at most that.`
      : ` Not even its input would fit.${wholeContextPart(wanted)}`;
  const details = { affordable_output_tokens: affordable, ...(search && { web_searches: search.searchesMax }) };
  return refuseHold(outcome, { amountMicros, nowMs, costPart: searchPart(wanted), fitsPart, details });
}

type RefusalFacts = Pick<Wanted, 'amountMicros' | 'nowMs'> & { readonly affordable: number };

type CapErrorCode = 'key_daily_limit_reached' | 'key_monthly_limit_reached';
type CapErrorOptions = { readonly details: Readonly<Record<string, unknown>>; readonly retryAfterSeconds: number | null };

/** The SDKs would try a 429 again at once; a cap does not mend itself in seconds. */
function capError(code: CapErrorCode, message: string, options: CapErrorOptions): ApiError {
  return new ApiError(code, message, { ...options, headers: { 'x-should-retry': 'false' } });
}

function detailsOf(limit: string, outcome: RefusedOutcome, wanted: Wanted): Readonly<Record<string, unknown>> {
  return {
    limit,
    required_micros: wanted.amountMicros,
    left_micros: outcome.leftMicros,
    held_micros: outcome.heldMicros,
    ...wanted.details,
    resets_at: resetTime(outcome),
  };
}

function resetTime(outcome: RefusedOutcome): string | null {
  return outcome.resetsAtMs === null ? null : new Date(outcome.resetsAtMs).toISOString();
}

function secondsUntilReset(outcome: RefusedOutcome, { nowMs }: Wanted): number | null {
  return outcome.resetsAtMs === null ? null : Math.max(1, Math.ceil((outcome.resetsAtMs - nowMs) / 1_000));
}

function messageOf(outcome: RefusedOutcome, { amountMicros, costPart, fitsPart }: Wanted, subject: string): string {
  const held = outcome.heldMicros > 0 ? `; running requests hold $${formatUsd(outcome.heldMicros)}` : '';
  const resets = outcome.resetsAtMs === null ? '' : ` It starts anew at ${resetTime(outcome)}.`;
  const cost = `This request can cost up to $${formatUsd(amountMicros)}${costPart}.`;
  return `${cost} ${subject} has $${formatUsd(outcome.leftMicros)} left${held}.${fitsPart}${resets}`;
}

/** Of a document that is given by its address nothing is known, nor of a sound or a film. */
function wholeContextPart({ inputTokensUpper, model }: HoldRequest): string {
  if (inputTokensUpper < model.contextTokens) return '';
  return (
    ' It may be as long as the model can read, as a sound or a film always may: send documents as base64 instead of by their address, ' +
    'so that their pages count.'
  );
}

/** Searches and what they bring to read are often most of it. */
function searchPart({ search }: HoldRequest): string {
  if (!search) return '';
  const count = search.searchesMax === 1 ? 'one web search' : `${search.searchesMax} web searches`;
  const fewer = search.limitField === null || search.searchesMax === 1 ? '' : `; a lower \`${search.limitField}\` allows fewer`;
  return ` with ${count}, whose results are read as input${fewer}`;
}
