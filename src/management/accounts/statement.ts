// An account's statement, for its members and for operators.
import type { StatementLine } from '../contract/billing.ts';
import { ledgerIdOf } from '../../domain/ledger/commands.ts';
import {
  listStatement,
  type StatementKind,
  type StatementLine as LedgerLine,
} from '../../domain/ledger/reports/statement.ts';
import type { Mode } from '../../terms/mode.ts';
import type { ManagementContext } from '../context.ts';
import { pageByTime, type PageOf, type Place } from '../paging.ts';

type StatementCall = {
  readonly context: ManagementContext;
  readonly params: { readonly account: string };
  readonly query: { readonly mode?: Mode; readonly only?: StatementKind };
  readonly page: Place;
};

/** Returns a page of the statement, newest first; null for an invalid cursor. */
export function readStatement(call: StatementCall): Promise<PageOf<StatementLine> | null> {
  const { context, params, query, page } = call;
  const { mode = 'live', only } = query;
  const ledgerId = ledgerIdOf(params.account, mode);
  return pageByTime(page, async (place) => {
    const { lines, next } = await listStatement(context.database.read, {
      ledgerId,
      only,
      ...place,
    });
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
