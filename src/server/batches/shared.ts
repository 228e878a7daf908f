// Shared by the endpoints of batches: owners, pages of a list, and the context that lines inherit.
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ApiError, invalidRequest, noSuch } from '../../canonical/errors.ts';
import type { BatchFile, Owner } from '../../domain/batches/batch-files.ts';
import { nameRequest, type RequestName } from '../../domain/idempotency/request-name.ts';
import type { LineContext } from '../../gateway/batches/line.ts';
import { headerOf, headersOf, versionHeaders } from '../charged.ts';
import { keyOf, publicUrlOf, type ServerContext } from '../context.ts';
import { readLimit } from '../page-limit.ts';
import { baseUrlOf } from '../server-url.ts';

/** Results and files are kept for as long, unless their owner asks for less. */
export const keptDays = 30;

export function ownerOf(request: FastifyRequest): Owner {
  const { accountId, mode } = keyOf(request);
  return { accountId, mode };
}

export function idOf({ params }: FastifyRequest): string {
  return (params as { readonly id: string }).id;
}

/** The same for what does not exist and what belongs to another account. */
export function notFound(kind: 'batch' | 'file'): ApiError {
  return noSuch(`${kind} for this key's account and mode`);
}

/** Returns the file with this id. Throws ApiError 404. */
export async function findFile(
  { gateway, batches }: ServerContext,
  request: FastifyRequest,
  id: string,
): Promise<BatchFile> {
  const file = await batches.parts.files.find(ownerOf(request), id, gateway.clock.nowMs());
  if (!file) throw notFound('file');
  return file;
}

export function readQuery(
  { query }: FastifyRequest,
  { limitMax }: { readonly limitMax: number },
): Readonly<Record<string, string | undefined>> & { readonly limit: number } {
  const texts = query as Readonly<Record<string, string | undefined>>;
  for (const [name, value] of Object.entries(texts))
    if (typeof value !== 'string')
      throw invalidRequest(name, `\`${name}\` is given twice. Give it once.`);
  const limit = readLimit(texts.limit, limitMax);
  return { ...texts, limit } as Readonly<Record<string, string | undefined>> & { limit: number };
}

/** A list as OpenAI has it. */
export function listOf<Item extends { readonly id: string }>(
  data: readonly Item[],
  hasMore: boolean,
) {
  const [first, last] = [data[0], data.at(-1)];
  return {
    object: 'list',
    data,
    first_id: first?.id ?? null,
    last_id: last?.id ?? null,
    has_more: hasMore,
  };
}

export function contextOf({ gateway }: ServerContext, request: FastifyRequest): LineContext {
  const { config, headers } = gateway;
  return {
    baseUrl: baseUrlOf(config.server.public_url, request),
    versionHeaders: headersOf(request, versionHeaders),
    tags: headerOf(request, headers.tags.toLowerCase()),
  };
}

export function nameOf(request: FastifyRequest, body: unknown): RequestName | null {
  const { id: keyId, cacheGeneration: generation } = keyOf(request);
  const idempotencyKey = headerOf(request, 'idempotency-key');
  const { method } = request;
  const path = publicUrlOf(request);
  return nameRequest({ keyId, generation, idempotencyKey, method, path, body });
}

export function sendLines(
  reply: FastifyReply,
  lines: AsyncIterable<string | Buffer>,
  type: string,
): FastifyReply {
  return reply.header('content-type', type).send(Readable.from(lines, { objectMode: false }));
}
