// Authenticates before the body is read: a stranger cannot make the gateway read 32 MB.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../canonical/errors.ts';
import type { KeyScope } from '../../terms/key-scope.ts';
import type { ApiKey } from '../../domain/keys/api-key.ts';
import { keyKindOf, keyModeOf } from '../../domain/keys/key-text.ts';
import type { KeyStore } from '../../domain/keys/key-store.ts';
import { createFailedKeys, type FailedKeys } from '../../domain/limits/failed-keys.ts';
import type { QueryKey, ServerContext } from '../context.ts';
import { clientNameOf } from '../client-name.ts';
import { traceForAccount } from './trace.ts';

/**
 * A Fastify onRequest hook. Throws ApiError 401 or 403, or 429 after too many wrong keys from one
 * address.
 */
export function authenticate({ keys, gateway, addressRates, telemetry }: ServerContext) {
  const failedKeys = createFailedKeys(gateway.config.limits.failed_keys_per_minute, addressRates);
  const use = (key: ApiKey, request: FastifyRequest, auth: KeyScope | 'optional'): void => {
    useKey(gateway, key, request);
    traceForAccount(request, telemetry);
    if (auth !== 'optional') checkScope(key, auth);
  };
  return (
    request: FastifyRequest,
    _reply: FastifyReply,
    next: () => void,
  ): void | Promise<void> => {
    const { auth = 'run', queryKey } = request.routeOptions.config;
    if (auth === 'none' || request.is404) return next();
    const sent = sentKey(request, queryKey);
    if (sent === null) {
      if (auth === 'optional') return next();
      // Google's paths alone take the key in `?key=`.
      const name = queryKey === 'key' ? 'x-goog-api-key' : 'x-api-key';
      throw new ApiError(
        'invalid_api_key',
        `An API key is missing. Send it as \`Authorization: Bearer <key>\` or \`${name}: <key>\`.`,
      );
    }
    const known = keys.recall(sent);
    // A promise for each request costs more than the look-up.
    if (!known)
      return lookUp({ keys, failedKeys }, sent, request.ip).then((key) => use(key, request, auth));
    use(known, request, auth);
    next();
  };
}

/**
 * Assigns the key to the request. Throws ApiError 401 or 403 when the key may not be used now, or
 * not from this address.
 */
export function useKey(
  { observe: { bodies }, config, clock }: ServerContext['gateway'],
  key: ApiKey,
  request: FastifyRequest,
): void {
  if (key.mode === 'test' && !config.test_mode.enabled) {
    throw new ApiError(
      'invalid_api_key',
      'Test keys are switched off here (`test_mode.enabled`). Use a live key.',
    );
  }
  checkStanding(key, clock.nowMs());
  checkAddress(key, request.ip);
  request.apiKey = key;
  request.bodies = bodies.begin(key, request.requestId);
  request.requestRecord.note({
    keyId: key.id,
    accountId: key.accountId,
    mode: key.mode,
    address: request.ip,
    client: clientNameOf(request.headers['user-agent']),
  });
}

type Doors = { readonly keys: KeyStore; readonly failedKeys: FailedKeys };

/** Looks up a key. Throws ApiError 401 when it does not exist, or 429 when too many were wrong. */
async function lookUp({ keys, failedKeys }: Doors, sent: string, address: string): Promise<ApiKey> {
  // Only look-ups in the database use up a blocked address's allowance.
  const seconds =
    keys.mayFind(sent) && !keys.wasValid(sent) ? await failedKeys.secondsToWait(address) : 0;
  if (seconds > 0) throw tooManyWrong(seconds);
  const key = await keys.find(sent);
  if (key) return key;
  const secondsThen = await failedKeys.note(address);
  throw secondsThen > 0 ? tooManyWrong(secondsThen) : wrongKey(sent);
}

function wrongKey(sent: string): ApiError {
  return new ApiError(
    'invalid_api_key',
    keyKindOf(sent) === 'admin'
      ? 'This is an admin key, which opens only the admin API. Use an API key.'
      : 'This API key is wrong or was revoked. Check that no character is missing, or create another in the dashboard.',
  );
}

export function tooManyWrong(retryAfterSeconds: number): ApiError {
  return new ApiError(
    'rate_limit_exceeded',
    `Too many wrong keys came from this address. Check the key, and retry in ${retryAfterSeconds} s.`,
    { retryAfterSeconds, details: { limit: 'failed_keys_per_minute' } },
  );
}

/**
 * Throws ApiError when the key is disabled or expired. Only a caller with the complete key learns
 * this.
 */
function checkStanding({ isDisabled, expiresAtMs }: ApiKey, nowMs: number): void {
  if (isDisabled)
    throw new ApiError(
      'invalid_api_key',
      'This API key is disabled. Have it enabled again, or use another.',
    );
  if (expiresAtMs !== null && nowMs >= expiresAtMs) throw keyExpired(expiresAtMs);
}

export function keyExpired(expiresAtMs: number): ApiError {
  return new ApiError(
    'invalid_api_key',
    `This key expired at ${new Date(expiresAtMs).toISOString()}. Use another.`,
  );
}

function checkAddress({ allowedAddresses }: ApiKey, address: string): void {
  if (!allowedAddresses.every((list) => list.includes(address))) throw addressNotAllowed(address);
}

export function addressNotAllowed(address: string): ApiError {
  return new ApiError(
    'address_not_allowed',
    `This key may not be used from ${address.slice(0, 64)}. Send from an address that it allows, or have its list changed.`,
  );
}

/** Throws ApiError 403 when the key lacks the scope. */
export function checkScope({ scopes }: ApiKey, needed: KeyScope): void {
  if (scopes === null || scopes.has(needed)) return;
  throw new ApiError(
    'key_scope_missing',
    `This key lacks the scope \`${needed}\`: it may ${[...scopes].map((scope) => allowances[scope]).join(' and ')} only. Use another key, or have its scopes changed.`,
    { details: { needed_scope: needed } },
  );
}

const allowances: Readonly<Record<KeyScope, string>> = {
  run: 'run models and searches',
  images: 'make images',
  usage: 'read the balance and usage',
};

/**
 * Returns the key that was sent. `Authorization` wins, because SDKs that send both headers put the
 * caller's choice there. Two different keys of ours are an error.
 */
function sentKey(request: FastifyRequest, queryKey: QueryKey | undefined): string | null {
  const { authorization } = request.headers;
  const candidates = [
    authorization === undefined ? null : bearerOf(authorization),
    header(request, 'x-api-key'),
    header(request, 'x-goog-api-key'),
    queryKey ? queryParameter(request, queryKey) : null,
  ].filter((candidate) => candidate !== null);
  if (candidates.length <= 1) return candidates[0] ?? null;
  const ours = new Set(candidates.filter((candidate) => keyModeOf(candidate)));
  if (ours.size > 1)
    throw new ApiError('invalid_api_key', 'Two different API keys were sent. Send one.');
  return candidates[0]!;
}

/** Returns the key of an Authorization header. Throws ApiError 401. */
export function bearerOf(authorization: string): string {
  const match = /^Bearer\s+(\S+)\s*$/i.exec(authorization);
  if (!match)
    throw new ApiError('invalid_api_key', 'The Authorization header must be `Bearer <key>`.');
  return match[1]!;
}

function header(request: FastifyRequest, name: string): string | null {
  const value = request.headers[name];
  return typeof value === 'string' && value !== '' ? value : null;
}

function queryParameter(request: FastifyRequest, name: string): string | null {
  const value = (request.query as Record<string, unknown>)[name];
  return typeof value === 'string' && value !== '' ? value : null;
}
