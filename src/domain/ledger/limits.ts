// What can still be spent: the key's caps, the budget of its owner and the balance, each as one limit,
// in the order in which they refuse.
import { type Micros, micros, zeroMicros } from '../../lib/money.ts';
import {
  availableMicrosOf,
  type Book,
  type Hold,
  type LedgerState,
  memberKey,
  windowOf,
  type WindowKind,
} from './book.ts';
import {
  fullestOf,
  type Budget,
  type CapState,
  type Credit,
  type Debit,
  type RefusedOutcome,
} from './commands.ts';
import { nextDayMs, nextMonthMs } from '../../lib/utc-time.ts';

/** The terms of a hold: its key, windows and caps. */
type Terms = Pick<
  Hold,
  'ledgerId' | 'keyId' | 'day' | 'month' | 'dailyCapMicros' | 'monthlyCapMicros'
>;

type Limited = {
  readonly ledger: LedgerState;
  readonly terms: Terms;
  readonly budget: Budget | undefined;
};

type Limit = {
  readonly type: Exclude<RefusedOutcome['type'], 'account-frozen'>;
  /** Negative when a cap was lowered, or a debit took the balance, below what is spent and held. */
  readonly leftMicros: number;
  readonly heldMicros: Micros;
  readonly cap: RefusedOutcome['cap'];
  /** A cap of 0 allows nothing, not even free requests. */
  readonly allowsNothing: boolean;
};

/** Returns the amount that fits all limits beyond existing holds; at least 0. */
export function roomMicros(book: Book, limited: Limited): Micros {
  return smallestRoom(limitsOf(book, limited));
}

/**
 * Returns the refusal of a hold by the first limit in order of precedence, or null when it fits all
 * of them. A hold of 0 micros, for a free model, fits an exhausted balance or cap.
 */
export function refuseHold(
  book: Book,
  limited: Limited & { amountMicros: Micros; nowMs: number },
): RefusedOutcome | null {
  const { ledger, amountMicros, nowMs } = limited;
  if (ledger.isFrozen) {
    const nothing = {
      leftMicros: zeroMicros,
      affordableMicros: zeroMicros,
      cap: null,
      resetsAtMs: null,
    };
    return { type: 'account-frozen', ...nothing, heldMicros: ledger.heldMicros };
  }
  const limits = limitsOf(book, limited);
  const refusing = limits.find((limit) => limit.allowsNothing || amountMicros > roomOf(limit));
  if (!refusing) return null;
  const { type, heldMicros, cap } = refusing;
  const [leftMicros, affordableMicros] = [roomOf(refusing), smallestRoom(limits)];
  return {
    type,
    leftMicros,
    heldMicros,
    cap,
    affordableMicros,
    resetsAtMs: resetsAtMs(type, nowMs),
  };
}

/** Returns the cap or budget of which the largest part is spent; undefined: there is none. */
export function fullestCap(book: Book, limited: Limited, nowMs: number): CapState | undefined {
  const caps = limitsOf(book, limited).flatMap(({ type, cap }): CapState[] =>
    cap && type !== 'insufficient-balance'
      ? [{ window: kindOf(type), ...cap, resetsAtMs: resetsAtMs(type, nowMs)! }]
      : [],
  );
  return fullestOf(caps);
}

/**
 * The largest posted balance by credits and debits, above and below 0: $9 billion. The distance to
 * the largest safe integer leaves room for holds and charges.
 */
export const balanceMaxMicros = micros(9_000_000_000_000_000);

/** Returns the largest credit or debit that keeps the posted balance within `balanceMaxMicros`. */
export function adjustableMicros(
  { postedMicros }: LedgerState,
  type: (Credit | Debit)['type'],
): Micros {
  const left =
    type === 'credit' ? balanceMaxMicros - postedMicros : balanceMaxMicros + postedMicros;
  return micros(Math.min(Math.max(left, 0), balanceMaxMicros));
}

function limitsOf(book: Book, { ledger, terms, budget }: Limited): readonly Limit[] {
  const { ledgerId, keyId, day, month, dailyCapMicros, monthlyCapMicros } = terms;
  const { dailyMicros = null, monthlyMicros = null } = budget ?? {};
  const own = [keyId];
  const owned = budget ? (book.members.get(memberKey(ledgerId, budget.memberId)) ?? []) : [];
  return [
    ...capLimit(book, 'key-daily-limit', own, day, dailyCapMicros),
    ...capLimit(book, 'key-monthly-limit', own, month, monthlyCapMicros),
    ...capLimit(book, 'member-daily-limit', owned, day, dailyMicros),
    ...capLimit(book, 'member-monthly-limit', owned, month, monthlyMicros),
    {
      type: 'insufficient-balance',
      leftMicros: availableMicrosOf(ledger),
      heldMicros: ledger.heldMicros,
      cap: null,
      allowsNothing: false,
    },
  ];
}

/** `keyIds`: their spending is summed. `capMicros`: null: no cap. */
function capLimit(
  book: Book,
  type: Exclude<Limit['type'], 'insufficient-balance'>,
  keyIds: readonly string[],
  startsOn: string,
  capMicros: Micros | null,
): readonly Limit[] {
  if (capMicros === null) return [];
  const windows = keyIds.map((keyId) => windowOf(book, keyId, kindOf(type), startsOn));
  const spentMicros = sumOf(windows.map(({ settledMicros }) => settledMicros));
  const heldMicros = sumOf(windows.map((window) => window.heldMicros));
  const limit = {
    type,
    leftMicros: capMicros - spentMicros - heldMicros,
    heldMicros,
    cap: { capMicros, spentMicros },
    allowsNothing: capMicros === 0,
  };
  return [limit];
}

function kindOf(type: Exclude<Limit['type'], 'insufficient-balance'>): WindowKind {
  return type === 'key-daily-limit' || type === 'member-daily-limit' ? 'day' : 'month';
}

function sumOf(amounts: readonly Micros[]): Micros {
  return micros(amounts.reduce((sum, amount) => sum + amount, 0));
}

function resetsAtMs(type: Limit['type'], nowMs: number): number | null {
  if (type === 'insufficient-balance') return null;
  return kindOf(type) === 'day' ? nextDayMs(nowMs) : nextMonthMs(nowMs);
}

function roomOf(limit: Limit): Micros {
  return micros(Math.max(0, limit.leftMicros));
}

function smallestRoom(limits: readonly Limit[]): Micros {
  return micros(Math.max(0, Math.min(...limits.map((limit) => limit.leftMicros))));
}
