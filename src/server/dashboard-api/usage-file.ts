// All charges that pass the filters, as a file for a spreadsheet.
import { setImmediate } from 'node:timers/promises';
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { totalInputTokens } from '../../canonical/usage.ts';
import type { UsageExportQuery } from '../../dashboard-contract/usage.ts';
import { csvRecord, type CsvCell } from '../../lib/csv.ts';
import { formatUsd } from '../../lib/money.ts';
import type { UsageCursor } from '../../ledger/usage-cursor.ts';
import type { ServerContext } from '../context.ts';
import { readPage, type NamedCharge, type UsagePage } from './usage-pages.ts';

const exportRows = 500;

/**
 * Writes all charges that pass the filters as they are read, no faster than they are taken, newest first. Those made meanwhile are left
 * out, since it goes backwards in time.
 */
export async function sendUsageFile(
  context: ServerContext,
  reply: FastifyReply,
  { accountId, query }: { readonly accountId: string; readonly query: UsageExportQuery },
): Promise<FastifyReply> {
  const { log, config } = context.gateway;
  const file = Readable.from(usageFile(context, accountId, query), { objectMode: false });
  // The status is long sent: the connection is cut, which its reader takes for a failure.
  file.once('error', (err) => log.error({ err, request_id: reply.request.requestId }, 'an export broke off'));
  reply.raw.setTimeout(config.limits.stream_stall_ms, () => reply.raw.destroy());
  const days = [query.from, query.to].filter((day) => day !== undefined).join('-to-');
  return reply
    .header('content-type', 'text/csv; charset=utf-8; header=present')
    .header('content-disposition', `attachment; filename="usage-${query.mode}${days && `-${days}`}.csv"`)
    .send(file);
}

async function* usageFile(context: ServerContext, accountId: string, filters: UsageExportQuery): AsyncGenerator<string, void> {
  yield csvRecord(columns.map(([title]) => title));
  let cursor: UsageCursor | null = null;
  do {
    const page: UsagePage = await readPage(context, accountId, { ...filters, limit: exportRows, cursor });
    yield page.records.map((record) => csvRecord(columns.map(([, cell]) => cell(record)))).join('');
    cursor = page.next;
    // SQLite is read in this thread: whoever waits has a turn.
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
  ['cache_write_tokens', ({ charge }) => charge.usage.cacheWriteTokens + charge.usage.cacheWrite1hTokens],
  ['output_tokens', ({ charge }) => charge.usage.outputTokens],
  ['reasoning_tokens', ({ charge }) => charge.usage.reasoningTokens],
  ['images', ({ charge }) => charge.images],
  ['web_searches', ({ charge }) => charge.webSearches],
  ['cost_usd', ({ charge }) => formatUsd(charge.costMicros)],
  ['held_usd', ({ charge }) => formatUsd(charge.holdMicros)],
  ['price_version', ({ charge }) => charge.priceVersion],
  ['tokens_counted_by', ({ charge }) => (charge.usageSource === 'upstream' ? 'provider' : 'gateway')],
  ['attempts', ({ charge }) => charge.attempts],
  ['duration_ms', ({ charge }) => charge.durationMs],
  ['first_byte_ms', ({ charge }) => charge.firstByteMs],
];
