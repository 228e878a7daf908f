// The door of the admin API, which an admin key opens. Each request is checked for key, address,
// scope and input, in this order. The audit log names the key as the actor of its changes.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { invalidRequest } from '../canonical/errors.ts';
import { AuditedChanges } from '../domain/audit/audited-changes.ts';
import { KeptAnswers, removeExpiredAnswers } from '../domain/idempotency/kept-answers.ts';
import { nameRequest, type RequestName } from '../domain/idempotency/request-name.ts';
import { adminApiPath } from '../server/context.ts';
import { checkContentType } from '../server/middleware/body.ts';
import { admitKey } from './admit-key.ts';
import { requireAccount } from './changes/accounts.ts';
import type { DoorContext } from './context.ts';
import { adminCalls } from './contract/contract.ts';
import type { KeyEndpoint } from './contract/doors.ts';
import { type Asked, type Caller, type Door, splitName } from './handlers.ts';
import { Once } from './once.ts';
import { keyPaging } from './paging.ts';
import { bodyReader, queryReader } from './read-input.ts';

const removeEveryMs = 60_000;

export function openKeyDoor(app: FastifyInstance, context: DoorContext): Door {
  const { secrets, gateway } = context;
  const onError = (err: unknown) => gateway.log.error({ err }, 'stored admin answers failed');
  const answers = new KeptAnswers({ secrets, onError });
  const admit = admitKey(context);
  app.decorateRequest('adminKey', null);
  if (context.threads.isFirst) removeRegularly(app, context, onError);
  const calls = Object.entries(adminCalls).map(([name, endpoint]) => {
    const { method, path } = splitName(name);
    return {
      method,
      url: adminApiPath + path,
      declared: endpoint.declared,
      onRequest: [admit(endpoint.scope), ...(method === 'GET' ? [] : [checkContentType])],
      readQuery: queryReader(endpoint.query, { isStrict: true }),
      readBody: bodyReader(endpoint.body),
      enter: (asked: Asked) => enter(context, { endpoint, answers }, asked),
    };
  });
  return { paging: keyPaging, calls };
}

type Entered = { readonly endpoint: KeyEndpoint; readonly answers: KeptAnswers };

async function enter(
  context: DoorContext,
  { endpoint, answers }: Entered,
  { request, body }: Asked,
): Promise<Caller> {
  const { database, gateway } = context;
  const { id, name } = request.adminKey!;
  const actor = { kind: 'admin-key', id, name, address: request.ip } as const;
  const changes = new AuditedChanges({ database, actorOf: () => actor, clock: gateway.clock });
  const requestName = nameOf(endpoint, request, body);
  const { account } = request.params as { readonly account?: string };
  const named = requestName && { name: requestName, answers };
  // Members know that their account exists. Changes look for themselves.
  if (request.method === 'GET' && account !== undefined)
    await requireAccount(database.read, account);
  return {
    session: null,
    account: null,
    changes,
    once: new Once({ context, changes, named, body }),
    confirm: async () => {},
  };
}

/**
 * Throws ApiError 400 for an unusable Idempotency-Key, or without one that the endpoint requires.
 */
function nameOf(
  { idempotency }: KeyEndpoint,
  request: FastifyRequest,
  body: unknown,
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
  { database, gateway: { clock } }: DoorContext,
  onError: (error: unknown) => void,
): void {
  const stop = clock.every(
    removeEveryMs,
    () => void removeExpiredAnswers(database.write, clock.nowMs()).catch(onError),
  );
  app.addHook('onClose', async () => stop());
}
