// The ledger's decisions, pure: (book, commands, time) → (book, outcomes, rows to append). The stores only load and save.
// The rule above all: after every command, available = posted − held ≥ 0 and, per key and window, settled + held ≤ cap; only an
// operator's debit, or a cap that was lowered, may stand above it, and then nothing that costs runs.
// A ledger's time never goes back: a clock that does would open a day or a month that had ended.
import assert from 'node:assert/strict';
import type { KeptPrice } from '../canonical/price-terms.ts';
import { type AnswerWorth, worthOf } from '../canonical/stored-response.ts';
import { totalInputTokens } from '../canonical/usage.ts';
import { type Micros, micros, zeroMicros } from '../lib/money.ts';
import {
  type Book,
  type CachedResponse,
  type Charge,
  claimKey,
  emptyWindow,
  type Entry,
  extensionId,
  type Hold,
  type LedgerState,
  postToLedger,
  postToWindow,
  type StoredResponse,
  windowKey,
  windowsOfEntry,
} from './book.ts';
import { accountIdOf } from './commands.ts';
import type {
  AuditRow,
  Command,
  Credit,
  Debit,
  Extend,
  LedgerId,
  LikelyCost,
  Outcome,
  Release,
  Reserve,
  Settle,
} from './commands.ts';
import { endsHold, findEntry, findReserved, negative, newEntry, type ReservedHold, supersededNote } from './journal.ts';
import { refuseHold, roomMicros } from './limits.ts';
import { dayOf, monthOf } from './window.ts';

/** The ledger's own command: gives back the hold of an owner that is gone. */
export type Expire = {
  readonly type: 'expire';
  readonly holdId: string;
  /** About when its owner ended, in Unix milliseconds; null: nobody knows. */
  readonly ownerEndedAtMs: number | null;
};

export type Decision = {
  readonly book: Book;
  /** One for each command, in order. */
  readonly outcomes: readonly Outcome[];
  readonly entries: readonly Entry[];
  readonly charges: readonly Charge[];
  /** Those that the charges were made by, as often as they were. */
  readonly prices: readonly KeptPrice[];
  readonly responses: readonly StoredResponse[];
  readonly cached: readonly CachedResponse[];
  readonly auditRows: readonly AuditRow[];
};

/** What one command comes to. Without an entry it changes nothing. */
type Step = {
  readonly outcome: Outcome;
  readonly entry?: Entry;
  readonly opened?: Hold;
  readonly charge?: Charge;
  readonly price?: KeptPrice | null;
  readonly response?: StoredResponse | null;
  readonly cached?: CachedResponse | null;
  readonly auditRow?: AuditRow;
};

const unknownHold: Step = { outcome: { type: 'unknown-hold' } };
const unknownLedger: Step = { outcome: { type: 'unknown-ledger' } };
const alreadyResolved: Step = { outcome: { type: 'already-resolved' } };
const noCost: LikelyCost = { atOnceMicros: zeroMicros, perSecondMicros: zeroMicros };
const released: Outcome = { type: 'released' };
const superseded: Outcome = { type: 'superseded' };

/**
 * Runs commands one after the other, each on the book that the ones before it left. The book given is not changed.
 * Throws, with nothing decided, on what only a bug can send: a fraction, an amount below 0, a hold id used by two keys.
 */
export function runCommands(book: Book, commands: readonly (Command | Expire)[], nowMs: number): Decision {
  const draft = {
    ledgers: new Map(book.ledgers),
    windows: new Map(book.windows),
    holds: new Map(book.holds),
    entries: new Map(book.entries),
    claims: new Map(book.claims),
  };
  const steps = commands.map((command) => {
    const step = decide(draft, command, nowMs);
    applyStep(draft, step);
    return step;
  });
  return {
    book: draft,
    outcomes: steps.map((step) => step.outcome),
    entries: steps.flatMap((step) => step.entry ?? []),
    charges: steps.flatMap((step) => step.charge ?? []),
    prices: steps.flatMap((step) => step.price ?? []),
    responses: steps.flatMap((step) => step.response ?? []),
    cached: steps.flatMap((step) => step.cached ?? []),
    auditRows: steps.flatMap((step) => step.auditRow ?? []),
  };
}

function decide(book: Book, command: Command | Expire, nowMs: number): Step {
  switch (command.type) {
    case 'reserve':
      return reserve(book, command, nowMs);
    case 'extend':
      return extend(book, command, nowMs);
    case 'settle':
      return settle(book, command, nowMs);
    case 'release':
      return release(book, command, nowMs);
    case 'expire':
      return expire(book, command, nowMs);
    default:
      return adjust(book, command, nowMs);
  }
}

