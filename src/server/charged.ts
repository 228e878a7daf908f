// One handler for all endpoints that are charged for.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HeaderNames } from '../terms/header-names.ts';
import { snapshotOf } from '../gateway/gateway.ts';
import { run } from '../gateway/run.ts';
import type { Endpoint } from '../gateway/stages.ts';
import { type Handler, keyOf, type ServerContext } from './context.ts';
import { httpClient } from './http-client.ts';
import { noteAnswer } from './kept-answer.ts';
import { baseUrlOf } from './server-url.ts';
import { readJsonBody } from './middleware/body.ts';
import { addAnthropicsId } from './middleware/trace.ts';
import { SpooledBody } from './upload-form.ts';

/**
 * Returns the handler of a charged endpoint. `readBody` returns the body as JSON, whatever form it
 * arrived in.
 */
export function chargedHandler(
  { gateway, largeBodies }: ServerContext,
  endpoint: Endpoint,
  readBody: (request: FastifyRequest) => unknown = readJsonBody,
): Handler {
  const wishNames = wishHeaderNames(gateway.headers);
  return (request, reply) =>
    request.body instanceof SpooledBody
      ? answerUpload(request.body, request, reply)
      : answer(request, reply);

  async function answerUpload(
    body: SpooledBody,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    body.isTaken = true;
    try {
      return await answer(request, reply);
    } finally {
      await body.close();
    }
  }

  async function answer(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const nextTurn = largeBodies.turnsOf(request.body);
    if (nextTurn) await nextTurn();
    // A client that left before anything ran pays nothing. Neither does one that was already
    // refused because its body came too late.
    if (!request.raw.socket.writable) return reply.hijack();
    const client = httpClient(reply, {
      stallMs: gateway.config.tuning.stallMs,
      clock: gateway.clock,
    });
    const { path } = request.requestRecord;
    addAnthropicsId(request, reply);
    const body = await readBody(request);
    if (nextTurn) await nextTurn();
    const { bodies } = request;
    const { spans } = request.requestRecord;
    spans?.noteAsked(body);
    spans?.enter();
    const running = run(
      snapshotOf(gateway),
      endpoint,
      {
        caller: {
          requestId: request.requestId,
          arrivedAtMs: request.arrivedAtMs,
          key: keyOf(request),
          baseUrl: baseUrlOf(gateway.config.server.public_url, request),
          nextTurn,
          record: request.requestRecord,
        },
        method: request.method,
        path,
        wishes: {
          idempotencyKey: headerOf(request, 'idempotency-key'),
          cache: headerOf(request, wishNames.cache),
          streamComments: headerOf(request, wishNames.streamComments),
          tags: headerOf(request, wishNames.tags),
        },
        versionHeaders: headersOf(request, versionHeaders),
        forwardable: headersOf(request, forwardedHeaders),
        sessionId:
          sessionHeaders.map((name) => headerOf(request, name)).find((id) => id?.trim()) ?? null,
        body,
        upload: request.upload,
      },
      bodies ? noteAnswer(client, bodies) : client,
    );
    await (spans ? running.finally(() => spans.leave()) : running).catch((error: unknown) => {
      // The stream has begun, so no error can be written into it. Cutting it off tells its client
      // that it failed.
      if (!reply.sent) throw error;
      gateway.log.error(
        { err: error, request_id: request.requestId },
        'a stream failed by our own fault',
      );
      reply.raw.destroy();
    });
    return reply;
  }
}

/** Headers in which Claude Code, Codex and opencode send the id of a conversation. */
const sessionHeaders = [
  'x-claude-code-session-id',
  'session-id',
  'session_id',
  'x-session-id',
  'x-session-affinity',
];
/** Headers that are sent on to providers that know them. */
export const forwardedHeaders = ['anthropic-beta'];
/** Headers on which the meaning of a body depends. */
export const versionHeaders = ['anthropic-version', 'anthropic-beta'];

/** The request headers that carry the service's name, in lower case. */
function wishHeaderNames({ cache, streamComments, tags }: HeaderNames) {
  return {
    cache: cache.toLowerCase(),
    streamComments: streamComments.toLowerCase(),
    tags: tags.toLowerCase(),
  };
}

/** The headers of `names` that were sent. */
export function headersOf(
  request: FastifyRequest,
  names: readonly string[],
): Record<string, string> {
  const sent: Record<string, string> = {};
  for (const name of names) {
    const value = headerOf(request, name);
    if (value !== undefined) sent[name] = value;
  }
  return sent;
}

export function headerOf(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return value === undefined ? undefined : String(value);
}
