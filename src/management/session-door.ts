// The door of the dashboard's API, which a session opens. Each call takes the same steps: origin,
// session, access, validation, confirmation, handler.
import { operatorsPlace } from '../terms/alert-events.ts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AuditedChanges } from '../domain/audit/audited-changes.ts';
import type { Session } from '../domain/users/session.ts';
import { dashboardApiPath } from '../server/context.ts';
import { checkContentType } from '../server/middleware/body.ts';
import { admitCaller, checkOrigin } from './access.ts';
import { compressJson } from './compress.ts';
import { checkConfirmation } from './sign-in/confirmation.ts';
import { requireAccount } from './changes/accounts.ts';
import type { DoorContext } from './context.ts';
import { bodySchemaOf } from './contract/common.ts';
import { dashboardCalls } from './contract/contract.ts';
import type { SessionEndpoint } from './contract/doors.ts';
import { type Asked, type Caller, type Door, splitName } from './handlers.ts';
import { Once } from './once.ts';
import { sessionPaging } from './paging.ts';
import { bodyReader, queryReader } from './read-input.ts';

export function openSessionDoor(app: FastifyInstance, context: DoorContext): Door {
  app.decorateRequest('caller', null);
  const calls = Object.entries(dashboardCalls).map(([name, endpoint]) => {
    const { method, path } = splitName(name);
    return {
      method,
      url: dashboardApiPath + path,
      declared: endpoint.declared,
      onRequest: [
        ...(method === 'GET' ? [] : [checkOrigin(context), checkContentType]),
        admitCaller(context, endpoint.access),
      ],
      ...(endpoint.file === undefined && { onSend: compressJson }),
      readQuery: queryReader(endpoint.query),
      readBody: bodyReader(bodySchemaOf(endpoint)),
      enter: (asked: Asked) => enter(context, endpoint, asked),
    };
  });
  return { paging: sessionPaging, calls };
}

async function enter(
  context: DoorContext,
  { confirmed, noted }: SessionEndpoint,
  { request, reply, body }: Asked,
): Promise<Caller> {
  const { session, account } = request.caller!;
  const changes = new AuditedChanges({
    database: context.database,
    actorOf: (by) => actorOf(request, session ?? by),
    accountId: account?.accountId ?? null,
    clock: context.gateway.clock,
  });
  const confirm = () =>
    checkConfirmation(context, { session: session!, body: body as object, request, reply });
  if (confirmed === true) await confirm();
  // Before the answer: what is not recorded is not shown. Members read what is theirs.
  const { account: of, request: id } = request.params as { account?: string; request?: string };
  const isOfAccount = of !== undefined && of !== operatorsPlace;
  if (!account && isOfAccount && request.method === 'GET') {
    await requireAccount(context.database.read, of);
    if (noted) await changes.noteReading(of, noted === 'each' ? id! : null);
  }
  const once = new Once({ context, changes, named: null, body });
  return { session, account, changes, once, confirm };
}

function actorOf(request: FastifyRequest, user: Pick<Session, 'userId' | 'email'> | null) {
  const { userId: id, email: name } = user ?? { userId: 'nobody', email: 'not signed in' };
  return { kind: 'user', id, name, address: request.ip } as const;
}
