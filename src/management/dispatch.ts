// Serves every call of the contract at each door that has it: the dashboard's, which a session
// opens, and the admin API's, which an admin key opens. Each call takes the same steps: who calls,
// may they, is the input valid, confirmation, handler.
import type { FastifyInstance } from 'fastify';
import type { MemoryWait } from '../server/middleware/wait-for-memory.ts';
import { accountsHandlers } from './accounts/accounts.ts';
import { adminKeysHandlers } from './accounts/admin-keys.ts';
import { analyticsHandlers } from './reports/analytics.ts';
import { auditHandlers } from './accounts/audit-log.ts';
import { authHandlers } from './sign-in/auth.ts';
import { billingHandlers } from './accounts/billing.ts';
import type { DoorContext } from './context.ts';
import { contract } from './contract/contract.ts';
import { type Endpoint, isList } from './contract/endpoint.ts';
import type { AnyHandler, Call, Handlers } from './handlers.ts';
import { openKeyDoor } from './key-door.ts';
import { keysHandlers } from './accounts/keys.ts';
import { membersHandlers } from './accounts/members.ts';
import { modelsHandlers } from './reports/models.ts';
import { overviewHandlers } from './reports/overview.ts';
import { paymentsHandlers } from './accounts/payments.ts';
import { passkeysHandlers } from './sign-in/passkeys.ts';
import { profileHandlers } from './sign-in/profile.ts';
import { reportsHandlers } from './reports/reports.ts';
import { requestHandlers } from './reports/requests.ts';
import { searchHandlers } from './reports/search.ts';
import { serviceHandlers } from './reports/service.ts';
import { openSessionDoor } from './session-door.ts';
import { sessionHandlers } from './sign-in/session.ts';
import { addStreams } from './streams.ts';
import { telemetryHandlers } from './accounts/telemetry.ts';
import { usageHandlers } from './reports/usage.ts';
import { usersHandlers } from './accounts/users.ts';

const noPage = { limit: 0, cursor: null };

/** Bodies are forms of a few fields; some are read before anybody has signed in. */
const bodyBytesMax = 64 * 1024;

const handlers: Handlers<typeof contract> = {
  ...accountsHandlers,
  ...adminKeysHandlers,
  ...analyticsHandlers,
  ...auditHandlers,
  ...authHandlers,
  ...billingHandlers,
  ...keysHandlers,
  ...membersHandlers,
  ...modelsHandlers,
  ...overviewHandlers,
  ...passkeysHandlers,
  ...paymentsHandlers,
  ...profileHandlers,
  ...reportsHandlers,
  ...requestHandlers,
  ...searchHandlers,
  ...serviceHandlers,
  ...sessionHandlers,
  ...telemetryHandlers,
  ...usageHandlers,
  ...usersHandlers,
};

/** Registers every URL of the dashboard's API and of the admin API. */
export function addManagement(
  app: FastifyInstance,
  context: DoorContext,
  memoryWait: MemoryWait,
): void {
  const doors = [openSessionDoor(app, context), openKeyDoor(app, context)];
  for (const { paging, calls } of doors)
    for (const { method, url, declared, onRequest, onSend, ...call } of calls) {
      const handler = (handlers as unknown as Readonly<Record<string, AnyHandler>>)[declared]!;
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
          const result = await handler(all as Call<string, Endpoint>);
          if (caller.once.isRepeated)
            reply.header(context.gateway.headers.cache, 'idempotent-replay');
          return list ? paging.write(list, result, listed.page) : result;
        },
      });
    }
  addStreams(app, context, memoryWait);
}
