// The handlers that OpenAI's and Anthropic's forms of batches share.
import type { FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import { invalidRequest } from '../../canonical/errors.ts';
import type { Batch, Counts } from '../../domain/batches/batch-store.ts';
import type { Page } from '../../domain/batches/page.ts';
import { type AskedBatch, makeBatch } from '../../gateway/batches/make-batch.ts';
import { compileSchema } from '../../lib/schema.ts';
import type { BatchForm } from '../../terms/batch.ts';
import { keyOf, type Handler, type ServerContext } from '../context.ts';
import { readJsonBody } from '../middleware/body.ts';
import { contextOf, idOf, nameOf, notFound, ownerOf } from './shared.ts';

type Form<Body, Shown> = {
  readonly form: BatchForm;
  readonly schema: TSchema;
  /** The most values in a body. Left out: as in any request. */
  readonly valuesMax?: number;
  /** Returns what is asked for. May throw ApiError. */
  readonly read: (
    body: Body,
    request: FastifyRequest,
  ) => Promise<Pick<AskedBatch, 'endpoint' | 'fileId' | 'metadata' | 'lines' | 'keptForMs'>>;
  /** Returns a batch as this form shows it. */
  readonly write: (batch: Batch, counts: Counts, request: FastifyRequest) => Shown;
};

export function batchHandlers<Body, Shown>(
  context: ServerContext,
  { form, schema, valuesMax, read, write }: Form<Body, Shown>,
) {
  const { gateway } = context;
  const { parts, queue } = context.batches;
  const findProblem = compileSchema(schema);
  const show = async (batch: Batch, request: FastifyRequest) =>
    write(batch, await parts.store.countsOf(batch), request);

  const create: Handler = async (request, reply) => {
    const body = readJsonBody(request, valuesMax);
    const problem = findProblem(body);
    if (problem)
      throw invalidRequest(
        problem.path || null,
        `${problem.path || 'the body'} ${problem.message}`,
      );
    const key = keyOf(request);
    const name = nameOf(request, body);
    reply.headers(await gateway.rateLimits.takeRequest(key));
    const { batch, isReplay } = await makeBatch(parts, {
      ...(await read(body as Body, request)),
      key,
      form,
      context: contextOf(context, request),
      name,
    });
    if (isReplay) reply.header(gateway.headers.cache, 'idempotent-replay');
    queue.wake();
    return show(batch, request);
  };

  /** The same 404 for a batch that does not exist and one of another account. */
  const find = async (request: FastifyRequest): Promise<Batch> => {
    const batch = await parts.store.find(ownerOf(request), form, idOf(request));
    if (!batch) throw notFound('batch');
    return batch;
  };

  const list = async (request: FastifyRequest, page: Page) => {
    const found = await parts.store.list(ownerOf(request), form, page);
    if (!found) throw notFound('batch');
    const shown = found.slice(0, page.limit);
    if (page.isBackward) shown.reverse();
    const data = await Promise.all(shown.map((batch) => show(batch, request)));
    return { data, hasMore: found.length > page.limit };
  };

  const get: Handler = async (request) => show(await find(request), request);

  const cancel: Handler = async (request) => {
    const { id } = await find(request);
    await queue.cancel(id);
    return show(await find(request), request);
  };

  return { create, find, list, get, cancel };
}
