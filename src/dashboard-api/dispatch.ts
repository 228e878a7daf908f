// Runs every endpoint of the dashboard's contract in the same steps: origin, session, access,
// validation, handler. A handler's changes are written together with their audit rows.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { TObject } from 'typebox';
import { AuditedChanges } from '../domain/audit/audited-changes.ts';
import { invalidRequest } from '../canonical/errors.ts';
import { contract } from '../dashboard-contract/contract.ts';
import type { Access, Endpoint, EndpointName } from '../dashboard-contract/endpoint.ts';
import { compileSchema } from '../lib/schema.ts';
import type { Session } from '../domain/users/session.ts';
import type { DashboardContext } from './context.ts';
import { checkContentType, readJsonBody } from '../server/middleware/body.ts';
import { nulRefused } from '../server/middleware/refuse-nul.ts';
import { authHandlers } from './auth.ts';
import { callerOf, checkOrigin, type Caller } from './access.ts';
import type { AnyHandler, Changed, Handlers } from './handlers.ts';
import { billingHandlers } from './billing.ts';
import { keysHandlers } from './keys.ts';
import { modelsHandlers } from './models.ts';
import { operatorAccountsHandlers } from './operator-accounts.ts';
import { operatorKeysHandlers } from './operator-keys.ts';
import { operatorPaymentsHandlers } from './operator-payments.ts';
import { operatorServiceHandlers } from './operator-service.ts';
import { operatorUsersHandlers } from './operator-users.ts';
import { overviewHandlers } from './overview.ts';
import { operatorHandlers } from './operator.ts';
import { sessionHandlers } from './session.ts';
import { settingsHandlers } from './settings.ts';
import { usageHandlers } from './usage.ts';

export const dashboardApiPath = '/dashboard-api';

/** Bodies are forms of a few fields; some are read before anybody has signed in. */
const bodyBytesMax = 64 * 1024;

const handlers: Handlers<typeof contract> = {
  ...billingHandlers,
  ...keysHandlers,
  ...modelsHandlers,
  ...authHandlers,
  ...operatorHandlers,
  ...overviewHandlers,
  ...sessionHandlers,
  ...settingsHandlers,
  ...usageHandlers,
  ...operatorAccountsHandlers,
  ...operatorKeysHandlers,
  ...operatorPaymentsHandlers,
  ...operatorServiceHandlers,
  ...operatorUsersHandlers,
};

export function addEndpoints(app: FastifyInstance, context: DashboardContext): void {
  for (const [name, endpoint] of Object.entries(contract) as [EndpointName, Endpoint][]) {
    const [method, path] = name.split(' ') as ['GET' | 'POST' | 'PATCH' | 'DELETE', string];
    const handler = (handlers as Readonly<Record<string, AnyHandler>>)[name]!;
    const readQuery = queryReader(endpoint.query);
    const readBody = bodyReader(endpoint.body);
    app.route({
      method,
      url: dashboardApiPath + path,
      config: { auth: 'none', bodyBytesMax },
      onRequest: [
        ...(method === 'GET' ? [] : [checkOrigin(context), checkContentType]),
        admitCaller(context, endpoint.access),
      ],
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

/** Runs before the body is read: a stranger cannot make the gateway read one. */
export function admitCaller(context: DashboardContext, access: Access) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    request.caller = await callerOf(context, { request, reply, access });
  };
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set for requests to the dashboard's API. */
    caller: Caller | null;
  }
}

function actorOf(request: FastifyRequest, user: Pick<Session, 'userId' | 'email'> | null) {
  const { userId: id, email: name } = user ?? { userId: 'nobody', email: 'not signed in' };
  return { kind: 'user', id, name, address: request.ip } as const;
}

const emptyObject = {};

function bodyReader(schema: TObject | undefined): (request: FastifyRequest) => unknown {
  if (!schema) return () => emptyObject;
  const check = compileSchema(schema);
  return (request) => checked(check, readJsonBody(request));
}

/**
 * Converts query texts to the numbers, booleans and lists that the schema asks for, then checks
 * them. Throws ApiError `invalid_request`.
 */
export function queryReader(schema: TObject | undefined): (request: FastifyRequest) => unknown {
  if (!schema) return () => emptyObject;
  const check = compileSchema(schema);
  const types = schema.properties as Record<string, { readonly type?: string }>;
  return (request) => {
    const query = request.query as Record<string, string | string[]>;
    const known = Object.entries(query).filter(([name, value]) => name in types && value !== '');
    return checked(
      check,
      Object.fromEntries(known.map(([name, value]) => [name, fromText(types[name]!.type, value)])),
    );
  };
}

function fromText(type: string | undefined, value: string | string[]): unknown {
  if (type === 'array') return [value].flat();
  if (typeof value !== 'string') return value;
  if ((type === 'integer' || type === 'number') && /^-?\d+(\.\d+)?$/.test(value))
    return Number(value);
  if (type === 'boolean' && /^(true|false)$/.test(value)) return value === 'true';
  return value;
}

/**
 * Returns the path of the first value or name with a NUL character; null when there is none. Values
 * of the contract are shallow.
 */
function findNul(value: unknown, path = ''): string | null {
  if (typeof value === 'string') return value.includes('\0') ? path : null;
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, child] of Object.entries(value)) {
    const found = name.includes('\0')
      ? path
      : findNul(child, path === '' ? name : `${path}.${name}`);
    if (found !== null) return found;
  }
  return null;
}

function checked(check: ReturnType<typeof compileSchema>, value: unknown): unknown {
  const problem = check(value);
  if (!problem) {
    const nul = findNul(value);
    if (nul !== null) throw nulRefused(nul);
    return value;
  }
  const subject = problem.path === '' ? 'The request' : `\`${problem.path}\``;
  throw invalidRequest(problem.path === '' ? null : problem.path, `${subject} ${problem.message}.`);
}
