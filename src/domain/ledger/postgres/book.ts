// Builds the core's book from the rows that a batch loads.
import {
  type Book,
  type Entry,
  type LedgerState,
  memberKey,
  type Window,
  windowKey,
} from '../book.ts';
import type { LedgerId } from '../commands.ts';
import type { LedgerRow, LoadedMembers, LoadedRows, WindowRow } from './statements.ts';
import { entryOfRow, holdOfRow } from '../rows.ts';

type Loaded = {
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
    members: keysByMember(members.owners),
  };
}

function keysByMember(owners: LoadedMembers['owners']): Book['members'] {
  const byMember = Map.groupBy(owners, (row) => memberKey(row.ledger_id, row.user_id));
  return new Map([...byMember].map(([member, rows]) => [member, rows.map((row) => row.key_id)]));
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
