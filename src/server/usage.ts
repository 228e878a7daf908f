// `GET /v1/usage`: the account's charges in the key's mode, newest first, page by page.
import type { FastifyRequest } from 'fastify';
import { invalidRequest } from '../canonical/errors.ts';
import { ledgerIdOf } from '../ledger/commands.ts';
import type { Charge } from '../ledger/book.ts';
import { listCharges } from '../ledger/queries.ts';
import { decodeUsageCursor, encodeUsageCursor, type UsageCursor } from '../ledger/usage-cursor.ts';
import { totalInputTokens } from '../canonical/usage.ts';
import { microsPerCent } from '../lib/money.ts';
import { keyOf, type Handler, type ServerContext } from './context.ts';

const limitDefault = 20;
const limitMax = 100;

export function getUsage({ database }: ServerContext): Handler {
  return async (request) => {
    const key = keyOf(request);
    const { charges, next } = await listCharges(database.read, {
      ledgerId: ledgerIdOf(key.accountId, key.mode),
      limit: readLimit(queryOf(request, 'limit')),
      cursor: readCursor(queryOf(request, 'cursor')),
      holdId: queryOf(request, 'request_id') ?? undefined,
    });
    return { data: charges.map(usageRecord), next_cursor: next && encodeUsageCursor(next) };
  };
}

function usageRecord(charge: Charge) {
  const { usage } = charge;
  const inputTokens = totalInputTokens(usage);
  return {
    created_at: new Date(charge.createdAtMs).toISOString(),
    model: charge.modelName,
    input_tokens: inputTokens,
    output_tokens: usage.outputTokens,
    total_tokens: inputTokens + usage.outputTokens,
    cost_cents: charge.costMicros / microsPerCent,
    ...(charge.webSearches > 0 && { web_searches: charge.webSearches }),
    ...(charge.images > 0 && { images: charge.images }),
    request_id: charge.id,
  };
}

function queryOf(request: FastifyRequest, name: string): string | null {
  const value = (request.query as Record<string, unknown>)[name];
  if (value === undefined || value === '') return null;
  if (typeof value !== 'string') throw invalidRequest(name, `\`${name}\` was given more than once. Give it once.`);
  return value;
}

function readLimit(text: string | null): number {
  if (text === null) return limitDefault;
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > limitMax) throw invalidRequest('limit', `\`limit\` must be a whole number from 1 to ${limitMax}.`);
  return limit;
}

function readCursor(text: string | null): UsageCursor | null {
  if (text === null) return null;
  const position = decodeUsageCursor(text);
  if (!position) throw invalidRequest('cursor', '`cursor` must be the `next_cursor` of the page before, unchanged.');
  return position;
}
