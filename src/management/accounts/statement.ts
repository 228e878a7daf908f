// An account's statement, for its members and for operators.
import type { StatementLine, StatementFileQuery } from '../contract/billing.ts';
import { ledgerIdOf } from '../../domain/ledger/commands.ts';
import {
  listStatement,
  type StatementKind,
  type StatementLine as LedgerLine,
} from '../../domain/ledger/reports/statement.ts';
import type { Mode } from '../../terms/mode.ts';
import type { ManagementContext } from '../context.ts';
import { pageByTime, type PageOf, type Place } from '../paging.ts';
import type { FastifyReply } from 'fastify';
import { type RangeLine, statementOf } from '../../domain/ledger/reports/statement-range.ts';
import { csvRecord } from '../../lib/csv.ts';
import { usdFromMicros } from '../../lib/money.ts';
import { dayMs, dayOf } from '../../lib/utc-time.ts';
import { checkOrder } from '../../server/usage-query.ts';
import { sendCsv } from '../send-csv.ts';
import { startOfDay } from '../reports/days.ts';

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

/** Before the first account. */
const firstDay = '2020-01-01';

/** Streams the statement as fast as the client reads. Throws ApiError 400 for days out of order. */
export async function sendStatementFile(
  context: ManagementContext,
  reply: FastifyReply,
  { accountId, query }: { readonly accountId: string; readonly query: StatementFileQuery },
): Promise<FastifyReply> {
  const today = dayOf(context.gateway.clock.nowMs());
  const { mode, from = firstDay, to = today } = query;
  const range = checkOrder({
    fromMs: startOfDay('from', from),
    toMs: startOfDay('to', to) + dayMs,
  });
  const lines = statementOf(context.database.read, {
    ledgerId: ledgerIdOf(accountId, mode),
    ...range,
  });
  const days = query.from === undefined ? `to-${to}` : `${from}-to-${to}`;
  return sendCsv(context, reply, {
    kind: 'statement',
    name: `${mode}-${days}`,
    records: recordsOf(lines),
  });
}

const columns = ['time', 'kind', 'id', 'note', 'requests', 'amount_usd', 'balance_usd'] as const;

async function* recordsOf(lines: AsyncIterable<RangeLine>): AsyncGenerator<string, void> {
  yield csvRecord(columns);
  for await (const line of lines) yield recordOf(line);
}

function recordOf(line: RangeLine): string {
  const [time, balance] = [new Date(line.timeMs).toISOString(), usdFromMicros(line.balanceMicros)];
  switch (line.kind) {
    case 'opening':
    case 'closing':
      return csvRecord([time, line.kind, null, null, null, null, balance]);
    case 'charges':
      return csvRecord([
        time,
        line.kind,
        null,
        `charges of ${line.day} (UTC)`,
        line.requests,
        ...amounts(line),
      ]);
    case 'credit':
    case 'debit':
      return csvRecord([time, line.kind, line.id, line.note, null, ...amounts(line)]);
  }
}

/** Numbers, because text that begins with a minus sign gets an apostrophe. */
function amounts({ amountMicros, balanceMicros }: Extract<RangeLine, { amountMicros: unknown }>) {
  return [usdFromMicros(amountMicros), usdFromMicros(balanceMicros)];
}
