// What may still be spent: the balance and both caps of a key, each as one limit, in the order in which they refuse.
import { type Micros, micros, zeroMicros } from '../lib/money.ts';
import { availableMicrosOf, type Book, type Hold, type LedgerState, windowOf, type WindowKind } from './book.ts';
import type { RefusedOutcome } from './commands.ts';
import { nextDayMs, nextMonthMs } from './window.ts';

/** Under what terms money is asked for: who asks, in which windows, with which caps. */
export type Terms = Pick<Hold, 'keyId' | 'day' | 'month' | 'dailyCapMicros' | 'monthlyCapMicros'>;

type Limit = {
  readonly type: Exclude<RefusedOutcome['type'], 'account-frozen'>;
  /** Below 0 when a cap was lowered, or a debit took the balance, under what is spent and held. */
  readonly leftMicros: number;
  readonly heldMicros: Micros;
  /** A cap of 0 allows nothing, not even a request that costs nothing. */
  readonly allowsNothing: boolean;
};

/** What every limit has room for beyond what is already held; never below 0. */
export function roomMicros(book: Book, ledger: LedgerState, terms: Terms): Micros {
  return smallestRoom(limitsOf(book, ledger, terms));
}

/**
 * The refusal of a hold by the first limit in the order of precedence, or null when it fits all of them.
 * A hold of 0 micros, for a free model, fits a balance or a cap that is used up.
 */
export function refuseHold(
  book: Book,
  { ledger, terms, amountMicros, nowMs }: { ledger: LedgerState; terms: Terms; amountMicros: Micros; nowMs: number },
): RefusedOutcome | null {
  if (ledger.isFrozen) {
    const nothing = { leftMicros: zeroMicros, affordableMicros: zeroMicros, resetsAtMs: null };
    return { type: 'account-frozen', ...nothing, heldMicros: ledger.heldMicros };
  }
  const limits = limitsOf(book, ledger, terms);
  const refusing = limits.find((limit) => limit.allowsNothing || amountMicros > roomOf(limit));
  if (!refusing) return null;
  const { type, heldMicros } = refusing;
  const [leftMicros, affordableMicros] = [roomOf(refusing), smallestRoom(limits)];
  return { type, leftMicros, heldMicros, affordableMicros, resetsAtMs: resetsAtMs(type, nowMs) };
}

function limitsOf(book: Book, ledger: LedgerState, terms: Terms): readonly Limit[] {
  const balance: Limit = {
    type: 'insufficient-balance',
    leftMicros: availableMicrosOf(ledger),
    heldMicros: ledger.heldMicros,
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
  const { settledMicros, heldMicros } = windowOf(book, terms.keyId, kind, isDay ? terms.day : terms.month);
  return {
    type: isDay ? 'key-daily-limit' : 'key-monthly-limit',
    leftMicros: capMicros - settledMicros - heldMicros,
    heldMicros,
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
