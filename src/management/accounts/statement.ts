// An account's statement, for its members and for operators.
import type { StatementLine } from '../contract/billing.ts';
import type { LedgerId } from '../../domain/ledger/commands.ts';
import {
  listStatement,
  type StatementKind,
  type StatementLine as LedgerLine,
} from '../../domain/ledger/reports/statement.ts';
import type { ManagementContext } from '../context.ts';
import { pageByTime, type PageOf, type Place } from '../paging.ts';

/** Returns a page of the statement, newest first; null for an invalid cursor. */
export function readStatement(
  { database }: ManagementContext,
  ledgerId: LedgerId,
  { only, ...page }: Place & { readonly only: StatementKind | undefined },
): Promise<PageOf<StatementLine> | null> {
  return pageByTime(page, async (place) => {
    const { lines, next } = await listStatement(database.read, { ledgerId, only, ...place });
    return { rows: lines.map(toLine), next };
  });
}

function toLine(line: LedgerLine): StatementLine {
  if (line.kind === 'charges') {
    const { kind, day, requests, amountMicros: amount_micros, balanceMicros } = line;
    return { kind, day, requests, amount_micros, balance_micros: balanceMicros };
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
