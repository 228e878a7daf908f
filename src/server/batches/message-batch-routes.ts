// Anthropic's `/v1/messages/batches`.
import type { FastifyRequest } from 'fastify';
import { invalidRequest } from '../../canonical/errors.ts';
import type { Batch, Counts } from '../../domain/batches/batch-store.ts';
import { MessageBatchRequestSchema } from '../../domain/batches/batch-request.ts';
import { makeBatch } from '../../gateway/batches/make-batch.ts';
import { linesOfRequest } from '../../gateway/batches/read-lines.ts';
import type { JsonObject } from '../../lib/json.ts';
import { compileSchema } from '../../lib/schema.ts';
import { dayMs } from '../../lib/utc-time.ts';
import { batchPaths } from '../../terms/batch.ts';
import { keyOf, type Handler, type ServerContext } from '../context.ts';
import { readJsonBody } from '../middleware/body.ts';
import type { Route } from '../route.ts';
import { baseUrlOf } from '../server-url.ts';
import {
  contextOf,
  idOf,
  keptDays,
  nameOf,
  notFound,
  ownerOf,
  readQuery,
  sendLines,
} from './shared.ts';

const findProblem = compileSchema(MessageBatchRequestSchema);
/** The values of all requests of a batch together. */
const valuesMax = 1_000_000;

export function messageBatchRoutes(context: ServerContext): readonly Route[] {
  const auth = 'run';
  const one = '/v1/messages/batches/:id';
  return [
    {
      method: 'POST',
      url: '/v1/messages/batches',
      auth,
      refusedUnderLoad: true,
      handler: createBatch(context),
    },
    { method: 'GET', url: '/v1/messages/batches', auth, handler: listBatches(context) },
    { method: 'GET', url: one, auth, handler: getBatch(context) },
    { method: 'GET', url: `${one}/results`, auth, handler: getResults(context) },
    {
      method: 'POST',
      url: `${one}/cancel`,
      auth,
      anyBody: true,
      handler: cancelBatch(context),
    },
    { method: 'DELETE', url: one, auth, handler: deleteBatch(context) },
  ];
}

function createBatch(context: ServerContext): Handler {
  const { gateway, batches } = context;
  return async (request, reply) => {
    const body = readJsonBody(request, valuesMax);
    const problem = findProblem(body);
    if (problem)
      throw invalidRequest(
        problem.path || null,
        `${problem.path || 'the body'} ${problem.message}`,
      );
    const { requests } = body as {
      readonly requests: readonly { readonly custom_id: string; readonly params: JsonObject }[];
    };
    const key = keyOf(request);
    const name = nameOf(request, body);
    reply.headers(await gateway.rateLimits.takeRequest(key));
    const { batch, isReplay } = await makeBatch(batches.parts, {
      key,
      form: 'anthropic',
      endpoint: batchPaths.anthropic[0],
      fileId: null,
      metadata: null,
      context: contextOf(context, request),
      name,
      lines: linesOfRequest(requests),
      keptForMs: keptDays * dayMs,
    });
    if (isReplay) reply.header(gateway.headers.cache, 'idempotent-replay');
    batches.queue.wake();
    return writeOne(context, request, batch);
  };
}

function listBatches(context: ServerContext): Handler {
  return async (request) => {
    const { limit, after_id: after, before_id: before } = readQuery(request, { limitMax: 1_000 });
    const page = { limit, after: before ?? after, isBackward: before !== undefined };
    const found = await context.batches.parts.store.list(ownerOf(request), 'anthropic', page);
    if (!found) throw notFound('batch');
    const shown = found.slice(0, limit);
    if (page.isBackward) shown.reverse();
    const data = await Promise.all(shown.map((batch) => writeOne(context, request, batch)));
    return {
      data,
      has_more: found.length > limit,
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
    };
  };
}

function getBatch(context: ServerContext): Handler {
  return async (request) => writeOne(context, request, await findBatch(context, request));
}

function getResults(context: ServerContext): Handler {
  return async (request, reply) => {
    const { id, state } = await findBatch(context, request);
    if (state !== 'ended')
      throw invalidRequest(null, 'The batch has not ended: its results are not complete yet.');
    return sendLines(reply, context.batches.parts.store.results(id, 'all'), 'application/x-jsonl');
  };
}

function cancelBatch(context: ServerContext): Handler {
  return async (request) => {
    const { id } = await findBatch(context, request);
    await context.batches.queue.cancel(id);
    return writeOne(context, request, await findBatch(context, request));
  };
}

function deleteBatch(context: ServerContext): Handler {
  return async (request) => {
    const { id, state } = await findBatch(context, request);
    if (state !== 'ended')
      throw invalidRequest(null, 'The batch has not ended. Cancel it first, and wait for its end.');
    await context.batches.parts.store.hide(id);
    return { id, type: 'message_batch_deleted' };
  };
}

async function findBatch({ batches }: ServerContext, request: FastifyRequest): Promise<Batch> {
  const batch = await batches.parts.store.find(ownerOf(request), 'anthropic', idOf(request));
  if (!batch) throw notFound('batch');
  return batch;
}

async function writeOne(
  { gateway, batches }: ServerContext,
  request: FastifyRequest,
  batch: Batch,
) {
  const base = baseUrlOf(gateway.config.server.public_url, request);
  return writeBatch(batch, await batches.parts.store.countsOf(batch), base);
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
    created_at: timeOf(batch.created_at_ms),
    expires_at: timeOf(batch.expires_at_ms),
    ended_at: timeOf(batch.ended_at_ms),
    cancel_initiated_at: timeOf(batch.cancelled_at_ms),
    archived_at: null,
    results_url: isOver ? `${base}/v1/messages/batches/${batch.id}/results` : null,
  };
}

function timeOf(timeMs: number | null): string | null {
  return timeMs === null ? null : new Date(timeMs).toISOString();
}
