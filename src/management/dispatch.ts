// Serves every call of the contract at each door that has it: the dashboard's, which a session
// opens, and the admin API's, which an admin key opens. Each call takes the same steps: who calls,
// may they, is the input valid, confirmation, handler.
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import type { MemoryWait } from '../server/middleware/wait-for-memory.ts';
import type { DoorContext } from './context.ts';
import type { Done } from './contract/common.ts';
import { contract } from './contract/contract.ts';
import { type Endpoint, isList } from './contract/endpoint.ts';
import type { AnyHandler, Call } from './handlers.ts';
import { openKeyDoor } from './key-door.ts';
import { openSessionDoor } from './session-door.ts';
import { addStreams } from './streams.ts';

/** The answer of a call whose handler returns nothing. */
const done: Static<typeof Done> = { ok: true };

const noPage = { limit: 0, cursor: null };

/** Bodies are forms of a few fields; some are read before anybody has signed in. */
const bodyBytesMax = 64 * 1024;

/** Loaded with the first call, because each thread keeps the code in memory. */
const loadHandlers = () => import('./all-handlers.ts');

/** Registers every URL of the dashboard's API and of the admin API. */
export function addManagement(
  app: FastifyInstance,
  context: DoorContext,
  memoryWait: MemoryWait,
): void {
  const doors = [openSessionDoor(app, context), openKeyDoor(app, context)];
  for (const { paging, calls } of doors)
    for (const { method, url, declared, onRequest, onSend, ...call } of calls) {
      const endpoint = (contract as Readonly<Record<string, Endpoint>>)[declared]!;
      const list = isList(endpoint) ? endpoint : null;
      app.route({
        method,
        url,
        config: { auth: 'none', bodyBytesMax },
        onRequest,
        ...(onSend && { onSend }),
        handler: async (request, reply) => {
          const given = { query: call.readQuery(request), body: call.readBody(request) };
          const listed = list ? paging.read(given.query as object) : { page: noPage };
          const caller = await call.enter({ request, reply, body: given.body });
          const params = request.params as Record<string, string>;
          const all = { context, params, ...given, ...listed, ...caller, request, reply };
          const { handlers } = await loadHandlers();
          const handler = (handlers as unknown as Readonly<Record<string, AnyHandler>>)[declared]!;
          const result = await handler(all as Call<string, Endpoint>);
          if (caller.once.isRepeated)
            reply.header(context.gateway.headers.cache, 'idempotent-replay');
          if (list) return paging.write(list, result, listed.page);
          return result === undefined ? done : result;
        },
      });
    }
  addStreams(app, context, memoryWait);
}
