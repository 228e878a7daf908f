// What can still be spent: the key's caps and the balance, each as one limit, in the order in which
// they refuse.
import { type Micros, micros, zeroMicros } from '../../lib/money.ts';
import {
  availableMicrosOf,
  type Book,
  type Hold,
  type LedgerState,
  windowOf,
  type WindowKind,
} from './book.ts';
import type { Credit, Debit, RefusedOutcome } from './commands.ts';
import { nextDayMs, nextMonthMs } from './window.ts';

/** The terms of a hold: its key, windows and caps. */
type Terms = Pick<Hold, 'keyId' | 'day' | 'month' | 'dailyCapMicros' | 'monthlyCapMicros'>;

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
export function roomMicros(book: Book, ledger: LedgerState, terms: Terms): Micros {
  return smallestRoom(limitsOf(book, ledger, terms));
}

/**
 * Returns the refusal of a hold by the first limit in order of precedence, or null when it fits all
 * of them. A hold of 0 micros, for a free model, fits an exhausted balance or cap.
 */
export function refuseHold(
  book: Book,
  {
    ledger,
    terms,
    amountMicros,
    nowMs,
  }: { ledger: LedgerState; terms: Terms; amountMicros: Micros; nowMs: number },
): RefusedOutcome | null {
  if (ledger.isFrozen) {
    const nothing = {
      leftMicros: zeroMicros,
      affordableMicros: zeroMicros,
      cap: null,
      resetsAtMs: null,
    };
    return { type: 'account-frozen', ...nothing, heldMicros: ledger.heldMicros };
  }
  const limits = limitsOf(book, ledger, terms);
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

function limitsOf(book: Book, ledger: LedgerState, terms: Terms): readonly Limit[] {
  const balance: Limit = {
    type: 'insufficient-balance',
    leftMicros: availableMicrosOf(ledger),
    heldMicros: ledger.heldMicros,
    cap: null,
    allowsNothing: false,
  };
  const day = capLimit(book, terms, 'day');
  const month = capLimit(book, terms, 'month');
  return [day, month, balance].filter((limit) => limit !== null);
}

function capLimit(book: Book, terms: Terms, kind: WindowKind): Limit | null {
  const isDay = kind === 'day';
  const capMicros = isDay ? terms.dailyCapMicros : terms.monthlyCapMicros;
  if (capMicros === null) return null;
  const { settledMicros, heldMicros } = windowOf(
    book,
    terms.keyId,
    kind,
    isDay ? terms.day : terms.month,
  );
  return {
    type: isDay ? 'key-daily-limit' : 'key-monthly-limit',
    leftMicros: capMicros - settledMicros - heldMicros,
    heldMicros,
    cap: { capMicros, spentMicros: settledMicros },
    allowsNothing: capMicros === 0,
  };
}

function resetsAtMs(type: Limit['type'], nowMs: number): number | null {
  if (type === 'insufficient-balance') return null;
  return type === 'key-daily-limit' ? nextDayMs(nowMs) : nextMonthMs(nowMs);
}

function roomOf(limit: Limit): Micros {
  return micros(Math.max(0, limit.leftMicros));
}

function smallestRoom(limits: readonly Limit[]): Micros {
  return micros(Math.max(0, Math.min(...limits.map((limit) => limit.leftMicros))));
}
