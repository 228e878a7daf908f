// Who asks, before the body is read: a stranger cannot make the gateway read 32 MB.
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../../canonical/errors.ts';
import { keyModeOf } from '../../keys/key-text.ts';
import type { ServerContext } from '../context.ts';

/** A Fastify onRequest hook. Throws ApiError `invalid_api_key`. */
export function authenticate({ keys, gateway }: ServerContext) {
  return async (request: FastifyRequest): Promise<void> => {
    const { auth = 'required', queryKey = false } = request.routeOptions.config;
    if (auth === 'none' || request.is404) return;
    const sent = sentKey(request, queryKey);
    if (sent === null) {
      if (auth === 'optional') return;
      throw new ApiError(
        'invalid_api_key',
        'An API key is missing. Send it as `Authorization: Bearer <key>` or `x-api-key: <key>`.',
      );
    }
    const key = await keys.find(sent);
    if (!key) throw new ApiError('invalid_api_key', 'This API key is wrong or was revoked.');
    if (key.mode === 'test' && !gateway.config.test_mode.enabled) {
      throw new ApiError('invalid_api_key', 'Test keys are switched off here (`test_mode.enabled`). Use a live key.');
    }
    request.apiKey = key;
    Object.assign(request.trace, { keyId: key.id, accountId: key.accountId, mode: key.mode });
  };
}

/** Authorization wins, since SDKs that send both put the caller's choice there; two different keys of ours are a mistake to be told. */
function sentKey(request: FastifyRequest, queryKey: boolean): string | null {
  const { authorization } = request.headers;
  const candidates = [
    authorization === undefined ? null : bearerOf(authorization),
    header(request, 'x-api-key'),
    queryKey ? queryParameter(request, 'api_key') : null,
  ].filter((candidate) => candidate !== null);
  if (candidates.length <= 1) return candidates[0] ?? null;
  const ours = new Set(candidates.filter((candidate) => keyModeOf(candidate)));
  if (ours.size > 1) throw new ApiError('invalid_api_key', 'Two different API keys were sent. Send one.');
  return candidates[0]!;
}

function bearerOf(authorization: string): string {
  const match = /^Bearer\s+(\S+)\s*$/i.exec(authorization);
  if (!match) throw new ApiError('invalid_api_key', 'The Authorization header must be `Bearer <key>`.');
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
