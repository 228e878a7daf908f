// Builds the core's book from the rows that a batch loads.
import { type Book, type Entry, type LedgerState, type Window, windowKey } from '../book.ts';
import type { LedgerId } from '../commands.ts';
import type { LedgerRow, LoadedRows, WindowRow } from './statements.ts';
import { entryOfRow, holdOfRow } from '../rows.ts';

export function bookOf(
  ledgers: readonly LedgerRow[],
  { holds, entries, windows }: LoadedRows,
  claims: Book['claims'],
): Book {
  const entriesById = new Map<string, Entry[]>();
  for (const row of entries) {
    const known = entriesById.get(row.id);
    if (known) known.push(entryOfRow(row));
    else entriesById.set(row.id, [entryOfRow(row)]);
  }
  return {
    ledgers: new Map(ledgers.map((row) => [row.id as LedgerId, ledgerOfRow(row)])),
    holds: new Map(holds.map((row) => [row.id, holdOfRow(row)])),
    entries: entriesById,
    windows: new Map(
      windows.map((row) => [windowKey(row.key_id, row.kind, row.starts_on), windowOfRow(row)]),
    ),
    claims,
  };
}

function ledgerOfRow(row: LedgerRow): LedgerState {
  return {
    postedMicros: row.posted_micros,
    heldMicros: row.held_micros,
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    isFrozen: row.frozen === 1,
    lastEntryAtMs: row.last_entry_at_ms,
  };
}

function windowOfRow(row: WindowRow): Window {
  const {
    key_id: keyId,
    kind,
    starts_on: startsOn,
    settled_micros: settledMicros,
    held_micros: heldMicros,
  } = row;
  return { keyId, kind, startsOn, settledMicros, heldMicros };
}
