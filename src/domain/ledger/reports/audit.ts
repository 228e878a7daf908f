// Checks every entry against the ledger's rules and the sums of earlier entries. Written from the
// rules, independently of the core. A balance is negative only by a debit, and a window above its
// cap only after the cap was lowered. Each hold ends at most once, and each end is charged as
// booked.
import { costOf, readKeptTerms } from '../../../terms/price-terms.ts';
import type { Micros } from '../../../lib/money.ts';
import { holdIdOfExtension } from '../book.ts';
import { addToDay, type ChargeDayRow } from '../charge-days.ts';
import { addToLossDay, type LossDayRow } from '../loss-days.ts';
import { chargesTable, type ChargeRow, entriesTable, type EntryRow } from '../columns.ts';
import { dayOf, monthOf } from '../../../lib/utc-time.ts';

/**
 * The first row that disagrees: its value (`found`) and the value that follows from the journal
 * (`expected`).
 */
export type Problem = {
  readonly table:
    | 'entries'
    | 'charges'
    | 'ledgers'
    | 'key_windows'
    | 'charge_days'
    | 'loss_days'
    | 'charge_tags'
    | 'tag_days'
    | 'holds'
    | 'sealed_days'
    | 'payment_bookings';
  readonly id: string;
  readonly column: string;
  readonly expected: unknown;
  readonly found: unknown;
};

/**
 * Sums of the journal so far, named like the columns that store them. Memory grows with open holds,
 * not with entries.
 */
export type Audit = {
  readonly ledgers: Map<string, LedgerSums>;
  /** Indexed by `windowId`. */
  readonly windows: Map<string, WindowSums>;
  /** Indexed by `chargeDaysTable.idOf`. */
  readonly chargeDays: Map<string, ChargeDayRow>;
  /** Indexed by `lossDaysTable.idOf`. */
  readonly lossDays: Map<string, LossDayRow>;
  /**
   * The reserve entries of open holds, and of expired holds whose owner has not settled or released
   * since. `held_delta_micros` includes the extensions, and `loss_micros` is the loss booked by the
   * expiry.
   */
  readonly open: Map<string, EntryRow>;
  readonly expired: Map<string, EntryRow>;
  entries: number;
  charges: number;
  /**
   * The operator's losses in microdollars: cost that exceeded balance and caps, and the cost of
   * failed requests.
   */
  uncollected: number;
  failed: number;
};

type LedgerSums = {
  posted_micros: number;
  held_micros: number;
  input_tokens: number;
  output_tokens: number;
  last_entry_at_ms: number;
};
type WindowSums = { settled_micros: number; held_micros: number };

export function newAudit(ledgerIds: readonly string[]): Audit {
  const zero = {
    posted_micros: 0,
    held_micros: 0,
    input_tokens: 0,
    output_tokens: 0,
    last_entry_at_ms: 0,
  };
  const ledgers = new Map(ledgerIds.map((id) => [id, { ...zero }]));
  return {
    ledgers,
    windows: new Map(),
    chargeDays: new Map(),
    lossDays: new Map(),
    open: new Map(),
    expired: new Map(),
    entries: 0,
    charges: 0,
    uncollected: 0,
    failed: 0,
  };
}

export function windowId(
  keyId: string | null,
  kind: 'day' | 'month',
  startsOn: string | null,
): string {
  return `${keyId} ${kind} ${startsOn}`;
}

/**
 * Adds an entry and, for a settlement, its charge, or that it was removed. Returns the first
 * problem, or null.
 */
export function auditEntry(
  audit: Audit,
  entry: EntryRow,
  charge: PricedCharge | RemovedCharge | null,
): Problem | null {
  audit.entries += 1;
  const { kind } = entry;
  addToLossDay(audit.lossDays, entriesTable.recordOf(entry));
  if (kind === 'settle') audit.uncollected += entry.loss_micros;
  else audit.failed += entry.loss_micros;
  if (kind === 'credit' || kind === 'debit')
    return auditAdjustment(entry) ?? auditBalance(audit, entry);
  const reserve = findReserve(audit, entry);
  if (!reserve) return wrong(entry, 'kind', 'a hold that had not ended', kind);
  const problem = auditKind(audit, entry, reserve);
  trackHold(audit, entry, reserve);
  return (
    problem ??
    auditBalance(audit, entry) ??
    auditWindow(audit, entry, reserve, 'day') ??
    auditWindow(audit, entry, reserve, 'month') ??
    (kind === 'settle' ? auditCharge(audit, { entry, reserve, charge }) : null)
  );
}

/**
 * Returns the reserve entry that an entry continues. Only an open hold can be extended; an expired
 * one can still be ended by its owner.
 */
function findReserve(audit: Audit, entry: EntryRow): EntryRow | null {
  if (entry.kind === 'reserve') return entry;
  if (entry.kind === 'extend') return audit.open.get(holdIdOfExtension(entry.id)) ?? null;
  return audit.open.get(entry.id) ?? audit.expired.get(entry.id) ?? null;
}

