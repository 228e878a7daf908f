// Writes the error for a request whose hold does not fit: which limit refused it, by how much, and
// what would fit.
import { accountFrozen, ApiError } from '../../canonical/errors.ts';
import type { RefusedOutcome } from '../../domain/ledger/commands.ts';
import { isoTimeOf } from '../../lib/iso-time.ts';
import { formatUsd, type Micros } from '../../lib/money.ts';
import { spendRefusal } from './spend-notice.ts';

/** What was refused, and the words for it. */
type Refused = {
  readonly amountMicros: Micros;
  readonly nowMs: number;
  /** Follows "This request can cost up to $1": ` with 2 web searches`. */
  readonly costPart: string;
  /** What would fit, as a sentence with a leading space. */
  readonly fitsPart: string;
  readonly details: Readonly<Record<string, unknown>>;
  /** True for a client of Messages, which reads headers about the cap. */
  readonly isMessages?: boolean;
};

/** Returns the ApiError 402, 403 or 429. */
export function holdRefused(outcome: RefusedOutcome, refused: Refused): ApiError {
  switch (outcome.type) {
    case 'account-frozen':
      return accountFrozen();
    case 'insufficient-balance':
      return new ApiError('insufficient_balance', balanceMessage(outcome, refused), {
        details: detailsOf('balance', outcome, refused),
      });
    default:
      return capError(outcome, outcome.type, refused);
  }
}

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
function capError(outcome: RefusedOutcome, type: CapType, refused: Refused): ApiError {
  const { code, limit, words } = caps[type];
  return new ApiError(code, capMessage(outcome, refused, words), {
    details: detailsOf(limit, outcome, refused),
    retryAfterSeconds: secondsUntilReset(outcome, refused),
    headers: {
      'x-should-retry': 'false',
      ...(refused.isMessages && spendRefusal(limit.startsWith('daily'), outcome.resetsAtMs!)),
    },
  });
}

function detailsOf(limit: string, outcome: RefusedOutcome, refused: Refused) {
  return {
    limit,
    required_micros: refused.amountMicros,
    left_micros: outcome.leftMicros,
    held_micros: outcome.heldMicros,
    ...(outcome.cap && {
      cap_micros: outcome.cap.capMicros,
      spent_micros: outcome.cap.spentMicros,
    }),
    ...refused.details,
    resets_at: isoTimeOf(resetOf(outcome)),
  };
}

/** null: of the balance, and of a cap of 0, which ends only when somebody changes it. */
function resetOf({ resetsAtMs, cap }: RefusedOutcome): number | null {
  return cap?.capMicros === 0 ? null : resetsAtMs;
}

function secondsUntilReset(outcome: RefusedOutcome, { nowMs }: Refused): number | null {
  const resetsAtMs = resetOf(outcome);
  return resetsAtMs === null ? null : Math.max(1, Math.ceil((resetsAtMs - nowMs) / 1_000));
}

function balanceMessage(
  outcome: RefusedOutcome,
  { amountMicros, costPart, fitsPart }: Refused,
): string {
  const held = outcome.heldMicros > 0 ? `; ${heldPart(outcome)}` : '';
  const left = `the balance has $${formatUsd(outcome.leftMicros)} left`;
  return `This request can cost up to $${formatUsd(amountMicros)}${costPart}, and ${left}${held}.${fitsPart} To run it as it is, top up the account.`;
}

/**
 * Writes the message for a key's cap or a member's budget. It shows the sums, because a hold is the
 * most that a request can cost, and usually fails before the cap is reached.
 */
function capMessage(
  outcome: RefusedOutcome,
  { amountMicros, costPart, fitsPart }: Refused,
  [name, kind]: readonly [name: string, kind: string],
): string {
  const { capMicros, spentMicros } = outcome.cap!;
  const cap = `${name} of $${formatUsd(capMicros)}`;
  const spent = `$${formatUsd(spentMicros)} is spent`;
  const cost = `request can cost up to $${formatUsd(amountMicros)}${costPart}`;
  const resets =
    capMicros === 0
      ? ` It allows nothing: have the ${kind} raised.`
      : ` The ${kind} starts anew at ${isoTimeOf(outcome.resetsAtMs)}.`;
  if (spentMicros >= capMicros) return `${cap} is reached: ${spent}. This ${cost}.${resets}`;
  const held = outcome.heldMicros > 0 ? `, and ${heldPart(outcome)}` : '';
  const left = `$${formatUsd(outcome.leftMicros)} is left`;
  return `${cap} is not reached, but this ${cost}, and ${left}: ${spent}${held}.${fitsPart}${resets}`;
}

function heldPart({ heldMicros }: RefusedOutcome): string {
  return `running requests hold $${formatUsd(heldMicros)} until they end`;
}