/**
 * A refusal leaves no trace: the caller may ask again with the same id and a smaller amount. What was granted once is granted for
 * good: the same id gets the same answer whatever became of the hold since.
 */
function reserve(book: Book, command: Reserve, nowMs: number): Step {
  const amountMicros = amountOf(command.amountMicros);
  const earlier = findEntry(book, command.holdId, 'reserve');
  if (earlier) {
    assert.equal(earlier.ledgerId, command.ledgerId, 'a hold id was used on two ledgers');
    assert.equal(earlier.keyId, command.keyId, 'a hold id was used by two keys');
    return { outcome: { type: 'held', availableMicros: earlier.availableMicros } };
  }
  const ledger = book.ledgers.get(command.ledgerId);
  if (!ledger) return unknownLedger;
  const createdAtMs = timeOf(ledger, nowMs);
  const { dailyCapMicros, monthlyCapMicros, ledgerId, keyId, owner } = command;
  const terms = { ledgerId, keyId, dailyCapMicros, monthlyCapMicros, day: dayOf(createdAtMs), month: monthOf(createdAtMs) };
  const refusal = refuseHold(book, { ledger, terms, amountMicros, nowMs: createdAtMs });
  if (refusal) return { outcome: refusal };
  const entry = newEntry(ledger, { ...terms, id: command.holdId, kind: 'reserve', heldDeltaMicros: amountMicros, createdAtMs });
  return {
    outcome: { type: 'held', availableMicros: entry.availableMicros },
    entry,
    opened: { ...terms, id: command.holdId, amountMicros, owner, likelyCost: command.likelyCost ?? noCost, createdAtMs },
  };
}

/** Judged like a reservation of as much more, by the windows and caps of the hold. */
function extend(book: Book, command: Extend, nowMs: number): Step {
  const amountMicros = amountOf(command.amountMicros);
  const id = extensionId(command.holdId, command.part);
  const earlier = findEntry(book, id, 'extend');
  if (earlier) return { outcome: { type: 'held', availableMicros: earlier.availableMicros } };
  const hold = book.holds.get(command.holdId);
  if (!hold) return findReserved(book, command.holdId) ? alreadyResolved : unknownHold;
  if (!isNamedBy(command, hold)) return unknownHold;
  const ledger = ledgerOf(book, hold.ledgerId);
  const createdAtMs = timeOf(ledger, nowMs);
  const refusal = refuseHold(book, { ledger, terms: hold, amountMicros, nowMs: createdAtMs });
  if (refusal) return { outcome: refusal };
  const entry = newEntry(ledger, { ...placeOf(hold), id, kind: 'extend', heldDeltaMicros: amountMicros, createdAtMs });
  return {
    outcome: { type: 'held', availableMicros: entry.availableMicros },
    entry,
    opened: { ...hold, amountMicros: micros(hold.amountMicros + amountMicros) },
  };
}

/**
 * Charges the cost as far as the hold and the room beyond it go; the rest is the operator's loss. The windows and caps are those
 * of the hold. When the hold has expired its amount is no longer kept, so that the room is all there is. Under an Idempotency-Key that is
 * no longer the request's own it is free, since whoever has the key now is charged.
 */
function settle(book: Book, command: Settle, nowMs: number): Step {
  const costMicros = amountOf(command.costMicros);
  const earlier = findEntry(book, command.holdId, 'settle');
  if (earlier) return { outcome: chargedBy(earlier) };
  const freed = findEntry(book, command.holdId, 'release');
  if (freed) return freed.note === supersededNote ? { outcome: superseded } : alreadyResolved;
  const open = book.holds.get(command.holdId);
  const hold = open ?? findReserved(book, command.holdId);
  if (!hold || !isNamedBy(command, hold)) return unknownHold;
  if (isSuperseded(book, command)) return supersede(book, hold, { command, isOpen: open !== undefined, nowMs });
  const ledger = ledgerOf(book, hold.ledgerId);
  const heldMicros = open ? open.amountMicros : zeroMicros;
  const chargedMicros = micros(Math.min(costMicros, heldMicros + roomMicros(book, ledger, hold)));
  const lossMicros = micros(costMicros - chargedMicros);
  const entry = newEntry(ledger, {
    ...placeOf(hold),
    kind: 'settle',
    postedDeltaMicros: negative(chargedMicros),
    heldDeltaMicros: negative(heldMicros),
    lossMicros,
    // That a hold expired before its end is a fault of ours, and may be why there is no room.
    isProvoked: lossMicros > 0 && open !== undefined,
    createdAtMs: timeOf(ledger, nowMs),
  });
  const charge = chargeOf(command, hold, entry);
  const worth = worthOf(charge);
  const kept = { response: responseOf(command, entry, worth), cached: cachedOf(command, entry, worth) };
  return { outcome: chargedBy(entry), entry, charge, price: command.price, ...kept };
}

