// Anthropic's `/v1/messages/batches`.
import { invalidRequest } from '../../canonical/errors.ts';
import type { Batch, Counts } from '../../domain/batches/batch-store.ts';
import { MessageBatchRequestSchema } from '../../domain/batches/batch-request.ts';
import { isoTimeOf } from '../../lib/iso-time.ts';
import type { JsonObject } from '../../lib/json.ts';
import { dayMs } from '../../lib/utc-time.ts';
import { batchPaths } from '../../terms/batch.ts';
import type { Handler, ServerContext } from '../context.ts';
import type { Route } from '../route.ts';
import { baseUrlOf } from '../server-url.ts';
import { batchHandlers } from './batch-handlers.ts';
import { keptDays, readQuery, sendLines } from './shared.ts';

/** The values of all requests of a batch together. */
const valuesMax = 1_000_000;

type Asked = {
  readonly requests: readonly { readonly custom_id: string; readonly params: JsonObject }[];
};

export function messageBatchRoutes(context: ServerContext): readonly Route[] {
  const { store } = context.batches.parts;
  const { public_url: publicUrl } = context.gateway.config.server;
  const { create, find, list, get, cancel } = batchHandlers(context, {
    form: 'anthropic',
    schema: MessageBatchRequestSchema,
    valuesMax,
    read: async ({ requests }: Asked) => ({
      endpoint: batchPaths.anthropic[0],
      fileId: null,
      metadata: null,
      lines: requests.map(({ custom_id: customId, params: body }) => ({ customId, body })),
      keptForMs: keptDays * dayMs,
    }),
    write: (batch, counts, request) => writeBatch(batch, counts, baseUrlOf(publicUrl, request)),
  });
  const handleList: Handler = async (request) => {
    const { limit, after_id: after, before_id: before } = readQuery(request, { limitMax: 1_000 });
    const page = { limit, after: before ?? after, isBackward: before !== undefined };
    const { data, hasMore } = await list(request, page);
    const [first_id, last_id] = [data[0]?.id ?? null, data.at(-1)?.id ?? null];
    return { data, has_more: hasMore, first_id, last_id };
  };
  const getResults: Handler = async (request, reply) => {
    const { id, state } = await find(request);
    if (state !== 'ended')
      throw invalidRequest(null, 'The batch has not ended: its results are not complete yet.');
    return sendLines(reply, store.results(id, 'all'), 'application/x-jsonl');
  };
  const remove: Handler = async (request) => {
    const { id, state } = await find(request);
    if (state !== 'ended')
      throw invalidRequest(null, 'The batch has not ended. Cancel it first, and wait for its end.');
    await store.hide(id);
    return { id, type: 'message_batch_deleted' };
  };
  const all = '/v1/messages/batches';
  const one = `${all}/:id`;
  return [
    { method: 'POST', url: all, refusedUnderLoad: true, handler: create },
    { method: 'GET', url: all, handler: handleList },
    { method: 'GET', url: one, handler: get },
    { method: 'GET', url: `${one}/results`, handler: getResults },
    { method: 'POST', url: `${one}/cancel`, anyBody: true, handler: cancel },
    { method: 'DELETE', url: one, handler: remove },
  ];
}

const states = {
  creating: 'in_progress',
  running: 'in_progress',
  cancelling: 'canceling',
  ended: 'ended',
} as const;

/** Anthropic counts what has ended when all has. */
function writeBatch(batch: Batch, counts: Counts, base: string) {
  const isOver = batch.state === 'ended';
  const count = (name: keyof Counts) => (isOver ? counts[name].lines : 0);
  return {
    id: batch.id,
    type: 'message_batch',
    processing_status: states[batch.state],
    request_counts: {
      processing: isOver ? 0 : batch.lines,
      succeeded: count('succeeded'),
      errored: count('errored'),
      canceled: count('canceled'),
      expired: count('expired'),
    },
    created_at: isoTimeOf(batch.created_at_ms),
    expires_at: isoTimeOf(batch.expires_at_ms),
    ended_at: isoTimeOf(batch.ended_at_ms),
    cancel_initiated_at: isoTimeOf(batch.cancelled_at_ms),
    archived_at: null,
    results_url: isOver ? `${base}/v1/messages/batches/${batch.id}/results` : null,
  };
}
