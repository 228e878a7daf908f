// Journal entries: finding earlier entries of an id, and creating new ones.
import assert from 'node:assert/strict';
import type { EntryKind } from '../../db/schema.ts';
import { type Micros, micros, zeroMicros } from '../../lib/money.ts';
import {
  availableMicrosOf,
  type Book,
  type Entry,
  type Hold,
  type LedgerState,
  postToLedger,
} from './book.ts';

/** A hold as recorded in the journal, open or not. */
export type ReservedHold = Omit<Hold, 'owner' | 'likelyCost'>;

export function findEntry(book: Book, id: string, kind: EntryKind): Entry | undefined {
  return book.entries.get(id)?.find((entry) => entry.kind === kind);
}

/** Returns a hold from the journal, as it was when it ended. */
export function findReserved(book: Book, holdId: string): ReservedHold | null {
  const entry = findEntry(book, holdId, 'reserve');
  if (!entry) return null;
  const { id, ledgerId, keyId, day, month, dailyCapMicros, monthlyCapMicros, createdAtMs } = entry;
  assert.ok(
    keyId !== null && day !== null && month !== null,
    'a reservation has a key and windows',
  );
  const expiry = findEntry(book, holdId, 'expire');
  const amountMicros = expiry ? negative(expiry.heldDeltaMicros) : entry.heldDeltaMicros;
  return {
    id,
    ledgerId,
    keyId,
    amountMicros,
    day,
    month,
    dailyCapMicros,
    monthlyCapMicros,
    createdAtMs,
  };
}

/** Returns true for an entry that ends a hold, or follows its expiry. */
export function endsHold({ kind }: Entry): boolean {
  return kind === 'settle' || kind === 'release' || kind === 'expire';
}

/**
 * The note of a `release` in place of a settlement whose Idempotency-Key was taken over by another
 * request.
 */
export const supersededNote = 'superseded';

type NewEntry = Pick<Entry, 'id' | 'kind' | 'ledgerId' | 'createdAtMs'> & Partial<Entry>;

export function newEntry(ledger: LedgerState, known: NewEntry): Entry {
  const entry: Entry = {
    keyId: null,
    day: null,
    month: null,
    dailyCapMicros: null,
    monthlyCapMicros: null,
    postedDeltaMicros: zeroMicros,
    heldDeltaMicros: zeroMicros,
    lossMicros: zeroMicros,
    isCausedByAccount: false,
    note: null,
    ...known,
    availableMicros: zeroMicros,
  };
  return { ...entry, availableMicros: availableMicrosOf(postToLedger(ledger, entry)) };
}

/** Negates a value; plain negation of 0 would give −0. */
export function negative(value: Micros): Micros {
  return micros(0 - value);
}
