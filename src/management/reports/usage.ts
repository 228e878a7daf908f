// Charges as a file, and what was read from providers' prompt caches.
import type { usageEndpoints, UsageQuery } from '../contract/usage.ts';
import type { Handlers } from '../handlers.ts';
import { upstreamModelIn } from '../../domain/catalog/catalog.ts';
import { readKeyNames } from '../../domain/keys/manage-keys.ts';
import { ledgerIdOf } from '../../domain/ledger/commands.ts';
import { cacheDaysMax, reportCaches } from '../../domain/ledger/reports/cache-report.ts';
import { checkDays, rangeOf } from './days.ts';
import { namesOfModels } from './model-names.ts';
import { setImmediate } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import { totalInputTokens } from '../../canonical/usage.ts';
import { csvRecord, type CsvCell } from '../../lib/csv.ts';
import { formatUsd } from '../../lib/money.ts';
import type { UsageCursor } from '../../domain/ledger/reports/usage-cursor.ts';
import type { ManagementContext } from '../context.ts';
import { sendCsv } from '../send-csv.ts';
import { readPage, type NamedCharge, type UsagePage } from './usage-pages.ts';

export const usageHandlers: Handlers<typeof usageEndpoints> = {
  'GET /accounts/:account/usage.csv': ({ context, params, query, reply }) =>
    sendUsageFile(context, reply, { accountId: params.account, query }),

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

const exportRows = 500;

/**
 * Streams all charges that match the filters, newest first, as fast as the client reads. Charges
 * made meanwhile are left out, because it reads backwards in time. Throws ApiError 400 for a day that
 * does not exist.
 */
async function sendUsageFile(
  context: ManagementContext,
  reply: FastifyReply,
  { accountId, query }: { readonly accountId: string; readonly query: UsageQuery },
): Promise<FastifyReply> {
  // Before the status is sent.
  rangeOf(query);
  const days = [query.from, query.to].filter((day) => day !== undefined).join('-to-');
  return sendCsv(context, reply, {
    kind: 'usage',
    name: `${query.mode}${days && `-${days}`}`,
    records: recordsOf(context, accountId, query),
  });
}

async function* recordsOf(
  context: ManagementContext,
  accountId: string,
  filters: UsageQuery,
): AsyncGenerator<string, void> {
  yield csvRecord(columns.map(([title]) => title));
  let cursor: UsageCursor | null = null;
  do {
    const page: UsagePage = await readPage(context, accountId, {
      ...filters,
      limit: exportRows,
      cursor,
    });
    yield page.records.map((record) => csvRecord(columns.map(([, cell]) => cell(record)))).join('');
    cursor = page.next;
    // SQLite is read in this thread, so waiting work gets a turn here.
    await setImmediate();
  } while (cursor);
}

const columns: readonly (readonly [title: string, cell: (record: NamedCharge) => CsvCell])[] = [
  ['created_at', ({ charge }) => new Date(charge.createdAtMs).toISOString()],
  ['request_id', ({ charge }) => charge.id],
  ['key_id', ({ charge }) => charge.keyId],
  ['key_name', ({ keyName }) => keyName],
  ['model', ({ charge }) => charge.modelId],
  ['model_name', ({ charge }) => charge.modelName],
  ['endpoint', ({ charge }) => charge.endpoint],
  ['provider', ({ charge }) => charge.provider],
  ['outcome', ({ charge }) => charge.ending],
  ['streamed', ({ charge }) => String(charge.streamed)],
  ['input_tokens', ({ charge }) => totalInputTokens(charge.usage)],
  ['cache_read_tokens', ({ charge }) => charge.usage.cacheReadTokens],
  [
    'cache_write_tokens',
    ({ charge }) => charge.usage.cacheWriteTokens + charge.usage.cacheWrite1hTokens,
  ],
  ['output_tokens', ({ charge }) => charge.usage.outputTokens],
  ['reasoning_tokens', ({ charge }) => charge.usage.reasoningTokens],
  ['images', ({ charge }) => charge.images],
  ['web_searches', ({ charge }) => charge.webSearches],
  ['cost_usd', ({ charge }) => formatUsd(charge.costMicros)],
  ['held_usd', ({ charge }) => formatUsd(charge.holdMicros)],
  ['price_version', ({ charge }) => charge.priceVersion],
  [
    'tokens_counted_by',
    ({ charge }) => (charge.usageSource === 'upstream' ? 'provider' : 'gateway'),
  ],
  ['attempts', ({ charge }) => charge.attempts],
  ['duration_ms', ({ charge }) => charge.durationMs],
  ['first_byte_ms', ({ charge }) => charge.firstByteMs],
  ['tags', ({ tags }) => tags.join(', ')],
  ['client', ({ logged }) => logged?.client ?? null],
];
