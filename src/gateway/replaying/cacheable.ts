// Decides whether a request may use the cache, and under which name. Temperature 0 asks for it,
// because such a request wants the same answer each time; other requests ask with a header. A
// header of `false` always wins.
import type { CacheName } from '../../domain/cache/cache-name.ts';
import type { IncomingRequest, Sale } from '../stages.ts';
import type { Gateway } from '../gateway.ts';
import { readHeaderFlag } from '../headers.ts';

/**
 * Returns null when the cache is not used. Throws ApiError `invalid_request` for a header other
 * than `true` and `false`.
 */
export function nameForCache(
  gateway: Gateway,
  { key, method, path, cacheHeader, versionHeaders }: IncomingRequest,
  { modelId, stream, route, body, isCachedUnasked }: Sale,
): CacheName | null {
  const wish = readHeaderFlag(gateway.headers.cache, cacheHeader) ?? isCachedUnasked;
  if (!wish || !gateway.config.cache.enabled || !key.retainResponses) return null;
  return gateway.cache.nameOf({
    accountId: key.accountId,
    generation: key.cacheGeneration,
    mode: key.mode,
    method,
    path,
    stream,
    modelId,
    route,
    versionHeaders,
    body,
  });
}
