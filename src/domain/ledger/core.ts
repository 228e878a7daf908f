// The ledger's decisions as a pure function: (book, commands, time) → (book, outcomes, rows to
// append). The stores only load and save.
//
// Invariant: after every command, available = posted − held ≥ 0; per key and window, settled + held
// ≤ cap; and the sum over a member's keys stays within the budget in the same way. Only an
// operator's debit or a lowered cap or budget can violate it; then only free requests run.
//
// A ledger's time never goes back, because that would reopen a day or month that has ended.
import assert from 'node:assert/strict';
import type { KeptPrice } from '../../terms/price-terms.ts';
import { type AnswerWorth, worthOf } from '../../terms/stored-response.ts';
import { totalInputTokens } from '../../canonical/usage.ts';
import { type Micros, micros, zeroMicros } from '../../lib/money.ts';
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
import {
  accountIdOf,
  type AuditRow,
  type Command,
  type Credit,
  type Debit,
  type Extend,
  type LedgerId,
  type LikelyCost,
  type Outcome,
  type Release,
  type Reserve,
  type Settle,
} from './commands.ts';
import {
  endsHold,
  findEntry,
  findReserved,
  negative,
  newEntry,
  type ReservedHold,
  supersededNote,
} from './journal.ts';
import type { TaggedCharge } from './charge-tags.ts';
import { adjustableMicros, fullestCap, refuseHold, roomMicros } from './limits.ts';
import { dayOf, monthOf } from '../../lib/utc-time.ts';

/** The ledger's own command: releases a hold whose owner has died. */
export type Expire = {
  readonly type: 'expire';
  readonly holdId: string;
  /** Approximate end of its owner, in Unix milliseconds; null when unknown. */
  readonly ownerEndedAtMs: number | null;
};

export type Decision = {
  readonly book: Book;
  /** One per command, in order. */
  readonly outcomes: readonly Outcome[];
  readonly entries: readonly Entry[];
  readonly charges: readonly Charge[];
  /** The charges that have tags. */
  readonly tagged: readonly TaggedCharge[];
  /** Price terms, one per charge; repeats allowed. */
  readonly prices: readonly KeptPrice[];
  readonly responses: readonly StoredResponse[];
  readonly cached: readonly CachedResponse[];
  readonly auditRows: readonly AuditRow[];
};