function auditKind(audit: Audit, entry: EntryRow, reserve: EntryRow): Problem | null {
  if (entry.kind === 'reserve') return auditReserve(entry);
  return entry.kind === 'extend' ? auditExtend(entry, reserve) : auditEnd(audit, entry, reserve);
}

/** The fields of an entry that changes neither the balance nor the losses. */
const unposted = { posted_delta_micros: 0, loss_micros: 0, provoked: 0 };

function auditAdjustment(entry: EntryRow): Problem | null {
  const free = { held_delta_micros: 0, loss_micros: 0, provoked: 0 };
  return (
    wrongSign(entry, 'posted_delta_micros', entry.kind === 'credit' ? 1 : -1) ??
    compareEntry(entry, { ...free, key_id: null, day: null, month: null })
  );
}

function auditReserve(entry: EntryRow): Problem | null {
  const { created_at_ms: timeMs } = entry;
  return (
    wrongSign(entry, 'held_delta_micros', 1) ??
    (entry.key_id === null ? wrong(entry, 'key_id', 'a key', null) : null) ??
    compareEntry(entry, { ...unposted, day: dayOf(timeMs), month: monthOf(timeMs) })
  );
}

/** Checks an extension: it is booked in the ledger and windows of its hold, whatever the day. */
function auditExtend(entry: EntryRow, reserve: EntryRow): Problem | null {
  return (
    wrongSign(entry, 'held_delta_micros', 1) ??
    compareEntry(entry, { ...unposted, ...placeOf(reserve) })
  );
}

/** The ledger and key of a hold. Only its reservation has its windows. */
function placeOf({ ledger_id, key_id }: EntryRow): Partial<EntryRow> {
  return { ledger_id, key_id, day: null, month: null };
}

/**
 * Checks an end: it releases the amount still held, in the ledger and windows of the hold. Only a
 * settlement charges.
 */
function auditEnd(audit: Audit, entry: EntryRow, reserve: EntryRow): Problem | null {
  const isOpen = audit.open.has(entry.id);
  if (entry.kind === 'expire' && !isOpen)
    return wrong(entry, 'kind', 'a hold that had not expired', 'expire');
  const charging = wrongSign(entry, 'posted_delta_micros', -1);
  if (charging) return charging;
  if (entry.provoked === 1 && !mayBeCausedByAccount(entry, isOpen))
    return wrong(entry, 'provoked', 0, 1);
  const held_delta_micros = isOpen ? 0 - reserve.held_delta_micros : 0;
  const free = entry.kind === 'settle' ? {} : { posted_delta_micros: 0 };
  return compareEntry(entry, { ...placeOf(reserve), held_delta_micros, ...free });
}

/** Returns true when a loss may be marked as provoked. The account does not cause the expiry of a hold. */
function mayBeCausedByAccount({ kind, loss_micros }: EntryRow, isOpen: boolean): boolean {
  return loss_micros > 0 && (kind === 'release' || (kind === 'settle' && isOpen));
}

function trackHold(audit: Audit, entry: EntryRow, reserve: EntryRow): void {
  if (entry.kind === 'reserve') {
    audit.open.set(entry.id, reserve);
    return;
  }
  if (entry.kind === 'extend') {
    audit.open.set(reserve.id, {
      ...reserve,
      held_delta_micros: (reserve.held_delta_micros + entry.held_delta_micros) as Micros,
    });
    return;
  }
  audit.open.delete(entry.id);
  if (entry.kind === 'expire') {
    audit.expired.set(entry.id, { ...reserve, loss_micros: entry.loss_micros });
    return;
  }
  // The owner's own report replaces the estimate of the expiry.
  audit.failed -= audit.expired.get(entry.id)?.loss_micros ?? 0;
  audit.expired.delete(entry.id);
}

function auditBalance(audit: Audit, entry: EntryRow): Problem | null {
  const ledger = audit.ledgers.get(entry.ledger_id);
  if (!ledger) return wrong(entry, 'ledger_id', 'a ledger that exists', entry.ledger_id);
  if (entry.created_at_ms < ledger.last_entry_at_ms)
    return wrong(
      entry,
      'created_at_ms',
      `${ledger.last_entry_at_ms} or later, the time of the entry before`,
      entry.created_at_ms,
    );
  ledger.last_entry_at_ms = entry.created_at_ms;
  const before = ledger.posted_micros - ledger.held_micros;
  ledger.posted_micros += entry.posted_delta_micros;
  ledger.held_micros += entry.held_delta_micros;
  const after = ledger.posted_micros - ledger.held_micros;
  const isOverdraft = after < 0 && after < before && entry.kind !== 'debit';
  if (isOverdraft) return wrong(entry, 'available_micros', '0 or more', after);
  return compareEntry(entry, { available_micros: after });
}

/**
 * A cap may have been lowered below what was spent and held; but no entry may raise the sum above
 * it.
 */
