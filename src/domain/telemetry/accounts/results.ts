// What became of the spans that an account exports, for its settings page. Threads and gateways add
// theirs.
import { sql } from 'kysely';
import type { Db } from '../../../db/schema.ts';
import { isoTimeOf } from '../../../lib/iso-time.ts';

export type ExportResults = {
  readonly sent_spans: number;
  readonly dropped_spans: number;
  /** null: none yet. */
  readonly last_success_at: string | null;
  readonly last_problem: string | null;
  readonly last_problem_at: string | null;
};

export type NewResults = {
  readonly sent: number;
  readonly dropped: number;
  readonly succeededAtMs: number | null;
  readonly problem: { readonly text: string; readonly atMs: number } | null;
};

export async function readResults(db: Db, accountId: string): Promise<ExportResults> {
  const row = await db
    .selectFrom('account_telemetry_results')
    .selectAll()
    .where('account_id', '=', accountId)
    .executeTakeFirst();
  return {
    sent_spans: row?.sent_spans ?? 0,
    dropped_spans: row?.dropped_spans ?? 0,
    last_success_at: isoTimeOf(row?.last_success_at_ms),
    last_problem: row?.last_problem ?? null,
    last_problem_at: isoTimeOf(row?.last_problem_at_ms),
  };
}

export async function addResults(
  transient: Db,
  accountId: string,
  { sent, dropped, succeededAtMs, problem }: NewResults,
): Promise<void> {
  const last = {
    ...(succeededAtMs !== null && { last_success_at_ms: succeededAtMs }),
    ...(problem && { last_problem: problem.text, last_problem_at_ms: problem.atMs }),
  };
  await transient
    .insertInto('account_telemetry_results')
    .values({ account_id: accountId, sent_spans: sent, dropped_spans: dropped, ...last })
    .onConflict((conflict) =>
      conflict.column('account_id').doUpdateSet({
        sent_spans: sql<number>`account_telemetry_results.sent_spans + ${sent}`,
        dropped_spans: sql<number>`account_telemetry_results.dropped_spans + ${dropped}`,
        ...last,
      }),
    )
    .execute();
}
