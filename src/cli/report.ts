// `tollgate report`
import type { Mode } from '../terms/mode.ts';
import {
  listChargedLedgers,
  report,
  type ReportGroup,
  type ReportRow,
} from '../domain/ledger/reports/report.ts';
import type { Installation } from './installation.ts';
import { upstreamModelIn } from '../domain/catalog/catalog.ts';
import { loadCatalog } from '../domain/catalog/load-catalog.ts';
import { reportCaches, type CacheReport } from '../domain/ledger/reports/cache-report.ts';
import { systemClock } from '../lib/clock.ts';
import { micros } from '../lib/money.ts';
import { snakeCase } from '../lib/snake-case.ts';
import { dayMs, dayOf } from '../lib/utc-time.ts';
import { CommandFailed, dollars, formatTable, tableOf, type Output } from './output.ts';

type ReportOptions = {
  readonly by: ReportGroup | 'conversation';
  readonly mode: Mode;
  readonly from: number;
  readonly to: number;
  readonly promptCache?: true;
};

export async function reportCommand(
  { config, database }: Installation,
  { by, mode, from, to, promptCache }: ReportOptions,
): Promise<Output> {
  if (from >= to)
    throw new CommandFailed('--to must be after --from: it is the day after the last one');
  const asked = { by, mode, from: dayOf(from), to: dayOf(to) };
  if (promptCache) {
    const range = { fromMs: from, toMs: Math.min(to, systemClock.nowMs() + dayMs) };
    const caches = await reportCaches(database.read, {
      ledgerIds: await listChargedLedgers(database.read, { mode, ...range }),
      ...range,
      by,
      chargesMax: cacheChargesMax,
      upstreamModelOf: upstreamModelIn(loadCatalog(config)),
    });
    return [{ ...asked, ...caches }, formatCaches(by, caches)];
  }
  if (by === 'conversation')
    throw new CommandFailed('--by conversation needs --prompt-cache: only that report has them');
  const rows = await report(database.read, { by, mode, fromMs: from, toMs: to });
  return [{ ...asked, rows: rows.map(snakeCase) }, formatReport(by, rows)];
}

function formatReport(by: ReportGroup, rows: readonly ReportRow[]): string {
  if (rows.length === 0) return 'Nothing was charged in this period.';
  return tableOf(rows, {
    [by]: ({ group }) => group || '(failed requests)',
    requests: (row) => String(row.requests),
    'input tokens': (row) => String(row.inputTokens),
    'output tokens': (row) => String(row.outputTokens),
    revenue: (row) => dollars(row.revenueMicros),
    cost: (row) => dollars(row.costMicros),
    uncollected: (row) => dollars(row.uncollectedMicros),
    failed: (row) => dollars(row.failedMicros),
    margin: (row) => dollars(row.marginMicros),
  });
}

/** They are in memory together, those of one account at a time. */
const cacheChargesMax = 200_000;

/** A row for each group, and below it one for each reason why tokens were not read. */
function formatCaches(by: string, { rows, cut_at: cutAt }: CacheReport): string {
  if (rows.length === 0) return 'No prompt was charged in this period.';
  const cells = rows.flatMap((row) => {
    const saved = [row.saved_micros, row.saved_by_marks_micros, row.saved_by_affinity_micros];
    const sums = [row.id, 'read', row.requests, row.read_tokens, usd(row.cost_micros)];
    const missed = row.missed.map(({ reason, requests, tokens, cost_micros: cost }) =>
      ['', `not: ${reason}`, requests, tokens, usd(cost), '', '', ''].map(String),
    );
    return [[...sums, ...saved.map(usd)].map(String), ...missed];
  });
  const headings = [by, 'cache', 'requests', 'tokens', 'cost', 'saved', 'by marks', 'by affinity'];
  const note = cutAt === null ? '' : `\n\nToo many charges: those before ${cutAt} are missing.`;
  return formatTable(headings, cells) + note;
}

function usd(amount: number): string {
  return dollars(micros(amount));
}