/** A process that was paused for longer than its lease may have lost the key to another, which runs the request anew, or has run it. */
function isSuperseded(book: Book, { holdId, keyId, stored }: Settle): boolean {
  return stored !== undefined && book.claims.get(claimKey(keyId, stored.keyDigest)) !== holdId;
}

type Superseded = { readonly command: Settle; readonly isOpen: boolean; readonly nowMs: number };

function supersede(book: Book, hold: ReservedHold, { command, isOpen, nowMs }: Superseded): Step {
  const lossMicros = unbookedLossOf(book, command.holdId, command.record.upstreamCostMicros);
  const entry = giveBack(book, hold, { kind: 'release', isOpen, lossMicros, note: supersededNote, nowMs });
  return { outcome: superseded, entry };
}

/** The request is free. After an expiry there is nothing left to give back, and a settlement comes too late. */
function release(book: Book, command: Release, nowMs: number): Step {
  const lossMicros = unbookedLossOf(book, command.holdId, command.lossMicros);
  if (findEntry(book, command.holdId, 'release')) return { outcome: released };
  if (findEntry(book, command.holdId, 'settle')) return alreadyResolved;
  const open = book.holds.get(command.holdId);
  const hold = open ?? findReserved(book, command.holdId);
  if (!hold) return unknownHold;
  const { isProvoked } = command;
  const entry = giveBack(book, hold, { kind: 'release', isOpen: open !== undefined, lossMicros, isProvoked, nowMs });
  return { outcome: released, entry };
}

/** What is missing of a loss when the hold has expired at its likely one. */
function unbookedLossOf(book: Book, holdId: string, lossMicros: Micros): Micros {
  const bookedMicros = findEntry(book, holdId, 'expire')?.lossMicros ?? zeroMicros;
  return micros(Math.max(amountOf(lossMicros) - bookedMicros, 0));
}

function expire(book: Book, command: Expire, nowMs: number): Step {
  if (findEntry(book, command.holdId, 'expire')) return { outcome: released };
  const hold = book.holds.get(command.holdId);
  if (!hold) return findReserved(book, command.holdId) ? alreadyResolved : unknownHold;
  const lossMicros = likelyCostOf(hold, command.ownerEndedAtMs);
  return { outcome: released, entry: giveBack(book, hold, { kind: 'expire', isOpen: true, lossMicros, nowMs }) };
}

function likelyCostOf({ likelyCost, amountMicros, createdAtMs }: Hold, endedAtMs: number | null): Micros {
  const ranSeconds = Math.max((endedAtMs ?? createdAtMs) - createdAtMs, 0) / 1_000;
  const costMicros = likelyCost.atOnceMicros + Math.round(likelyCost.perSecondMicros * ranSeconds);
  return micros(Math.min(costMicros, amountMicros));
}

type GiveBack = {
  readonly kind: 'release' | 'expire';
  readonly isOpen: boolean;
  readonly lossMicros: Micros;
  readonly isProvoked?: boolean | undefined;
  readonly note?: string | null;
  readonly nowMs: number;
};

function giveBack(book: Book, hold: ReservedHold, given: GiveBack): Entry {
  const { kind, isOpen, lossMicros, isProvoked = false, note = null, nowMs } = given;
  const ledger = ledgerOf(book, hold.ledgerId);
  return newEntry(ledger, {
    ...placeOf(hold),
    kind,
    heldDeltaMicros: isOpen ? negative(hold.amountMicros) : zeroMicros,
    lossMicros,
    isProvoked: isProvoked && lossMicros > 0,
    note,
    createdAtMs: timeOf(ledger, nowMs),
  });
}

