// The endpoints that are charged for: one handler for all.
import type { FastifyRequest } from 'fastify';
import type { Endpoint } from '../gateway/endpoint.ts';
import { run } from '../gateway/run.ts';
import type { Handler, ServerContext } from './context.ts';
import { keyOf, publicUrlOf } from './context.ts';
import { httpClient } from './http-client.ts';
import { linkBaseOf } from './image-files.ts';
import { readJsonBody } from './middleware/body.ts';
import { idHeaderNames } from './middleware/trace.ts';

/** `readBody`: what the body says as JSON, whatever form it came in. */
export function runEndpoint(
  { gateway, largeBodies, lane }: ServerContext,
  endpoint: Endpoint,
  readBody: (request: FastifyRequest) => unknown = readJsonBody,
): Handler {
  const cacheHeader = gateway.headers.cache.toLowerCase();
  return async (request, reply) => {
    const turn = largeBodies.turn(request.body);
    if (turn) await turn;
    // Whoever has left before anything ran pays nothing; nor does who was told that the body came too late, and sent the rest all the same.
    if (!request.raw.socket.writable) return reply.hijack();
    const client = httpClient(reply, { stallMs: gateway.config.limits.stream_stall_ms, clock: gateway.clock });
    const path = publicUrlOf(request);
    for (const name of idHeaderNames(path)) reply.header(name, request.requestId);
    const running = run(
      gateway,
      endpoint,
      {
        requestId: request.requestId,
        key: keyOf(request),
        method: request.method,
        path,
        idempotencyKey: headerOf(request, 'idempotency-key'),
        cacheHeader: headerOf(request, cacheHeader),
        versionHeaders: headersOf(request, versionHeaders),
        baseUrl: linkBaseOf(gateway.config.server.public_url, request),
        body: await readBody(request),
        forwardable: headersOf(request, forwardedHeaders),
        trace: request.trace,
      },
      client,
    );
    const known = await running.catch((error: unknown) => {
      // Nobody could put an error into a stream that has begun by then: it is cut off, which its client takes for a failure.
      if (!reply.sent) throw error;
      gateway.log.error({ err: error, request_id: request.requestId }, 'a stream failed by our own fault');
      reply.raw.destroy();
      return null;
    });
    if (known) lane.learn(request, known);
    return reply;
  };
}

const forwardedHeaders = ['anthropic-beta'];
/** A body may mean something else under another version. */
const versionHeaders = ['anthropic-version', 'anthropic-beta'];

/** All that a request's answer may depend on, in lower case. `cacheHeader`: its name, as configured. */
export function answerHeaderNames(cacheHeader: string): readonly string[] {
  const ofKey = ['authorization', 'x-api-key'];
  const ofBody = ['content-type', 'content-encoding', 'content-length', 'transfer-encoding'];
  return [...ofKey, ...ofBody, ...versionHeaders, 'idempotency-key', cacheHeader.toLowerCase()];
}

/** Those of them that were sent. */
function headersOf(request: FastifyRequest, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (name in request.headers ? [[name, headerOf(request, name)!]] : [])));
}

function headerOf(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return value === undefined ? undefined : String(value);
}
