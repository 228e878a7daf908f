// The state that the ledger decides on, as values. A book contains what a batch of commands
// touches, loaded by a store. Only entries change balances, and this file is the only place that
// applies them.
import type { Selectable } from 'kysely';
import type { SealedCached, SealedResponse } from '../../terms/sealed-answer.ts';
import type { AnswerWorth } from '../../terms/stored-response.ts';
import type { Tables } from '../../db/schema.ts';
import { type Micros, micros, zeroMicros } from '../../lib/money.ts';
import type { CamelCase } from '../../lib/snake-case.ts';
import type { ChargeRecord, LedgerId, LikelyCost } from './commands.ts';

export type Book = {
  /** A ledger that is missing here does not exist. */
  readonly ledgers: ReadonlyMap<LedgerId, LedgerState>;
  /** Indexed by `windowKey`; a missing window has nothing settled or held. */
  readonly windows: ReadonlyMap<string, Window>;
  readonly holds: ReadonlyMap<string, Hold>;
  /** Earlier entries by id, for recognising a repeated command. */
  readonly entries: ReadonlyMap<string, readonly Entry[]>;
  /**
   * Indexed by `claimKey`: the request that currently holds an Idempotency-Key. Loaded for
   * settlements that store an answer.
   */
  readonly claims: ReadonlyMap<string, string>;
  /**
   * Indexed by `memberKey`: all keys of each member whose budget the batch names. Their windows are
   * loaded too, because what a member has spent is the sum over these keys.
   */
  readonly members: ReadonlyMap<string, readonly string[]>;
};

export type LedgerState = CamelCase<LedgerSums> & { readonly isFrozen: boolean };
type LedgerSums = Omit<Selectable<Tables['ledgers']>, 'id' | 'account_id' | 'mode'>;

export type Window = CamelCase<Tables['key_windows']>;
export type WindowKind = Window['kind'];

type LikelyColumns = 'cost_at_once_micros' | 'cost_per_second_micros';
/** Its amount includes extensions. */
export type Hold = CamelCase<Omit<Tables['holds'], 'ledger_id' | LikelyColumns>> & {
  readonly ledgerId: LedgerId;
  readonly likelyCost: LikelyCost;
};

type EntryRow = Selectable<Tables['entries']>;
/** Credits and debits have no key. The columns of caps are null except on `reserve`. */
export type Entry = CamelCase<Omit<EntryRow, 'seq' | 'ledger_id' | 'provoked'>> & {
  readonly ledgerId: LedgerId;
  /** True when the account could provoke the loss. */
  readonly isCausedByAccount: boolean;
};

/** A settled request. `id` is its hold's id. */
export type Charge = ChargeRecord & {
  readonly id: string;
  readonly ledgerId: LedgerId;
  readonly keyId: string;
  /** The amount charged. */
  readonly costMicros: Micros;
  readonly lossMicros: Micros;
  readonly holdMicros: Micros;
  /** The id of its `KeptPrice`; null when none was stored. */
  readonly priceId: string | null;
  readonly createdAtMs: number;
};

/** A settled request's answer, replayed when the request is sent again. */
export type StoredResponse = Omit<SealedResponse, 'keptForMs'> & {
  readonly state: 'stored';
  /** The hold's id. */
  readonly requestId: string;
  readonly keyId: string;
  readonly storedAtMs: number;
  readonly expiresAtMs: number;
  readonly worth: AnswerWorth;
};

/** A settled request's answer, for identical requests of the account. */
export type CachedResponse = Omit<SealedCached, 'keptForMs'> & {
  readonly accountId: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly worth: AnswerWorth;
};

export function availableMicrosOf(
  ledger: Pick<LedgerState, 'postedMicros' | 'heldMicros'>,
): Micros {
  return micros(ledger.postedMicros - ledger.heldMicros);
}

export function claimKey(keyId: string, keyDigest: string): string {
  return `${keyId} ${keyDigest}`;
}

export function memberKey(ledgerId: LedgerId, memberId: string): string {
  return `${ledgerId} ${memberId}`;
}

export function windowKey(keyId: string, kind: WindowKind, startsOn: string): string {
  return `${keyId} ${kind} ${startsOn}`;
}

type WindowName = Pick<Window, 'keyId' | 'kind' | 'startsOn'>;

/** Returns the window from the book, or an empty one. */
export function windowOf(
  book: Pick<Book, 'windows'>,
  keyId: string,
  kind: WindowKind,
  startsOn: string,
): Window {
  return (
    book.windows.get(windowKey(keyId, kind, startsOn)) ?? emptyWindow({ keyId, kind, startsOn })
  );
}

export function emptyWindow(name: WindowName): Window {
  return { ...name, settledMicros: zeroMicros, heldMicros: zeroMicros };
}

/** Returns the two windows that an entry counts in; none for a credit or a debit. */
export function windowsOfEntry(entry: Entry): readonly WindowName[] {
  const { keyId, day, month } = entry;
  if (keyId === null || day === null || month === null) return [];
  return [
    { keyId, kind: 'day', startsOn: day },
    { keyId, kind: 'month', startsOn: month },
  ];
}

export function extensionId(holdId: string, part: number): string {
  return `${holdId}+${part}`;
}

export function holdIdOfExtension(entryId: string): string {
  return entryId.slice(0, entryId.lastIndexOf('+'));
}

/** Returns a ledger after an entry. Throws RangeError when a balance exceeds the safe integers. */
export function postToLedger(ledger: LedgerState, entry: Entry): LedgerState {
  return {
    ...ledger,
    postedMicros: micros(ledger.postedMicros + entry.postedDeltaMicros),
    heldMicros: micros(ledger.heldMicros + entry.heldDeltaMicros),
    lastEntryAtMs: entry.createdAtMs,
  };
}

/** Returns a window after an entry: what leaves the balance is the key's spending. */
export function postToWindow(window: Window, entry: Entry): Window {
  return {
    ...window,
    settledMicros: micros(window.settledMicros - entry.postedDeltaMicros),
    heldMicros: micros(window.heldMicros + entry.heldDeltaMicros),
  };
}
