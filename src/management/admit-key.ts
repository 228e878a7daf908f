// Checks who calls the admin API, before the body is read. Wrong keys count against the same limit
// by address as wrong API keys.
import type { FastifyRequest } from 'fastify';
import type { AdminScope } from '../terms/admin-scope.ts';
import { ApiError } from '../canonical/errors.ts';
import { type AdminKey, adminKeyDigest, findAdminKey } from '../domain/keys/admin-keys.ts';
import { keyKindOf, keyModeOf } from '../domain/keys/key-text.ts';
import { createFailedKeys } from '../domain/limits/failed-keys.ts';
import type { ServerContext } from '../server/context.ts';
import {
  addressNotAllowed,
  bearerOf,
  keyExpired,
  tooManyWrong,
} from '../server/middleware/authenticate.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set for requests to the admin API. */
    adminKey: AdminKey | null;
  }
}

/** More keys than an installation has. At this size the set is cleared. */
const knownMax = 1_000;

/**
 * Returns a function that makes the Fastify onRequest hook of an endpoint. The hook throws ApiError
 * 401 or 403, or 429 after too many wrong keys from one address.
 */
export function admitKey({ database, gateway, addressRates }: ServerContext) {
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
        throw new ApiError('not_permitted', `This admin key lacks the scope \`${scope}\`.`);
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
