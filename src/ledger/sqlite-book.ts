// Loads what a batch of commands touches, and saves what became of it. No decision is made here.
import { type Book, type Entry, type Hold, type LedgerState, type Window, windowKey, windowOf, windowsOfEntry } from './book.ts';
import type { Command, LedgerId } from './commands.ts';
import type { Decision, Expire } from './core.ts';
import { endsHold, findReserved } from './journal.ts';
import type { LedgerStatements } from './sqlite-statements.ts';
import { dayOf, monthOf } from './window.ts';

type Spender = Pick<Hold, 'ledgerId' | 'keyId' | 'day' | 'month'>;

/** Everything `runCommands` may ask for, read inside the transaction that saves its decision. */
export function loadBook(statements: LedgerStatements, commands: readonly (Command | Expire)[], nowMs: number): Book {
  const book = {
    ledgers: new Map<LedgerId, LedgerState>(),
    windows: new Map<string, Window>(),
    holds: new Map<string, Hold>(),
    entries: new Map<string, readonly Entry[]>(),
  };
  const [day, month] = [dayOf(nowMs), monthOf(nowMs)];
  for (const command of commands) {
    if (command.type === 'reserve') {
      loadEntries(command.holdId);
      loadSpender({ ...command, day, month });
    } else if (command.type === 'credit' || command.type === 'debit') {
      loadEntries(command.entryId);
      loadLedger(command.ledgerId);
    } else {
      const hold = loadHold(command.holdId);
      if (hold) loadSpender(hold);
      // What its owner says after an expiry is judged by the reservation, also when it says so in the same batch.
      if (command.type === 'expire') loadEntries(command.holdId);
    }
  }
  return book;

  /** An open hold says it all; what became of any other is in the journal. */
  function loadHold(id: string): Spender | null {
    const open = statements.loadHold(id);
    if (open) book.holds.set(id, open);
    else loadEntries(id);
    return open ?? findReserved(book, id);
  }

  function loadSpender(spender: Spender): void {
    loadLedger(spender.ledgerId);
    loadWindow(spender.keyId, 'day', spender.day);
    loadWindow(spender.keyId, 'month', spender.month);
  }

  function loadLedger(id: LedgerId): void {
    if (book.ledgers.has(id)) return;
    const ledger = statements.loadLedger(id);
    if (ledger) book.ledgers.set(id, ledger);
  }

  function loadWindow(keyId: string, kind: Window['kind'], startsOn: string): void {
    const key = windowKey(keyId, kind, startsOn);
    if (book.windows.has(key)) return;
    const window = statements.loadWindow(keyId, kind, startsOn);
    if (window) book.windows.set(key, window);
  }

  function loadEntries(id: string): void {
    if (book.entries.has(id)) return;
    const entries = statements.loadEntries(id);
    if (entries.length > 0) book.entries.set(id, entries);
  }
}

/** Writes each row that changed once, however many commands of the batch changed it. */
export function saveDecision(statements: LedgerStatements, { book, entries, charges }: Decision): void {
  saveBalances(statements, book, entries);
  saveHolds(statements, book, entries);
  for (const entry of entries) statements.insertEntry(entry);
  for (const charge of charges) statements.insertCharge(charge);
}

function saveBalances(statements: LedgerStatements, book: Book, entries: readonly Entry[]): void {
  for (const id of new Set(entries.map((entry) => entry.ledgerId))) {
    statements.saveLedger(id, book.ledgers.get(id)!);
  }
  const windows = entries.flatMap(windowsOfEntry).map(({ keyId, kind, startsOn }) => windowOf(book, keyId, kind, startsOn));
  for (const window of new Set(windows)) statements.saveWindow(window);
}

/** A hold that was opened and closed in the same batch was never a row. */
function saveHolds(statements: LedgerStatements, book: Book, entries: readonly Entry[]): void {
  const opened = new Set(entries.filter((entry) => entry.kind === 'reserve').map((entry) => entry.id));
  for (const id of opened) {
    const hold = book.holds.get(id);
    if (hold) statements.insertHold(hold);
  }
  for (const entry of entries) {
    if (endsHold(entry) && !opened.has(entry.id)) statements.deleteHold(entry.id);
  }
}
