// Serves the admin API by its contract. Each request is checked for key, address, scope and input,
// in this order. A change is made by the functions in `changes/`, which the command line and the
// dashboard use too, with the admin key as its actor in the audit log.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { adminContract } from '../contract/admin/contract.ts';
import type { AdminEndpoint } from '../contract/admin/endpoint.ts';
import { invalidRequest } from '../../canonical/errors.ts';
import type { DashboardContext } from '../context.ts';
import type { EndpointName } from '../contract/endpoint.ts';
import { bodyReader, queryReader } from '../read-input.ts';
import { AuditedChanges } from '../../domain/audit/audited-changes.ts';
import { KeptAnswers, removeExpiredAnswers } from '../../domain/idempotency/kept-answers.ts';
import { nameRequest, type RequestName } from '../../domain/idempotency/request-name.ts';
import type { AdminKey } from '../../domain/keys/admin-keys.ts';
import { adminApiPath } from '../../server/context.ts';
import { checkContentType } from '../../server/middleware/body.ts';
import { accountsHandlers } from './accounts.ts';
import { admitAdmin } from './admit.ts';
import type { AdminCall, AdminHandlers, AnyAdminHandler } from './handlers.ts';
import { keysHandlers } from './keys.ts';
import { Once } from './once.ts';
import { pricesHandlers } from './prices.ts';
import { reportsHandlers } from './reports.ts';
import { telemetryHandlers } from './telemetry.ts';
import { usersHandlers } from './users.ts';

const bodyBytesMax = 64 * 1024;
const removeEveryMs = 60_000;

const handlers: AdminHandlers<typeof adminContract> = {
  ...accountsHandlers,
  ...keysHandlers,
  ...usersHandlers,
  ...reportsHandlers,
  ...pricesHandlers,
  ...telemetryHandlers,
};

/** Registers every URL of the admin API. */
export function addAdminApi(app: FastifyInstance, context: DashboardContext): void {
  const { secrets, gateway } = context;
  const onError = (err: unknown) => gateway.log.error({ err }, 'stored admin answers failed');
  const answers = new KeptAnswers({ secrets, onError });
  const admit = admitAdmin(context);
  app.decorateRequest('adminKey', null);
  for (const [name, endpoint] of Object.entries(adminContract) as [EndpointName, AdminEndpoint][]) {
    const [method, path] = name.split(' ') as ['GET' | 'POST' | 'PATCH' | 'DELETE', string];
    app.route({
      method,
      url: adminApiPath + path,
      config: { auth: 'none', bodyBytesMax },
      onRequest: [admit(endpoint.scope), ...(method === 'GET' ? [] : [checkContentType])],
      handler: serve({ name, endpoint, context, answers }),
    });
  }
  if (context.threads.isFirst) removeRegularly(app, context, onError);
}

type Served = {
  readonly name: EndpointName;
  readonly endpoint: AdminEndpoint;
  readonly context: DashboardContext;
  readonly answers: KeptAnswers;
};

function serve({ name, endpoint, context, answers }: Served) {
  const handler = (handlers as Readonly<Record<string, AnyAdminHandler>>)[name]!;
  const readQuery = queryReader(endpoint.query, { isStrict: true });
  const readBody = bodyReader(endpoint.body);
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const key = request.adminKey!;
    const given = { query: readQuery(request), body: readBody(request) };
    const changes = changesOf(context, { key, address: request.ip });
    const once = new Once({ context, changes, answers, name: nameOf(endpoint, request, given) });
    const params = request.params as Record<string, string>;
    const { ip: address } = request;
    const call = { context, params, ...given, changes, address, once } as AdminCall<
      string,
      AdminEndpoint
    >;
    const answer = await handler(call);
    if (once.isRepeated) reply.header(context.gateway.headers.cache, 'idempotent-replay');
    return answer;
  };
}

function changesOf(
  { database, gateway: { clock } }: DashboardContext,
  { key, address }: { readonly key: AdminKey; readonly address: string },
): AuditedChanges {
  const actor = { kind: 'admin-key', id: key.id, name: key.name, address } as const;
  return new AuditedChanges({ database, actorOf: () => actor, clock });
}

/** Throws ApiError 400 for an unusable Idempotency-Key, or without one that the endpoint requires. */
function nameOf(
  { idempotency }: AdminEndpoint,
  request: FastifyRequest,
  { body }: { readonly body: unknown },
): RequestName | null {
  if (idempotency === undefined) return null;
  const sent = request.headers['idempotency-key'];
  if (sent === undefined && idempotency === 'required')
    throw invalidRequest(
      'Idempotency-Key',
      'Send the header `Idempotency-Key`, such as the number of the order: a repeated request is then booked once.',
    );
  return nameRequest({
    keyId: request.adminKey!.id,
    generation: 0,
    idempotencyKey: typeof sent === 'string' ? sent : undefined,
    method: request.method,
    path: request.url.split('?')[0]!,
    body,
  });
}

function removeRegularly(
  app: FastifyInstance,
  { database, gateway: { clock } }: DashboardContext,
  onError: (error: unknown) => void,
): void {
  const stop = clock.every(
    removeEveryMs,
    () => void removeExpiredAnswers(database, clock.nowMs()).catch(onError),
  );
  app.addHook('onClose', async () => stop());
}
