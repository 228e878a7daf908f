// The state that the ledger decides on, as values: a book holds what a batch of commands touches, loaded by a store.
// An entry is the only thing that changes a balance, so the way it changes one is written here once.
import type { AnswerWorth } from '../canonical/stored-response.ts';
import type { EntryKind } from '../db/schema.ts';
import { type Micros, micros, zeroMicros } from '../lib/money.ts';
import type { CachedAnswer, ChargeRecord, LedgerId, LikelyCost, StoredAnswer } from './commands.ts';

export type Book = {
  /** A ledger that is missing here does not exist. */
  readonly ledgers: ReadonlyMap<LedgerId, LedgerState>;
  /** By `windowKey`; one that is missing has nothing settled or held yet. */
  readonly windows: ReadonlyMap<string, Window>;
  /** The open holds. */
  readonly holds: ReadonlyMap<string, Hold>;
  /** Earlier entries by id: what makes a command that comes twice recognisable. */
  readonly entries: ReadonlyMap<string, readonly Entry[]>;
  /** By `claimKey`: the request that an Idempotency-Key belongs to now. Read for settlements that store an answer. */
  readonly claims: ReadonlyMap<string, string>;
};

export type LedgerState = {
  readonly postedMicros: Micros;
  readonly heldMicros: Micros;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly isFrozen: boolean;
  /** Unix milliseconds; 0 before the first entry. */
  readonly lastEntryAtMs: number;
};

export type WindowKind = 'day' | 'month';
export type Window = {
  readonly keyId: string;
  readonly kind: WindowKind;
  readonly startsOn: string;
  readonly settledMicros: Micros;
  readonly heldMicros: Micros;
};

export type Hold = {
  readonly id: string;
  readonly ledgerId: LedgerId;
  readonly keyId: string;
  /** Its extensions included. */
  readonly amountMicros: Micros;
  /** The windows and caps in force when the hold was made: its settlement is judged by the same. */
  readonly day: string;
  readonly month: string;
  readonly dailyCapMicros: Micros | null;
  readonly monthlyCapMicros: Micros | null;
  readonly owner: string;
  readonly likelyCost: LikelyCost;
  readonly createdAtMs: number;
};

export type Entry = {
  readonly id: string;
  readonly kind: EntryKind;
  readonly ledgerId: LedgerId;
  /** The key and its windows; null for credits and debits, which are no key's. */
  readonly keyId: string | null;
  readonly day: string | null;
  readonly month: string | null;
  readonly postedDeltaMicros: Micros;
  readonly heldDeltaMicros: Micros;
  readonly lossMicros: Micros;
  /** Whether the account could provoke the loss. */
  readonly isProvoked: boolean;
  /** Available right after this entry. */
  readonly availableMicros: Micros;
  /** Of a `reserve`, else null. */
  readonly dailyCapMicros: Micros | null;
  readonly monthlyCapMicros: Micros | null;
  readonly note: string | null;
  readonly createdAtMs: number;
};

/** A settled request. `id` is its hold's. */
export type Charge = ChargeRecord & {
  readonly id: string;
  readonly ledgerId: LedgerId;
  readonly keyId: string;
  /** What was charged. */
  readonly costMicros: Micros;
  readonly lossMicros: Micros;
  readonly holdMicros: Micros;
  /** Its `KeptPrice`; null: none was kept. */
  readonly priceId: string | null;
  readonly createdAtMs: number;
};

/** The answer of a settled request, for whoever sends it again. */
export type StoredResponse = Omit<StoredAnswer, 'keptForMs'> & {
  /** The hold's. */
  readonly requestId: string;
  readonly keyId: string;
  readonly storedAtMs: number;
  readonly expiresAtMs: number;
  readonly worth: AnswerWorth;
};

/** The answer of a settled request, for identical ones of its account. */
export type CachedResponse = Omit<CachedAnswer, 'keptForMs'> & {
  readonly accountId: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly worth: AnswerWorth;
};

export function availableMicrosOf(ledger: Pick<LedgerState, 'postedMicros' | 'heldMicros'>): Micros {
  return micros(ledger.postedMicros - ledger.heldMicros);
}

export function claimKey(keyId: string, keyDigest: string): string {
  return `${keyId} ${keyDigest}`;
}

export function windowKey(keyId: string, kind: WindowKind, startsOn: string): string {
  return `${keyId} ${kind} ${startsOn}`;
}

type WindowName = Pick<Window, 'keyId' | 'kind' | 'startsOn'>;

/** The window as the book has it, or empty. */
export function windowOf(book: Pick<Book, 'windows'>, keyId: string, kind: WindowKind, startsOn: string): Window {
  return book.windows.get(windowKey(keyId, kind, startsOn)) ?? emptyWindow({ keyId, kind, startsOn });
}

export function emptyWindow(name: WindowName): Window {
  return { ...name, settledMicros: zeroMicros, heldMicros: zeroMicros };
}

/** The two windows that an entry counts in; none for a credit or a debit. */
export function windowsOfEntry(entry: Entry): readonly WindowName[] {
  const { keyId, day, month } = entry;
  if (keyId === null || day === null || month === null) return [];
  return [
    { keyId, kind: 'day', startsOn: day },
    { keyId, kind: 'month', startsOn: month },
  ];
}

/** The id under which an extension of a hold is entered. */
export function extensionId(holdId: string, part: number): string {
  return `${holdId}+${part}`;
}

/** The hold that an entry of the kind `extend` belongs to. */
export function holdIdOfExtension(entryId: string): string {
  return entryId.slice(0, entryId.lastIndexOf('+'));
}

/** A ledger after an entry. Throws RangeError when a balance leaves the whole numbers that a double holds exactly. */
export function postToLedger(ledger: LedgerState, entry: Entry): LedgerState {
  return {
    ...ledger,
    postedMicros: micros(ledger.postedMicros + entry.postedDeltaMicros),
    heldMicros: micros(ledger.heldMicros + entry.heldDeltaMicros),
    lastEntryAtMs: entry.createdAtMs,
  };
}

/** A window after an entry: what leaves the balance is what the key has spent. */
export function postToWindow(window: Window, entry: Entry): Window {
  return {
    ...window,
    settledMicros: micros(window.settledMicros - entry.postedDeltaMicros),
    heldMicros: micros(window.heldMicros + entry.heldDeltaMicros),
  };
}
