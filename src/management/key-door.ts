// The door of the admin API, which an admin key opens. Each request is checked for key, address,
// scope and input, in this order. The audit log names the key as the actor of its changes.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { invalidRequest, ApiError } from '../canonical/errors.ts';
import { AuditedChanges } from '../domain/audit/audited-changes.ts';
import { KeptAnswers, removeExpiredAnswers } from '../domain/idempotency/kept-answers.ts';
import { nameRequest, type RequestName } from '../domain/idempotency/request-name.ts';
import { adminApiPath, type ServerContext } from '../server/context.ts';
import { checkContentType } from '../server/middleware/body.ts';
import { requireAccount } from './changes/accounts.ts';
import type { DoorContext } from './context.ts';
import { adminCalls } from './contract/contract.ts';
import type { KeyEndpoint } from './contract/doors.ts';
import { type Asked, type Caller, type Door, splitName } from './handlers.ts';
import { Once } from './once.ts';
import { keyPaging } from './paging.ts';
import { bodyReader, queryReader } from './read-input.ts';
import type { AdminScope } from '../terms/admin-scope.ts';
import { type AdminKey, adminKeyDigest, findAdminKey } from '../domain/keys/admin-keys.ts';
import { keyKindOf, keyModeOf } from '../domain/keys/key-text.ts';
import { createFailedKeys } from '../domain/limits/failed-keys.ts';
import {
  addressNotAllowed,
  bearerOf,
  keyExpired,
  tooManyWrong,
} from '../server/middleware/authenticate.ts';

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

declare module 'fastify' {
  interface FastifyRequest {
    /** Set for requests to the admin API. */
    adminKey: AdminKey | null;
  }
}

// Callers are checked before the body is read. Wrong keys count against the same limit by address as
// wrong API keys.

/** More keys than an installation has. At this size the set is cleared. */
const knownMax = 1_000;

/**
 * Returns a function that makes the Fastify onRequest hook of an endpoint. The hook throws ApiError
 * 401 or 403, or 429 after too many wrong keys from one address.
 */
function admitKey({ database, gateway, addressRates }: ServerContext) {
  const { config, clock } = gateway;
  const failedKeys = createFailedKeys(config.limits.failed_keys_per_minute, addressRates);
  /** Digests of keys that were valid: their owners are not throttled with those who guess. */
  const known = new Set<string>();

  const lookUp = async (sent: string, address: string): Promise<AdminKey> => {
    const isKey = keyKindOf(sent) === 'admin';
    const digest = adminKeyDigest(sent);
    const seconds = isKey && !known.has(digest) ? await failedKeys.secondsToWait(address) : 0;
    if (seconds > 0) throw tooManyWrong(seconds);
    const key = await findAdminKey(database.read, sent);
    if (key) {
      if (known.size >= knownMax) known.clear();
      known.add(digest);
      return key;
    }
    known.delete(digest);
    const secondsThen = await failedKeys.note(address);
    throw secondsThen > 0 ? tooManyWrong(secondsThen) : wrongKey(sent);
  };

  return (scope: AdminScope) =>
    async (request: FastifyRequest): Promise<void> => {
      const { authorization } = request.headers;
      if (authorization === undefined)
        throw new ApiError(
          'invalid_api_key',
          'An admin key is missing. Send it as `Authorization: Bearer <key>`.',
        );
      const key = await lookUp(bearerOf(authorization), request.ip);
      request.requestRecord.note({ adminKeyId: key.id });
      const { expiresAtMs, allowedAddresses } = key;
      if (expiresAtMs !== null && clock.nowMs() >= expiresAtMs) throw keyExpired(expiresAtMs);
      if (allowedAddresses?.includes(request.ip) === false) throw addressNotAllowed(request.ip);
      if (!key.scopes.has(scope))
        throw new ApiError(
          'not_permitted',
          `This admin key lacks the scope \`${scope}\`. Use one that has it.`,
        );
      request.adminKey = key;
    };
}

function wrongKey(sent: string): ApiError {
  const isApiKey = keyModeOf(sent) !== null;
  return new ApiError(
    'invalid_api_key',
    isApiKey
      ? 'This is an API key. The admin API needs an admin key (`tg_admin_…`).'
      : 'This admin key is wrong or was revoked. Check that no character is missing, or have the operator create another.',
  );
}
