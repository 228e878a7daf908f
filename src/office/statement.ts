// An account's statement, for its members and for operators.
import type { StatementLine } from './contract/billing.ts';
import type { Mode, Page } from './contract/common.ts';
import { ledgerIdOf } from '../domain/ledger/commands.ts';
import {
  listStatement,
  type StatementLine as LedgerLine,
} from '../domain/ledger/reports/statement.ts';
import { encodeUsageCursor } from '../domain/ledger/reports/usage-cursor.ts';
import { readCursor } from '../server/usage-query.ts';
import type { DashboardContext } from './context.ts';

type Query = { readonly mode: Mode; readonly limit?: number; readonly cursor?: string };

const pageLines = 50;

/** Returns a page of the statement, newest first. Throws ApiError 400 for an invalid cursor. */
export async function readStatement(
  context: DashboardContext,
  accountId: string,
  query: Query,
): Promise<Page<StatementLine>> {
  const { mode, limit = pageLines } = query;
  const lines = { ledgerId: ledgerIdOf(accountId, mode), limit, cursor: readCursor(query.cursor) };
  const page = await listStatement(context.database.read, lines);
  return { data: page.lines.map(toLine), next_cursor: page.next && encodeUsageCursor(page.next) };
}

export function toLine(line: LedgerLine): StatementLine {
  if (line.kind === 'charges') {
    const { kind, day, requests, amountMicros } = line;
    return { kind, day, requests, amount_micros: amountMicros };
  }
  const { kind, id, amountMicros, note, availableMicros, createdAtMs } = line;
  const created_at = new Date(createdAtMs).toISOString();
  return {
    kind,
    id,
    amount_micros: amountMicros,
    note,
    available_micros: availableMicros,
    created_at,
  };
}
