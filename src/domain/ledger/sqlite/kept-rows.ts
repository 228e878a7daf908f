// Ledgers, windows and open holds as this connection last read or wrote them, so that most batches
// load nothing. Exact, because SQLite tells when another connection has changed the database. So
// nothing else may write these tables through this connection.
import type { DatabaseSync } from 'node:sqlite';
import { type Hold, type LedgerState, type Window, windowKey } from '../book.ts';
import type { LedgerId } from '../commands.ts';
import type { SaveStatements } from './save.ts';
import type { LoadStatements } from './statements.ts';

type LedgerStatements = LoadStatements & SaveStatements;

/** Rows of each kind. When there are more, all are loaded anew. */
const keptMax = 10_000;

export type KeptStatements = LedgerStatements & {
  /** Call after a rollback, also to a savepoint: what was written is not in the database. */
  readonly forget: () => void;
};

/** The same statements, without loads of rows that are known. */
export function keepRows(connection: DatabaseSync, statements: LedgerStatements): KeptStatements {
  const ledgers = new Map<string, LedgerState>();
  const windows = new Map<string, Window>();
  const holds = new Map<string, Hold>();
  const versions = connection.prepare('pragma data_version');
  let version = -1;

  return {
    ...statements,
    begin: () => {
      statements.begin();
      // Nobody else can write until this transaction ends.
      const { data_version: current } = versions.get() as { data_version: number };
      if (current !== version) forget();
      version = current;
    },
    forget,
    loadLedger: (id) => load(ledgers, id, () => statements.loadLedger(id)),
    saveLedger: (id: LedgerId, state: LedgerState) => {
      statements.saveLedger(id, state);
      keep(ledgers, id, state);
    },
    loadWindow: (keyId, kind, startsOn) =>
      load(windows, windowKey(keyId, kind, startsOn), () =>
        statements.loadWindow(keyId, kind, startsOn),
      ),
    saveWindow: (window) => {
      statements.saveWindow(window);
      keep(windows, windowKey(window.keyId, window.kind, window.startsOn), window);
    },
    loadHold: (id) => load(holds, id, () => statements.loadHold(id)),
    insertHold: (hold) => {
      statements.insertHold(hold);
      keep(holds, hold.id, hold);
    },
    enlargeHold: (hold) => {
      statements.enlargeHold(hold);
      keep(holds, hold.id, hold);
    },
    deleteHold: (id) => {
      statements.deleteHold(id);
      holds.delete(id);
    },
  };

  function forget(): void {
    for (const rows of [ledgers, windows, holds]) rows.clear();
  }
}

function load<Row>(rows: Map<string, Row>, id: string, read: () => Row | null): Row | null {
  const kept = rows.get(id);
  if (kept) return kept;
  const row = read();
  if (row) keep(rows, id, row);
  return row;
}

function keep<Row>(rows: Map<string, Row>, id: string, row: Row): void {
  if (rows.size >= keptMax) rows.clear();
  rows.set(id, row);
}
