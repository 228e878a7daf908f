// Sends every error with the code of the one registry: in the format of its endpoint, or as a problem
// (RFC 9457) from the dashboard's API and the admin API.
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../canonical/errors.ts';
import { NulInText } from '../../db/text-values.ts';
import { explainDatabaseOutage } from '../../gateway/unavailable.ts';
import { clientFormatAt } from '../../formats/registry.ts';
import type { Logger } from '../../lib/log.ts';
import { adminApiPath, dashboardApiPath, publicUrlOf } from '../context.ts';
import { problemMediaType, writeProblem } from '../problem.ts';
import { nulRefused } from './refuse-nul.ts';

/**
 * A Fastify error handler. An error that is not an ApiError is our own fault: its cause is logged,
 * and the client sees none of it.
 */
export function errorHandler(log: Logger) {
  return async (
    error: FastifyError | ApiError | Error,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply> => {
    const apiError = error instanceof ApiError ? error : fromFastify(error);
    if (apiError.code === 'internal_error')
      log.error({ err: error, request_id: request.requestId }, 'a request failed by our own fault');
    return sendError(apiError, request, reply);
  };
}

export function sendError(
  error: ApiError,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { requestId, requestRecord, server } = request;
  const url = publicUrlOf(request);
  const isProblem = hasProblems(url);
  const context = { requestId, publicUrl: server.publicUrl };
  requestRecord.noteError(error);
  // Anthropic's SDK reads the id under this name. The handler sets it on answers, but a 401 or 415
  // never reaches the handler.
  if (clientFormatAt(url).name === 'messages') reply.header('request-id', requestId);
  // RFC 9110 asks for it with every 401.
  if (error.status === 401) reply.header('www-authenticate', 'Bearer');
  // Claude Code sends a request with a revoked key again for minutes otherwise.
  if (error.status === 401 && !isProblem) reply.header('x-should-retry', 'false');
  if (error.retryAfterSeconds !== null)
    reply.header('retry-after', String(error.retryAfterSeconds));
  const body = JSON.stringify(
    (isProblem ? writeProblem : clientFormatAt(url).writeError)(error, context),
  );
  request.bodies?.noteAnswer(body);
  return reply
    .code(error.status)
    .headers(error.headers)
    .header('content-type', isProblem ? problemMediaType : 'application/json; charset=utf-8')
    .send(body);
}

/** The dashboard's playground has the URLs of the public API. */
function hasProblems(url: string): boolean {
  return url.startsWith(`${dashboardApiPath}/`) || url.startsWith(`${adminApiPath}/`);
}

/** Errors that Fastify itself raises before a handler runs. */
export function fromFastify(error: FastifyError | Error): ApiError {
  if (
    'statusCode' in error &&
    error.statusCode !== undefined &&
    error.statusCode >= 400 &&
    error.statusCode < 500
  ) {
    return new ApiError(
      'invalid_request',
      'The request cannot be read: its path, headers or body are malformed.',
      { cause: error },
    );
  }
  if (error instanceof NulInText) return nulRefused();
  const explained = explainDatabaseOutage(error);
  if (explained instanceof ApiError) return explained;
  return new ApiError(
    'internal_error',
    'The gateway failed. Nothing was charged; retry, and report the request id if it persists.',
    { cause: error },
  );
}
