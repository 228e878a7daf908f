// Charges as a file, and days with repeated answers.
import type { CacheDay, usageEndpoints } from '../contract/usage.ts';
import { type ActivitySum, sumActivity } from '../../domain/activity/queries.ts';
import { sendUsageFile } from './usage-file.ts';
import type { Handlers } from '../handlers.ts';
import { upstreamModelIn } from '../../domain/catalog/catalog.ts';
import { readKeyNames } from '../../domain/keys/manage-keys.ts';
import { ledgerIdOf } from '../../domain/ledger/commands.ts';
import { cacheDaysMax, reportCaches } from '../../domain/ledger/reports/cache-report.ts';
import { checkDays } from './days.ts';
import { namesOfModels } from './model-names.ts';

export const usageHandlers: Handlers<typeof usageEndpoints> = {
  'GET /accounts/:account/usage.csv': ({ context, params, query, reply }) =>
    sendUsageFile(context, reply, { accountId: params.account, query }),

  'GET /accounts/:account/cache-days': async ({ context, params, query }) => {
    const { mode, from, to } = query;
    checkDays(from, to);
    const days = { accountId: params.account, mode, fromDay: from, toDay: to, by: 'day' } as const;
    return { data: toCacheDays(await sumActivity(context.database.read, days)) };
  },

  'GET /accounts/:account/prompt-cache': async ({ context, params, query }) => {
    const { mode, from, to, by } = query;
    const range = checkDays(from, to, cacheDaysMax);
    const { catalog } = context.gateway.hosts;
    const report = await reportCaches(context.database.read, {
      ledgerIds: [ledgerIdOf(params.account, mode)],
      ...range,
      by,
      upstreamModelOf: upstreamModelIn(catalog),
    });
    const ids = report.rows.map(({ id }) => id);
    const named = by === 'key' ? await readKeyNames(context.database.read, ids) : null;
    const names = named ?? namesOfModels(catalog, by === 'model' ? ids : []);
    return {
      ...report,
      rows: report.rows.map((row) => ({ ...row, name: names.get(row.id) || null })),
    };
  },
};

/** Returns the days with replays, newest first. `sums`: grouped by day. */
function toCacheDays(sums: readonly ActivitySum[]): readonly CacheDay[] {
  const days = new Map<string, CacheDay>();
  for (const { group: day, outcome, requests, savedMicros, inputTokens, outputTokens } of sums) {
    if (outcome !== 'hit' && outcome !== 'idempotent-replay') continue;
    const before = days.get(day) ?? {
      day,
      hits: 0,
      replays: 0,
      saved_micros: 0,
      input_tokens: 0,
      output_tokens: 0,
    };
    days.set(day, {
      day,
      hits: before.hits + (outcome === 'hit' ? requests : 0),
      replays: before.replays + (outcome === 'hit' ? 0 : requests),
      saved_micros: before.saved_micros + savedMicros,
      input_tokens: before.input_tokens + inputTokens,
      output_tokens: before.output_tokens + outputTokens,
    });
  }
  return [...days.values()].toSorted((one, other) => (one.day < other.day ? 1 : -1));
}
