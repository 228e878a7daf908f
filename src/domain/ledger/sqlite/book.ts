// Loads what a batch of commands touches.
import {
  type Book,
  claimKey,
  type Entry,
  extensionId,
  type Hold,
  type LedgerState,
  memberKey,
  type Window,
  windowKey,
} from '../book.ts';
import type { Command, LedgerId, Reserve } from '../commands.ts';
import { type Expire, timeOf } from '../core.ts';
import { findReserved } from '../journal.ts';
import type { LoadStatements } from './statements.ts';
import { dayOf, monthOf } from '../../../lib/utc-time.ts';

type Booking = Pick<Hold, 'ledgerId' | 'keyId' | 'day' | 'month'>;

/** Loads everything that `runCommands` may need, inside the transaction that saves its decision. */
export function loadBook(
  statements: LoadStatements,
  commands: readonly (Command | Expire)[],
  nowMs: number,
): Book {
  const book = {
    ledgers: new Map<LedgerId, LedgerState>(),
    windows: new Map<string, Window>(),
    holds: new Map<string, Hold>(),
    entries: new Map<string, readonly Entry[]>(),
    claims: new Map<string, string>(),
    members: new Map<string, readonly string[]>(),
  };
  for (const command of commands) {
    if (command.type === 'reserve') {
      loadEntries(command.holdId);
      const windows = currentWindows(command.ledgerId);
      loadLedgerAndWindows({ ...command, ...windows });
      loadMember(command, windows);
    } else if (command.type === 'credit' || command.type === 'debit') {
      loadEntries(command.entryId);
      loadLedger(command.ledgerId);
    } else {
      const hold = loadHold(command.holdId);
      if (hold) loadLedgerAndWindows(hold);
      // A hold that opens in this batch is in the current windows.
      if (command.type === 'extend' || command.type === 'settle')
        loadMember(command, hold ?? currentWindows(command.ledgerId));
      // Commands on an ended hold are decided by its reservation, even if it ended in the same
      // batch.
      if (command.type === 'expire' || command.type === 'extend') loadEntries(command.holdId);
      if (command.type === 'extend') loadEntries(extensionId(command.holdId, command.part));
      if (command.type === 'settle' && command.stored)
        loadClaim(command.keyId, command.stored.keyDigest);
    }
  }
  return book;

  function currentWindows(ledgerId: LedgerId): Pick<Booking, 'day' | 'month'> {
    const ledger = loadLedger(ledgerId);
    const timeMs = ledger ? timeOf(ledger, nowMs) : nowMs;
    return { day: dayOf(timeMs), month: monthOf(timeMs) };
  }

  /** An open hold is sufficient; for any other, the journal is loaded. */
  function loadHold(id: string): Booking | null {
    const open = statements.loadHold(id);
    if (open) book.holds.set(id, open);
    else loadEntries(id);
    return open ?? findReserved(book, id);
  }

  function loadLedgerAndWindows(booking: Booking): void {
    loadLedger(booking.ledgerId);
    loadWindow(booking.keyId, 'day', booking.day);
    loadWindow(booking.keyId, 'month', booking.month);
  }

  function loadLedger(id: LedgerId): LedgerState | null {
    const ledger = book.ledgers.get(id) ?? statements.loadLedger(id);
    if (ledger) book.ledgers.set(id, ledger);
    return ledger;
  }

  function loadWindow(keyId: string, kind: Window['kind'], startsOn: string): void {
    const key = windowKey(keyId, kind, startsOn);
    if (book.windows.has(key)) return;
    const window = statements.loadWindow(keyId, kind, startsOn);
    if (window) book.windows.set(key, window);
  }

  /** Loads what all keys of the member have spent and hold in the windows. */
  function loadMember(
    { ledgerId, budget }: Pick<Reserve, 'ledgerId' | 'budget'>,
    { day, month }: Pick<Booking, 'day' | 'month'>,
  ): void {
    if (!budget) return;
    const name = memberKey(ledgerId, budget.memberId);
    const keyIds = book.members.get(name) ?? statements.loadOwnedKeys(ledgerId, budget.memberId);
    book.members.set(name, keyIds);
    for (const keyId of keyIds) {
      loadWindow(keyId, 'day', day);
      loadWindow(keyId, 'month', month);
    }
  }

  function loadClaim(keyId: string, keyDigest: string): void {
    const requestId = statements.loadClaim(keyId, keyDigest);
    if (requestId !== null) book.claims.set(claimKey(keyId, keyDigest), requestId);
  }

  function loadEntries(id: string): void {
    if (book.entries.has(id)) return;
    const entries = statements.loadEntries(id);
    if (entries.length > 0) book.entries.set(id, entries);
  }
}
