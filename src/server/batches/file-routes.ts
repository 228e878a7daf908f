// OpenAI's `/v1/files`, as far as batches need them. Files with results are read from their batch.
import { invalidRequest } from '../../canonical/errors.ts';
import type { BatchFile } from '../../domain/batches/batch-files.ts';
import { overDay } from '../../gateway/batches/make-batch.ts';
import { dayMs } from '../../lib/utc-time.ts';
import { batchFileBytesMax } from '../../terms/batch.ts';
import { keyOf, type Handler, type ServerContext } from '../context.ts';
import type { Route } from '../route.ts';
import { readUploadForm, type SpooledBody } from '../upload-form.ts';
import { readBatchOf, writeResultFile } from './batch-routes.ts';
import {
  findFile,
  idOf,
  keptDays,
  listOf,
  notFound,
  ownerOf,
  readQuery,
  sendLines,
} from './shared.ts';

/** The most bytes of the form around the file. */
const formBytesMax = 64 * 1024;

export function fileRoutes(context: ServerContext): readonly Route[] {
  return [
    {
      method: 'POST',
      url: '/v1/files',
      refusedUnderLoad: true,
      isUpload: true,
      bodyBytesMax: batchFileBytesMax + formBytesMax,
      handler: createFile(context),
    },
    { method: 'GET', url: '/v1/files', handler: listFiles(context) },
    { method: 'GET', url: '/v1/files/:id', handler: getFile(context) },
    { method: 'GET', url: '/v1/files/:id/content', handler: getContent(context) },
    { method: 'DELETE', url: '/v1/files/:id', handler: deleteFile(context) },
  ];
}

function createFile({ gateway, batches }: ServerContext): Handler {
  const { files } = batches.parts;
  return async (request, reply) => {
    const spooled = request.body as SpooledBody;
    spooled.isTaken = true;
    try {
      const { purpose, ...fields } = (await readUploadForm(request)) as Record<string, unknown>;
      const { upload } = request;
      if (purpose !== 'batch')
        throw invalidRequest('purpose', '`purpose` must be `batch`: files are for batches only.');
      if (!upload)
        throw invalidRequest('file', '`file` is missing: the lines of a batch, as JSONL.');
      const seconds = readSeconds(fields['expires_after[seconds]']);
      const nowMs = gateway.clock.nowMs();
      reply.headers(await gateway.rateLimits.takeRequest(keyOf(request)));
      const owner = ownerOf(request);
      const bytes = await files.bytesSince(owner.accountId, nowMs - dayMs);
      const bytesMax = gateway.config.limits.batch_bytes_per_day;
      if (bytes + upload.bytes > bytesMax) throw overDay('bytes', bytesMax);
      const file = await files.put({
        ...owner,
        name: upload.name.slice(0, 255),
        pieces: upload.pieces(),
        nowMs,
        expiresAtMs: nowMs + seconds * 1_000,
      });
      // Once more, with those that were uploaded at the same time.
      if ((await files.bytesSince(owner.accountId, nowMs - dayMs)) > bytesMax) {
        await files.remove(file.id);
        throw overDay('bytes', bytesMax);
      }
      return writeFile(file);
    } finally {
      await spooled.close();
    }
  };
}

function readSeconds(text: unknown): number {
  if (text === undefined) return keptDays * 86_400;
  const seconds = typeof text === 'string' && /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (seconds < 3_600 || seconds > keptDays * 86_400)
    throw invalidRequest(
      'expires_after[seconds]',
      '`expires_after[seconds]` must be a whole number from 3600 to 2592000.',
    );
  return seconds;
}

function listFiles({ gateway, batches }: ServerContext): Handler {
  return async (request) => {
    const { limit, after, order } = readQuery(request, { limitMax: 10_000 });
    const page = { limit, after, isAscending: order === 'asc' };
    const found = await batches.parts.files.list(ownerOf(request), page, gateway.clock.nowMs());
    if (!found) throw notFound('file');
    return listOf(found.slice(0, limit).map(writeFile), found.length > limit);
  };
}

function getFile(context: ServerContext): Handler {
  return async (request) => {
    const result = await readBatchOf(context, request);
    if (result) return writeResultFile(result);
    return writeFile(await findFile(context, request, idOf(request)));
  };
}

function getContent(context: ServerContext): Handler {
  const { files, store } = context.batches.parts;
  return async (request, reply) => {
    const type = 'application/octet-stream';
    const result = await readBatchOf(context, request);
    if (result) return sendLines(reply, store.results(result.batch.id, result.kind), type);
    const file = await findFile(context, request, idOf(request));
    return sendLines(reply, files.read(file), type);
  };
}

function deleteFile(context: ServerContext): Handler {
  const { files, store } = context.batches.parts;
  return async (request) => {
    const id = idOf(request);
    const result = await readBatchOf(context, request);
    if (result) await store.hideResults(result.batch.id, result.kind);
    else await files.hide((await findFile(context, request, id)).id);
    return { id, object: 'file', deleted: true };
  };
}

function writeFile({
  id,
  name,
  bytes,
  created_at_ms: createdAtMs,
  expires_at_ms: endMs,
}: BatchFile) {
  return {
    id,
    object: 'file',
    bytes: bytes!,
    created_at: Math.floor(createdAtMs / 1_000),
    expires_at: Math.floor(endMs / 1_000),
    filename: name,
    purpose: 'batch',
    status: 'processed',
  };
}
