// The journal's entries: finding what was done before under an id, and writing down what is done now.
import assert from 'node:assert/strict';
import type { EntryKind } from '../db/schema.ts';
import { type Micros, micros, zeroMicros } from '../lib/money.ts';
import { availableMicrosOf, type Book, type Entry, type Hold, type LedgerState, postToLedger } from './book.ts';

/** A hold as the journal knows it, open or not. */
export type ReservedHold = Omit<Hold, 'owner' | 'likelyCost'>;

export function findEntry(book: Book, id: string, kind: EntryKind): Entry | undefined {
  return book.entries.get(id)?.find((entry) => entry.kind === kind);
}

/** A hold as it was when it ended, from the journal, when it is no longer open. */
export function findReserved(book: Book, holdId: string): ReservedHold | null {
  const entry = findEntry(book, holdId, 'reserve');
  if (!entry) return null;
  const { id, ledgerId, keyId, day, month, dailyCapMicros, monthlyCapMicros, createdAtMs } = entry;
  assert.ok(keyId !== null && day !== null && month !== null, 'a reservation has a key and windows');
  const expiry = findEntry(book, holdId, 'expire');
  const amountMicros = expiry ? negative(expiry.heldDeltaMicros) : entry.heldDeltaMicros;
  return { id, ledgerId, keyId, amountMicros, day, month, dailyCapMicros, monthlyCapMicros, createdAtMs };
}

/** Whether an entry ends a hold, or comes after its expiry. */
export function endsHold({ kind }: Entry): boolean {
  return kind === 'settle' || kind === 'release' || kind === 'expire';
}

/** What a `release` says in its note when it was to be a settlement, and its Idempotency-Key was another request's by then. */
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
    isProvoked: false,
    note: null,
    ...known,
    availableMicros: zeroMicros,
  };
  return { ...entry, availableMicros: availableMicrosOf(postToLedger(ledger, entry)) };
}

/** Without the −0 that a plain minus makes of 0. */
export function negative(value: Micros): Micros {
  return micros(0 - value);
}
