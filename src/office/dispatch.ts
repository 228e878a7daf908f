// Runs every endpoint of the dashboard's contract in the same steps: origin, session, access,
// validation, confirmation, handler. A handler's changes are written together with their audit rows.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AuditedChanges } from '../domain/audit/audited-changes.ts';
import { bodySchemaOf } from './contract/common.ts';
import { contract } from './contract/contract.ts';
import type { Endpoint, EndpointName } from './contract/endpoint.ts';
import type { Session } from '../domain/users/session.ts';
import { dashboardApiPath } from '../server/context.ts';
import { checkContentType } from '../server/middleware/body.ts';
import type { MemoryWait } from '../server/middleware/wait-for-memory.ts';
import { analyticsHandlers } from './analytics.ts';
import { authHandlers } from './auth.ts';
import { admitCaller, checkOrigin } from './access.ts';
import type { AnyHandler, Changed, Handlers } from './handlers.ts';
import { budgetsHandlers } from './budgets.ts';
import { billingHandlers } from './billing.ts';
import { compressJson } from './compress.ts';
import { checkConfirmation } from './confirmation.ts';
import type { DashboardContext } from './context.ts';
import { keysHandlers } from './keys.ts';
import { modelsHandlers } from './models.ts';
import { operatorAccountsHandlers } from './operator-accounts.ts';
import { operatorAdminKeysHandlers } from './operator-admin-keys.ts';
import { operatorHomeHandlers } from './operator-home.ts';
import { operatorKeysHandlers } from './operator-keys.ts';
import { operatorPaymentsHandlers } from './operator-payments.ts';
import { operatorServiceHandlers } from './operator-service.ts';
import { operatorUsersHandlers } from './operator-users.ts';
import { overviewHandlers } from './overview.ts';
import { operatorHandlers } from './operator.ts';
import { bodyReader, queryReader } from './read-input.ts';
import { requestHandlers } from './requests.ts';
import { searchHandlers } from './search.ts';
import { sessionHandlers } from './session.ts';
import { settingsHandlers } from './settings.ts';
import { addStreams } from './streams.ts';
import { telemetryHandlers } from './telemetry.ts';
import { usageHandlers } from './usage.ts';

/** Bodies are forms of a few fields; some are read before anybody has signed in. */
const bodyBytesMax = 64 * 1024;

const handlers: Handlers<typeof contract> = {
  ...analyticsHandlers,
  ...billingHandlers,
  ...budgetsHandlers,
  ...keysHandlers,
  ...modelsHandlers,
  ...authHandlers,
  ...operatorHandlers,
  ...overviewHandlers,
  ...requestHandlers,
  ...searchHandlers,
  ...sessionHandlers,
  ...settingsHandlers,
  ...telemetryHandlers,
  ...usageHandlers,
  ...operatorAccountsHandlers,
  ...operatorAdminKeysHandlers,
  ...operatorHomeHandlers,
  ...operatorKeysHandlers,
  ...operatorPaymentsHandlers,
  ...operatorServiceHandlers,
  ...operatorUsersHandlers,
};

/** Registers every URL of the dashboard's API. */
export function addDashboardApi(
  app: FastifyInstance,
  context: DashboardContext,
  memoryWait: MemoryWait,
): void {
  app.decorateRequest('caller', null);
  addEndpoints(app, context);
  addStreams(app, context, memoryWait);
}

function addEndpoints(app: FastifyInstance, context: DashboardContext): void {
  for (const [name, endpoint] of Object.entries(contract) as [EndpointName, Endpoint][]) {
    const [method, path] = name.split(' ') as ['GET' | 'POST' | 'PATCH' | 'DELETE', string];
    const handler = (handlers as Readonly<Record<string, AnyHandler>>)[name]!;
    const readQuery = queryReader(endpoint.query);
    const readBody = bodyReader(bodySchemaOf(endpoint));
    app.route({
      method,
      url: dashboardApiPath + path,
      config: { auth: 'none', bodyBytesMax },
      onRequest: [
        ...(method === 'GET' ? [] : [checkOrigin(context), checkContentType]),
        admitCaller(context, endpoint.access),
      ],
      onSend: compressJson,
      handler: async (request, reply) => {
        const { session, account } = request.caller!;
        const params = request.params as Record<string, string>;
        const changes = new AuditedChanges({
          database: context.database,
          actorOf: (by) => actorOf(request, session ?? by),
          accountId: account?.accountId ?? null,
          clock: context.gateway.clock,
        });
        const given = { query: readQuery(request), body: readBody(request), session, account };
        if (endpoint.confirmed)
          await checkConfirmation(context, {
            session: session!,
            body: given.body as object,
            request,
            reply,
          });
        const result = await handler({
          context,
          params,
          ...given,
          changes,
          request,
          reply,
        } as Parameters<AnyHandler>[0]);
        return method === 'GET' ? result : (result as Changed<unknown>).output;
      },
    });
  }
}

function actorOf(request: FastifyRequest, user: Pick<Session, 'userId' | 'email'> | null) {
  const { userId: id, email: name } = user ?? { userId: 'nobody', email: 'not signed in' };
  return { kind: 'user', id, name, address: request.ip } as const;
}
