// Writes the error for a request whose hold does not fit: which limit refused it, by how much, and
// what would fit.
import { accountFrozen, ApiError } from '../../canonical/errors.ts';
import type { RefusedOutcome } from '../../domain/ledger/commands.ts';
import { formatUsd, type Micros } from '../../lib/money.ts';
import type { HoldRequest } from './worst-case.ts';

/** The purpose of the hold, in words. */
type Wanted = {
  readonly amountMicros: Micros;
  readonly nowMs: number;
  /** Follows "This request can cost up to $1": ` with 2 web searches`. */
  readonly costPart: string;
  /** What would fit, as a sentence with a leading space. */
  readonly fitsPart: string;
  readonly details: Readonly<Record<string, unknown>>;
};

/** Returns the ApiError 402, 403 or 429. */
export function holdRefused(outcome: RefusedOutcome, wanted: Wanted): ApiError {
  switch (outcome.type) {
    case 'account-frozen':
      return accountFrozen();
    case 'insufficient-balance':
      return new ApiError('insufficient_balance', balanceMessage(outcome, wanted), {
        details: detailsOf('balance', outcome, wanted),
      });
    default:
      return capError(outcome, outcome.type, wanted);
  }
}

/** Returns the error for a model's answer. `affordable`: the output tokens that would fit. */
export function refusal(
  wanted: HoldRequest,
  outcome: RefusedOutcome,
  facts: RefusalFacts,
): ApiError {
  const { search } = wanted;
  const { amountMicros, nowMs, affordable } = facts;
  const fitsPart =
    affordable > 0
      ? outputPart(wanted, affordable)
      : ` Not even its input would fit.${wholeContextPart(wanted)}`;
  const details = {
    affordable_output_tokens: affordable,
    ...(search && { web_searches: search.searchesMax }),
  };
  return holdRefused(outcome, {
    amountMicros,
    nowMs,
    costPart: searchPart(wanted),
    fitsPart,
    details,
  });
}

type RefusalFacts = Pick<Wanted, 'amountMicros' | 'nowMs'> & { readonly affordable: number };

type CapType = Exclude<RefusedOutcome['type'], 'account-frozen' | 'insufficient-balance'>;

const caps = {
  'key-daily-limit': {
    code: 'key_daily_limit_reached',
    limit: 'daily_cap',
    words: ["This key's daily cap", 'cap'],
  },
  'key-monthly-limit': {
    code: 'key_monthly_limit_reached',
    limit: 'monthly_cap',
    words: ["This key's monthly cap", 'cap'],
  },
  'member-daily-limit': {
    code: 'member_budget_reached',
    limit: 'daily_budget',
    words: ["The daily budget of this key's owner", 'budget'],
  },
  'member-monthly-limit': {
    code: 'member_budget_reached',
    limit: 'monthly_budget',
    words: ["The monthly budget of this key's owner", 'budget'],
  },
} as const satisfies Record<CapType, object>;

/** SDKs retry a 429 at once, but a cap does not change within seconds. */
function capError(outcome: RefusedOutcome, type: CapType, wanted: Wanted): ApiError {
  const { code, limit, words } = caps[type];
  return new ApiError(code, capMessage(outcome, wanted, words), {
    details: detailsOf(limit, outcome, wanted),
    retryAfterSeconds: secondsUntilReset(outcome, wanted),
    headers: { 'x-should-retry': 'false' },
  });
}

function detailsOf(
  limit: string,
  outcome: RefusedOutcome,
  wanted: Wanted,
): Readonly<Record<string, unknown>> {
  return {
    limit,
    required_micros: wanted.amountMicros,
    left_micros: outcome.leftMicros,
    held_micros: outcome.heldMicros,
    ...(outcome.cap && {
      cap_micros: outcome.cap.capMicros,
      spent_micros: outcome.cap.spentMicros,
    }),
    ...wanted.details,
    resets_at: resetTime(outcome),
  };
}

function resetTime(outcome: RefusedOutcome): string | null {
  return outcome.resetsAtMs === null ? null : new Date(outcome.resetsAtMs).toISOString();
}

function secondsUntilReset(outcome: RefusedOutcome, { nowMs }: Wanted): number | null {
  return outcome.resetsAtMs === null
    ? null
    : Math.max(1, Math.ceil((outcome.resetsAtMs - nowMs) / 1_000));
}

function balanceMessage(
  outcome: RefusedOutcome,
  { amountMicros, costPart, fitsPart }: Wanted,
): string {
  const held = outcome.heldMicros > 0 ? `; ${heldPart(outcome)}` : '';
  const left = `the balance has $${formatUsd(outcome.leftMicros)} left`;
  return `This request can cost up to $${formatUsd(amountMicros)}${costPart}, and ${left}${held}.${fitsPart}`;
}

/**
 * Writes the message for a key's cap or a member's budget. It shows the sums, because a hold is the most that a request
 * can cost, and usually fails before the cap is reached.
 */
function capMessage(
  outcome: RefusedOutcome,
  { amountMicros, costPart, fitsPart }: Wanted,
  [name, kind]: readonly [name: string, kind: string],
): string {
  const { capMicros, spentMicros } = outcome.cap!;
  const cap = `${name} of $${formatUsd(capMicros)}`;
  const spent = `$${formatUsd(spentMicros)} is spent`;
  const cost = `request can cost up to $${formatUsd(amountMicros)}${costPart}`;
  const resets = ` The ${kind} starts anew at ${resetTime(outcome)}.`;
  if (spentMicros >= capMicros) return `${cap} is reached: ${spent}. This ${cost}.${resets}`;
  const held = outcome.heldMicros > 0 ? `, and ${heldPart(outcome)}` : '';
  const left = `$${formatUsd(outcome.leftMicros)} is left`;
  return `${cap} is not reached, but this ${cost}, and ${left}: ${spent}${held}.${fitsPart}${resets}`;
}

function heldPart({ heldMicros }: RefusedOutcome): string {
  return `running requests hold $${formatUsd(heldMicros)} until they end`;
}

function outputPart({ limitField, request: { choices } }: HoldRequest, affordable: number): string {
  const [each, fewer] =
    choices > 1 ? [` in each of ${choices} answers`, ', or a lower `n`'] : ['', ''];
  return ` Up to ${affordable} output tokens would fit${each}: send \`${limitField}\` of at most that${fewer}.`;
}

/**
 * Explains a hold for the model's whole context: the size of audio, video and a document given by
 * URL is unknown.
 */
function wholeContextPart({ inputTokensUpper, model }: HoldRequest): string {
  if (inputTokensUpper < model.contextTokens) return '';
  return (
    ' The length of its input is unknown, so the hold covers the whole context of the model: this applies to audio, video and documents by URL. ' +
    'Send documents as base64, so that their pages can be counted.'
  );
}

/** Names the searches: with the text they bring, they are often most of the cost. */
function searchPart({ search }: HoldRequest): string {
  if (!search) return '';
  const count = search.searchesMax === 1 ? 'one web search' : `${search.searchesMax} web searches`;
  const fewer =
    search.limitField === null || search.searchesMax === 1
      ? ''
      : `; a lower \`${search.limitField}\` allows fewer`;
  return ` with ${count}, whose results are read as input${fewer}`;
}
