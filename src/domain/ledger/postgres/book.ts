// Builds the core's book from the rows that a batch loads.
import { type Book, type Entry, memberKey, windowKey } from '../book.ts';
import type { LedgerId } from '../commands.ts';
import { entriesTable, holdsTable, ledgerOfRow, type LedgerRow, windowsTable } from '../columns.ts';
import type { LoadedMembers, LoadedRows } from './statements.ts';

export type Loaded = {
  readonly ledgers: readonly LedgerRow[];
  readonly loaded: LoadedRows;
  readonly claims: Book['claims'];
  readonly members: LoadedMembers;
};

export function bookOf({ ledgers, loaded, claims, members }: Loaded): Book {
  const { holds, entries } = loaded;
  const windows = [...loaded.windows, ...members.windows];
  const entriesById = new Map<string, Entry[]>();
  for (const row of entries) {
    const known = entriesById.get(row.id);
    if (known) known.push(entriesTable.recordOf(row));
    else entriesById.set(row.id, [entriesTable.recordOf(row)]);
  }
  return {
    ledgers: new Map(ledgers.map((row) => [row.id as LedgerId, ledgerOfRow(row)])),
    holds: new Map(holds.map((row) => [row.id, holdsTable.recordOf(row)])),
    entries: entriesById,
    windows: new Map(
      windows.map((row) => [
        windowKey(row.key_id, row.kind, row.starts_on),
        windowsTable.recordOf(row),
      ]),
    ),
    claims,
    members: keysByMember(members.owners),
  };
}

function keysByMember(owners: LoadedMembers['owners']): Book['members'] {
  const byMember = Map.groupBy(owners, (row) => memberKey(row.ledger_id, row.user_id));
  return new Map([...byMember].map(([member, rows]) => [member, rows.map((row) => row.key_id)]));
}
