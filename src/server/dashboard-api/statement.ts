// An account's statement, as its members and operators read it.
import { invalidRequest } from '../../canonical/errors.ts';
import type { StatementLine } from '../../dashboard-contract/billing.ts';
import type { Mode, Page } from '../../dashboard-contract/common.ts';
import { ledgerIdOf } from '../../ledger/commands.ts';
import { listStatement, type StatementLine as LedgerLine } from '../../ledger/statement.ts';
import { decodeUsageCursor, encodeUsageCursor } from '../../ledger/usage-cursor.ts';
import type { ServerContext } from '../context.ts';

type Query = { readonly mode: Mode; readonly limit?: number; readonly cursor?: string };

const pageLines = 50;

/** Newest first. Throws ApiError 400 for a cursor that is none of ours. */
export async function readStatement(context: ServerContext, accountId: string, query: Query): Promise<Page<StatementLine>> {
  const { mode, limit = pageLines } = query;
  const cursor = query.cursor === undefined ? null : decodeUsageCursor(query.cursor);
  if (query.cursor !== undefined && !cursor)
    throw invalidRequest('cursor', '`cursor` must be the `next_cursor` of the page before, unchanged.');
  const page = await listStatement(context.database.read, { ledgerId: ledgerIdOf(accountId, mode), limit, cursor });
  return { data: page.lines.map(toLine), next_cursor: page.next && encodeUsageCursor(page.next) };
}

function toLine(line: LedgerLine): StatementLine {
  if (line.kind === 'charges') {
    const { kind, day, requests, amountMicros } = line;
    return { kind, day, requests, amount_micros: amountMicros };
  }
  const { kind, id, amountMicros, note, availableMicros, createdAtMs } = line;
  const created_at = new Date(createdAtMs).toISOString();
  return { kind, id, amount_micros: amountMicros, note, available_micros: availableMicros, created_at };
}
