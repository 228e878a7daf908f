// OpenAI's `/v1/batches`, and the files with their results.
import type { FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { invalidRequest } from '../../canonical/errors.ts';
import { type Batch, type Counts, statusOf } from '../../domain/batches/batch-store.ts';
import { BatchRequestSchema } from '../../domain/batches/batch-request.ts';
import { linesOfFile } from '../../gateway/batches/read-lines.ts';
import { dayMs } from '../../lib/utc-time.ts';
import type { Handler, ServerContext } from '../context.ts';
import type { Route } from '../route.ts';
import { batchHandlers } from './batch-handlers.ts';
import { findFile, idOf, keptDays, listOf, notFound, ownerOf, readQuery } from './shared.ts';

const metadataMax = 16;

export function batchRoutes(context: ServerContext): readonly Route[] {
  const { create, list, get, cancel } = handlersOf(context);
  const handleList: Handler = async (request) => {
    const { limit, after } = readQuery(request, { limitMax: 100 });
    const { data, hasMore } = await list(request, { limit, after });
    return listOf(data, hasMore);
  };
  return [
    { method: 'POST', url: '/v1/batches', refusedUnderLoad: true, handler: create },
    { method: 'GET', url: '/v1/batches', handler: handleList },
    { method: 'GET', url: '/v1/batches/:id', handler: get },
    { method: 'POST', url: '/v1/batches/:id/cancel', anyBody: true, handler: cancel },
  ];
}

function handlersOf(context: ServerContext) {
  const { files } = context.batches.parts;
  return batchHandlers(context, {
    form: 'openai',
    schema: BatchRequestSchema,
    read: async (asked: Static<typeof BatchRequestSchema>, request) => {
      const { endpoint, input_file_id: fileId, output_expires_after: expires } = asked;
      const file = await findFile(context, request, fileId);
      return {
        endpoint,
        fileId,
        metadata: readMetadata(asked.metadata),
        lines: linesOfFile(files.read(file), endpoint),
        keptForMs: expires ? expires.seconds * 1_000 : keptDays * dayMs,
      };
    },
    write: writeBatch,
  });
}

function readMetadata(metadata: Readonly<Record<string, string>> | null | undefined) {
  if (!metadata) return null;
  const names = Object.keys(metadata);
  if (names.length > metadataMax || names.some((name) => name.length > 64))
    throw invalidRequest('metadata', '`metadata` has at most 16 names of at most 64 characters.');
  return JSON.stringify(metadata);
}

type Kind = 'output' | 'errors';
type ResultFile = { readonly batch: Batch; readonly kind: Kind; readonly counts: Counts };

/** Returns the batch whose results the file of a request has; null: it is no such file. */
export async function readBatchOf(
  { batches }: ServerContext,
  request: FastifyRequest,
): Promise<ResultFile | null> {
  const [, end, kind] = /^file_(\w{26})_(output|errors)$/.exec(idOf(request)) ?? [];
  if (kind === undefined) return null;
  const { store } = batches.parts;
  const batch = await store.find(ownerOf(request), 'openai', `batch_${end}`);
  const counts = batch && (await store.countsOf(batch));
  if (!counts || resultFileId(batch, kind as Kind, counts) === null) throw notFound('file');
  return { batch, kind: kind as Kind, counts };
}

export function writeResultFile({ batch, kind, counts }: ResultFile) {
  return {
    id: resultFileId(batch, kind, counts)!,
    object: 'file',
    bytes: filed(kind, counts).bytes,
    created_at: secondsOf(batch.ended_at_ms),
    expires_at: secondsOf(batch.kept_until_ms),
    filename: `${batch.id}_${kind}.jsonl`,
    purpose: 'batch_output',
    status: 'processed',
  };
}

function resultFileId(batch: Batch, kind: Kind, counts: Counts): string | null {
  const isRemoved = (kind === 'output' ? batch.output_removed : batch.errors_removed) === 1;
  if (batch.state !== 'ended' || isRemoved || filed(kind, counts).lines === 0) return null;
  return `file_${batch.id.replace(/^batch_/, '')}_${kind}`;
}

function filed(kind: Kind, { succeeded, errored, canceled, expired }: Counts) {
  if (kind === 'output') return succeeded;
  const parts = [errored, canceled, expired];
  const sum = (name: 'lines' | 'bytes') => parts.reduce((total, part) => total + part[name], 0);
  return { lines: sum('lines'), bytes: sum('bytes') };
}

function writeBatch(batch: Batch, counts: Counts) {
  const { state, cancelled_at_ms: cancelledAtMs } = batch;
  const isOver = state === 'ended';
  const status = statusOf(batch, counts);
  const endedAt = (name: string) => (status === name ? secondsOf(batch.ended_at_ms) : null);
  return {
    id: batch.id,
    object: 'batch',
    endpoint: batch.endpoint,
    errors: null,
    input_file_id: batch.file_id,
    completion_window: '24h',
    status,
    output_file_id: resultFileId(batch, 'output', counts),
    error_file_id: resultFileId(batch, 'errors', counts),
    created_at: secondsOf(batch.created_at_ms),
    in_progress_at: secondsOf(batch.created_at_ms),
    expires_at: secondsOf(batch.expires_at_ms),
    finalizing_at: isOver ? secondsOf(batch.ended_at_ms) : null,
    completed_at: endedAt('completed'),
    failed_at: null,
    expired_at: endedAt('expired'),
    cancelling_at: secondsOf(cancelledAtMs),
    cancelled_at: endedAt('cancelled'),
    request_counts: {
      total: batch.lines,
      completed: counts.succeeded.lines,
      failed: counts.errored.lines,
    },
    metadata: batch.metadata === null ? null : (JSON.parse(batch.metadata) as object),
  };
}

function secondsOf(timeMs: number | null): number | null {
  return timeMs === null ? null : Math.floor(timeMs / 1_000);
}