function auditWindow(
  audit: Audit,
  entry: EntryRow,
  reserve: EntryRow,
  kind: 'day' | 'month',
): Problem | null {
  const id = windowId(entry.key_id, kind, reserve[kind]);
  const capMicros = kind === 'day' ? reserve.daily_cap_micros : reserve.monthly_cap_micros;
  const window = audit.windows.get(id) ?? { settled_micros: 0, held_micros: 0 };
  audit.windows.set(id, window);
  const before = window.settled_micros + window.held_micros;
  window.settled_micros -= entry.posted_delta_micros;
  window.held_micros += entry.held_delta_micros;
  const after = window.settled_micros + window.held_micros;
  if (capMicros === null || after <= capMicros || after <= before) return null;
  const column = entry.kind === 'settle' ? 'posted_delta_micros' : 'held_delta_micros';
  return wrong(entry, column, `at most the cap of ${capMicros} in ${id}`, after);
}

/** A charge with its price terms; null when none were stored. */
export type PricedCharge = ChargeRow & { readonly terms: string | null };

type Settlement = {
  readonly entry: EntryRow;
  readonly reserve: EntryRow;
  readonly charge: PricedCharge | RemovedCharge | null;
};

/** A charge of a day being removed: its sums are known otherwise. `left` is null when it is gone. */
export type RemovedCharge = { readonly left: PricedCharge | null };

function auditCharge(audit: Audit, settlement: Settlement): Problem | null {
  const { entry, charge } = settlement;
  if (!charge)
    return {
      table: 'charges',
      id: entry.id,
      column: 'id',
      expected: 'a charge for the settle entry',
      found: null,
    };
  audit.charges += 1;
  if ('left' in charge) return charge.left && compareCharge(settlement, charge.left);
  addTokens(audit.ledgers.get(entry.ledger_id)!, charge);
  addToDay(audit.chargeDays, chargesTable.recordOf(charge));
  return compareCharge(settlement, charge);
}

function compareCharge(
  { entry, reserve }: Omit<Settlement, 'charge'>,
  charge: PricedCharge,
): Problem | null {
  const { ledger_id, key_id, loss_micros, created_at_ms } = entry;
  const cost_micros = 0 - entry.posted_delta_micros;
  const expected = {
    ledger_id,
    key_id,
    cost_micros,
    loss_micros,
    hold_micros: reserve.held_delta_micros,
    created_at_ms,
  };
  return (
    firstDifference({ table: 'charges', id: charge.id, expected, found: charge }) ??
    recompute(charge)
  );
}

/**
 * Recomputes a charge: tokens, searches and images at the stored price must equal the charge plus
 * the uncollected part.
 */
function recompute(charge: PricedCharge): Problem | null {
  if (charge.terms === null) return null;
  const { list, upstream } = readKeptTerms(charge.terms);
  const { usage, webSearches: searches, images } = chargesTable.recordOf(charge);
  const expected = {
    cost_and_loss_micros: costOf(list, { usage, searches, images }),
    upstream_cost_micros: costOf(upstream, { usage, searches, images }),
  };
  const found = { ...charge, cost_and_loss_micros: charge.cost_micros + charge.loss_micros };
  return firstDifference({ table: 'charges', id: charge.id, expected, found });
}

function addTokens(ledger: LedgerSums, charge: ChargeRow): void {
  ledger.input_tokens +=
    charge.input_tokens +
    charge.cache_read_tokens +
    charge.cache_write_tokens +
    charge.cache_write_1h_tokens;
  ledger.output_tokens += charge.output_tokens;
}

function compareEntry(
  entry: EntryRow,
  expected: Partial<Record<keyof EntryRow, unknown>>,
): Problem | null {
  return firstDifference({ table: 'entries', id: entryName(entry), expected, found: entry });
}

type Comparison = Pick<Problem, 'table' | 'id'> & {
  readonly expected: object;
  readonly found: object;
};

/** Returns the first expected column in which a row differs, or null. */
export function firstDifference({ table, id, expected, found }: Comparison): Problem | null {
  for (const [column, value] of Object.entries(expected)) {
    const actual = (found as Readonly<Record<string, unknown>>)[column];
    if (actual !== value) return { table, id, column, expected: value, found: actual };
  }
  return null;
}

function wrong(
  entry: EntryRow,
  column: keyof EntryRow,
  expected: unknown,
  found: unknown,
): Problem {
  return { table: 'entries', id: entryName(entry), column, expected, found };
}

function wrongSign(
  entry: EntryRow,
  column: 'posted_delta_micros' | 'held_delta_micros',
  sign: 1 | -1,
): Problem | null {
  const found = entry[column];
  return found * sign < 0
    ? wrong(entry, column, sign > 0 ? '0 or more' : '0 or less', found)
    : null;
}

/** Includes the kind, because a reserve and its settle share an id. */
function entryName(entry: EntryRow): string {
  return `${entry.seq} (${entry.kind} ${entry.id})`;
}