/** The result of one command. Without an entry nothing changes. */
type Step = {
  readonly outcome: Outcome;
  readonly entry?: Entry;
  readonly opened?: Hold;
  readonly charge?: Charge;
  readonly tags?: readonly string[] | undefined;
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
 * Runs commands in order, each on the book that the previous ones produced. Does not modify the
 * given book. Throws, without deciding anything, on input that only a bug can produce: a fraction,
 * a negative amount, a hold id used by two keys.
 */
export function runCommands(
  book: Book,
  commands: readonly (Command | Expire)[],
  nowMs: number,
): Decision {
  const draft = {
    ledgers: new Map(book.ledgers),
    windows: new Map(book.windows),
    holds: new Map(book.holds),
    entries: new Map(book.entries),
    claims: new Map(book.claims),
    members: new Map(book.members),
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
    tagged: steps.flatMap(({ charge, tags }) => (charge && tags ? { charge, tags } : [])),
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
 * Reserves a hold. A refusal is not recorded: the caller may try again with the same id and a
 * smaller amount. A granted hold is final: the same id gets the same answer but for the fullest cap,
 * even after the hold has ended.
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
  const terms = {
    ledgerId,
    keyId,
    dailyCapMicros,
    monthlyCapMicros,
    day: dayOf(createdAtMs),
    month: monthOf(createdAtMs),
  };
  const { budget, isForLoss = false } = command;
  assert.ok(!isForLoss || amountMicros === 0, 'a hold for a loss reserves nothing');
  const limited = { ledger, terms, budget };
  const refusal = isForLoss
    ? null
    : refuseHold(book, { ...limited, amountMicros, nowMs: createdAtMs });
  if (refusal) return { outcome: refusal };
  const entry = newEntry(ledger, {
    ...terms,
    id: command.holdId,
    kind: 'reserve',
    heldDeltaMicros: amountMicros,
    createdAtMs,
  });
  const cap = isForLoss ? undefined : fullestCap(book, limited, createdAtMs);
  return {
    outcome: {
      type: 'held',
      availableMicros: entry.availableMicros,
      ...(cap && { fullestCap: cap }),
    },
    entry,
    opened: {
      ...terms,
      id: command.holdId,
      amountMicros,
      owner,
      likelyCost: command.likelyCost ?? noCost,
      createdAtMs,
    },
  };
}

/**
 * Extends a hold. Decided like a reservation of the additional amount, with the hold's windows,
 * caps and budget.
 */
function extend(book: Book, command: Extend, nowMs: number): Step {
  const amountMicros = amountOf(command.amountMicros);
  const id = extensionId(command.holdId, command.part);
  const earlier = findEntry(book, id, 'extend');
  if (earlier) return { outcome: { type: 'held', availableMicros: earlier.availableMicros } };
  const hold = book.holds.get(command.holdId);
  if (!hold) return findReserved(book, command.holdId) ? alreadyResolved : unknownHold;
  if (!matchesHold(command, hold)) return unknownHold;
  const ledger = ledgerOf(book, hold.ledgerId);
  const createdAtMs = timeOf(ledger, nowMs);
  const refusal = refuseHold(book, {
    ledger,
    terms: hold,
    budget: command.budget,
    amountMicros,
    nowMs: createdAtMs,
  });
  if (refusal) return { outcome: refusal };
  const entry = newEntry(ledger, {
    ...entryFieldsOf(hold),
    id,
    kind: 'extend',
    heldDeltaMicros: amountMicros,
    createdAtMs,
  });
  return {
    outcome: { type: 'held', availableMicros: entry.availableMicros },
    entry,
    opened: { ...hold, amountMicros: micros(hold.amountMicros + amountMicros) },
  };
}

/**
 * Charges the cost up to the hold and the remaining room; the rest is the operator's loss. Uses the
 * hold's windows, caps and budget. After an expiry the hold's amount is no longer reserved, so only the
 * remaining room counts. If the request has lost its Idempotency-Key, it is free, because the
 * request that holds the key now is charged.
 */
function settle(book: Book, command: Settle, nowMs: number): Step {
  const costMicros = amountOf(command.costMicros);
  const earlier = findEntry(book, command.holdId, 'settle');
  if (earlier) return { outcome: chargedBy(earlier) };
  const freed = findEntry(book, command.holdId, 'release');
  if (freed) return freed.note === supersededNote ? { outcome: superseded } : alreadyResolved;
  const open = book.holds.get(command.holdId);
  const hold = open ?? findReserved(book, command.holdId);
  if (!hold || !matchesHold(command, hold)) return unknownHold;
  if (isSuperseded(book, command))
    return supersede(book, hold, { command, isOpen: open !== undefined, nowMs });
  const ledger = ledgerOf(book, hold.ledgerId);
  const heldMicros = open ? open.amountMicros : zeroMicros;
  const room = roomMicros(book, { ledger, terms: hold, budget: command.budget });
  const chargedMicros = micros(Math.min(costMicros, heldMicros + room));
  const lossMicros = micros(costMicros - chargedMicros);
  const entry = newEntry(ledger, {
    ...entryFieldsOf(hold),
    kind: 'settle',
    postedDeltaMicros: negative(chargedMicros),
    heldDeltaMicros: negative(heldMicros),
    lossMicros,
    // An expiry before the end of the request is our fault, and may be the reason for the missing
    // room.
    isCausedByAccount: lossMicros > 0 && open !== undefined,
    createdAtMs: timeOf(ledger, nowMs),
  });
  const charge = chargeOf(command, hold, entry);
  const worth = worthOf(charge);
  const kept = {
    response: responseOf(command, entry, worth),
    cached: cachedOf(command, entry, worth),
  };
  const { price, tags } = command;
  return { outcome: chargedBy(entry), entry, charge, tags, price, ...kept };
}

/**
 * Returns true when another request has taken the key over. A process that was paused for longer
 * than its lease may have lost the key to another process, which runs the request again.
 */
function isSuperseded(book: Book, { holdId, keyId, stored }: Settle): boolean {
  return stored !== undefined && book.claims.get(claimKey(keyId, stored.keyDigest)) !== holdId;
}

type Superseded = { readonly command: Settle; readonly isOpen: boolean; readonly nowMs: number };

function supersede(book: Book, hold: ReservedHold, { command, isOpen, nowMs }: Superseded): Step {
  const lossMicros = amountOf(command.record.upstreamCostMicros);
  const entry = releaseHold(book, hold, {
    kind: 'release',
    isOpen,
    lossMicros,
    note: supersededNote,
    nowMs,
  });
  return { outcome: superseded, entry };
}

/**
 * Releases a hold: the request is free. After an expiry nothing is held any more, and a settlement
 * after the release is refused.
 */
function release(book: Book, command: Release, nowMs: number): Step {
  const lossMicros = amountOf(command.lossMicros);
  if (findEntry(book, command.holdId, 'release')) return { outcome: released };
  if (findEntry(book, command.holdId, 'settle')) return alreadyResolved;
  const open = book.holds.get(command.holdId);
  const hold = open ?? findReserved(book, command.holdId);
  if (!hold) return unknownHold;
  const { isCausedByAccount } = command;
  const entry = releaseHold(book, hold, {
    kind: 'release',
    isOpen: open !== undefined,
    lossMicros,
    isCausedByAccount,
    nowMs,
  });
  return { outcome: released, entry };
}

/**
 * Books the likely cost as a loss. It counts until the hold's owner settles or releases after all
 * (`report.ts`, `audit.ts`).
 */
function expire(book: Book, command: Expire, nowMs: number): Step {
  if (findEntry(book, command.holdId, 'expire')) return { outcome: released };
  const hold = book.holds.get(command.holdId);
  if (!hold) return findReserved(book, command.holdId) ? alreadyResolved : unknownHold;
  const lossMicros = likelyCostOf(hold, command.ownerEndedAtMs);
  return {
    outcome: released,
    entry: releaseHold(book, hold, { kind: 'expire', isOpen: true, lossMicros, nowMs }),
  };
}

function likelyCostOf(
  { likelyCost, amountMicros, createdAtMs }: Hold,
  endedAtMs: number | null,
): Micros {
  const ranSeconds = Math.max((endedAtMs ?? createdAtMs) - createdAtMs, 0) / 1_000;
  const costMicros = likelyCost.atOnceMicros + Math.round(likelyCost.perSecondMicros * ranSeconds);
  return micros(Math.min(costMicros, amountMicros));
}

type HoldRelease = {
  readonly kind: 'release' | 'expire';
  readonly isOpen: boolean;
  readonly lossMicros: Micros;
  readonly isCausedByAccount?: boolean | undefined;
  readonly note?: string | null;
  readonly nowMs: number;
};

function releaseHold(book: Book, hold: ReservedHold, options: HoldRelease): Entry {
  const { kind, isOpen, lossMicros, isCausedByAccount = false, note = null, nowMs } = options;
  const ledger = ledgerOf(book, hold.ledgerId);
  return newEntry(ledger, {
    ...entryFieldsOf(hold),
    kind,
    heldDeltaMicros: isOpen ? negative(hold.amountMicros) : zeroMicros,
    lossMicros,
    isCausedByAccount: isCausedByAccount && lossMicros > 0,
    note,
    createdAtMs: timeOf(ledger, nowMs),
  });
}

function adjust(book: Book, command: Credit | Debit, nowMs: number): Step {
  const { entryId, type, ledgerId, note, auditRow } = command;
  const amountMicros = amountOf(command.amountMicros);
  // One id is one adjustment, so a debit under the id of a credit books nothing.
  const earlier = findEntry(book, entryId, 'credit') ?? findEntry(book, entryId, 'debit');
  if (earlier) return { outcome: adjustedBy(earlier) };
  const ledger = book.ledgers.get(ledgerId);
  if (!ledger) return unknownLedger;
  const leftMicros = adjustableMicros(ledger, type);
  if (amountMicros > leftMicros) return { outcome: { type: 'balance-too-large', leftMicros } };
  const postedDeltaMicros = type === 'credit' ? amountMicros : negative(amountMicros);
  const createdAtMs = timeOf(ledger, nowMs);
  const entry = newEntry(ledger, {
    id: entryId,
    kind: type,
    ledgerId,
    postedDeltaMicros,
    note,
    createdAtMs,
  });
  return { outcome: adjustedBy(entry), entry, auditRow };
}

/**
 * Applies a step. Balances follow from the entry alone. Open holds and token totals follow from
 * what the step opened, extended, closed or charged.
 */
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

type Draft = {
  readonly [Part in keyof Book]: Book[Part] extends ReadonlyMap<infer Key, infer Value>
    ? Map<Key, Value>
    : never;
};

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

function responseOf(
  { holdId, keyId, stored }: Settle,
  { createdAtMs }: Entry,
  worth: AnswerWorth,
): StoredResponse | null {
  if (!stored) return null;
  const { keptForMs, ...answer } = stored;
  return {
    ...answer,
    state: 'stored',
    requestId: holdId,
    keyId,
    storedAtMs: createdAtMs,
    expiresAtMs: createdAtMs + keptForMs,
    worth,
  };
}

/** Returns the answer to cache, under the paying account whatever the caller intended. */
function cachedOf(
  { cached }: Settle,
  { ledgerId, createdAtMs }: Entry,
  worth: AnswerWorth,
): CachedResponse | null {
  if (!cached) return null;
  const { keptForMs, ...answer } = cached;
  return {
    ...answer,
    accountId: accountIdOf(ledgerId),
    createdAtMs,
    expiresAtMs: createdAtMs + keptForMs,
    worth,
  };
}

function chargedBy(entry: Entry): Outcome {
  const { lossMicros, availableMicros } = entry;
  return {
    type: 'charged',
    chargedMicros: negative(entry.postedDeltaMicros),
    lossMicros,
    availableMicros,
  };
}

function adjustedBy({ kind, availableMicros }: Entry): Outcome {
  return { type: kind === 'credit' ? 'credited' : 'debited', availableMicros };
}

/** The fields that an entry shares with its hold. */
function entryFieldsOf({
  id,
  ledgerId,
  keyId,
  day,
  month,
}: ReservedHold): Pick<Entry, 'id' | 'ledgerId' | 'keyId' | 'day' | 'month'> {
  return { id, ledgerId, keyId, day, month };
}

/** Compares ledger and key, so that money never moves on another ledger or key than the hold's. */
function matchesHold(command: Extend | Settle, { ledgerId, keyId }: ReservedHold): boolean {
  return command.ledgerId === ledgerId && command.keyId === keyId;
}

/** Returns the ledger's time, which never goes back. */
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