function adjust(book: Book, command: Credit | Debit, nowMs: number): Step {
  const { entryId, type, ledgerId, note, auditRow } = command;
  const amountMicros = amountOf(command.amountMicros);
  const earlier = findEntry(book, entryId, type);
  if (earlier) return { outcome: adjustedBy(type, earlier) };
  const ledger = book.ledgers.get(ledgerId);
  if (!ledger) return unknownLedger;
  const postedDeltaMicros = type === 'credit' ? amountMicros : negative(amountMicros);
  const createdAtMs = timeOf(ledger, nowMs);
  const entry = newEntry(ledger, { id: entryId, kind: type, ledgerId, postedDeltaMicros, note, createdAtMs });
  return { outcome: adjustedBy(type, entry), entry, auditRow };
}

/** Balances follow from the entry alone; open holds and token totals from what the step opened, enlarged, closed or charged. */
function applyStep(draft: Draft, { entry, opened, charge }: Step): void {
  if (!entry) return;
  const ledger = postToLedger(ledgerOf(draft, entry.ledgerId), entry);
  draft.ledgers.set(entry.ledgerId, charge ? addTokens(ledger, charge) : ledger);
  for (const window of windowsOfEntry(entry)) {
    const key = windowKey(window.keyId, window.kind, window.startsOn);
    draft.windows.set(key, postToWindow(draft.windows.get(key) ?? emptyWindow(window), entry));
  }
  if (opened) draft.holds.set(opened.id, opened);
  else if (endsHold(entry)) draft.holds.delete(entry.id);
  draft.entries.set(entry.id, [...(draft.entries.get(entry.id) ?? []), entry]);
}

type Draft = { readonly [Part in keyof Book]: Book[Part] extends ReadonlyMap<infer Key, infer Value> ? Map<Key, Value> : never };

function addTokens(ledger: LedgerState, { usage }: Charge): LedgerState {
  return {
    ...ledger,
    inputTokens: ledger.inputTokens + totalInputTokens(usage),
    outputTokens: ledger.outputTokens + usage.outputTokens,
  };
}

function chargeOf(command: Settle, hold: ReservedHold, entry: Entry): Charge {
  const { id, ledgerId, keyId, amountMicros } = hold;
  const costMicros = negative(entry.postedDeltaMicros);
  return {
    ...command.record,
    id,
    ledgerId,
    keyId,
    costMicros,
    lossMicros: entry.lossMicros,
    holdMicros: amountMicros,
    priceId: command.price?.id ?? null,
    createdAtMs: entry.createdAtMs,
  };
}

function responseOf({ holdId, keyId, stored }: Settle, { createdAtMs }: Entry, worth: AnswerWorth): StoredResponse | null {
  if (!stored) return null;
  const { keptForMs, ...answer } = stored;
  return { ...answer, requestId: holdId, keyId, storedAtMs: createdAtMs, expiresAtMs: createdAtMs + keptForMs, worth };
}

/** The account is the one that pays, whatever the caller meant. */
function cachedOf({ cached }: Settle, { ledgerId, createdAtMs }: Entry, worth: AnswerWorth): CachedResponse | null {
  if (!cached) return null;
  const { keptForMs, ...answer } = cached;
  return { ...answer, accountId: accountIdOf(ledgerId), createdAtMs, expiresAtMs: createdAtMs + keptForMs, worth };
}

function chargedBy(entry: Entry): Outcome {
  const { lossMicros, availableMicros } = entry;
  return { type: 'charged', chargedMicros: negative(entry.postedDeltaMicros), lossMicros, availableMicros };
}

function adjustedBy(type: 'credit' | 'debit', { availableMicros }: Entry): Outcome {
  return { type: type === 'credit' ? 'credited' : 'debited', availableMicros };
}

/** Where an entry that ends a hold is booked. */
function placeOf({ id, ledgerId, keyId, day, month }: ReservedHold): Pick<Entry, 'id' | 'ledgerId' | 'keyId' | 'day' | 'month'> {
  return { id, ledgerId, keyId, day, month };
}

/** A hold is named by all three: money never moves on another ledger, or for another key, than it was held for. */
function isNamedBy(command: Extend | Settle, { ledgerId, keyId }: ReservedHold): boolean {
  return command.ledgerId === ledgerId && command.keyId === keyId;
}

/** The ledger's own time. */
export function timeOf(ledger: LedgerState, nowMs: number): number {
  return Math.max(nowMs, ledger.lastEntryAtMs);
}

function ledgerOf(book: Book, id: LedgerId): LedgerState {
  const ledger = book.ledgers.get(id);
  assert.ok(ledger, `the ledger ${id} of a hold is missing`);
  return ledger;
}

function amountOf(value: Micros): Micros {
  assert.ok(micros(value) >= 0, `an amount of money is below 0: ${value}`);
  return value;
}
