// `tollgate report`
import type { Mode } from '../terms/mode.ts';
import { type ReportGroup, type ReportRow, report } from '../domain/ledger/reports/report.ts';
import { type Installation, withInstallation } from './installation.ts';
import { CommandFailed, dollars, formatTable, printResult, type JsonOption } from './output.ts';

type ReportOptions = JsonOption & {
  readonly by: ReportGroup;
  readonly mode: Mode;
  readonly from: number;
  readonly to: number;
};

export async function reportCommand({
  by,
  mode,
  from,
  to,
  ...options
}: ReportOptions): Promise<void> {
  if (from >= to)
    throw new CommandFailed('--to must be after --from: it is the day after the last one');
  const print = async ({ database }: Installation) => {
    const rows = await report(database.read, { by, mode, fromMs: from, toMs: to });
    printResult(
      options,
      { by, mode, from: dateOf(from), to: dateOf(to), rows: rows.map(toJson) },
      formatReport(by, rows),
    );
  };
  await withInstallation('report', print, { needsBooks: true });
}

function dateOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}

function toJson(row: ReportRow): object {
  return {
    group: row.group,
    requests: row.requests,
    input_tokens: row.inputTokens,
    output_tokens: row.outputTokens,
    revenue_micros: row.revenueMicros,
    cost_micros: row.costMicros,
    uncollected_micros: row.uncollectedMicros,
    failed_micros: row.failedMicros,
    margin_micros: row.marginMicros,
  };
}

function formatReport(by: ReportGroup, rows: readonly ReportRow[]): string {
  if (rows.length === 0) return 'Nothing was charged in this period.';
  const headings = [
    by,
    'requests',
    'input tokens',
    'output tokens',
    'revenue',
    'cost',
    'uncollected',
    'failed',
    'margin',
  ];
  const cells = rows.map((row) => [
    row.group || '(failed requests)',
    String(row.requests),
    String(row.inputTokens),
    String(row.outputTokens),
    dollars(row.revenueMicros),
    dollars(row.costMicros),
    dollars(row.uncollectedMicros),
    dollars(row.failedMicros),
    dollars(row.marginMicros),
  ]);
  return formatTable(headings, cells);
}
