// Decides whether a request may use the cache, and under which name. Temperature 0 asks for it,
// because such a request wants the same answer each time; other requests ask with a header. A
// header of `false` always wins.
import type { CacheName } from '../../domain/cache/cache-name.ts';
import type { Config } from '../../config/schema.ts';
import type { ResponseCache } from '../../domain/cache/response-cache.ts';
import type { HeaderNames } from '../../canonical/header-names.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { IncomingRequest } from '../request.ts';
import { readHeaderFlag } from '../headers.ts';

type Cached = {
  readonly config: Pick<Config, 'cache'>;
  readonly answers: { readonly cache: Pick<ResponseCache, 'nameOf'> };
  readonly headers: Pick<HeaderNames, 'cache'>;
};

type Cacheable = {
  readonly modelId: string;
  readonly stream: boolean;
  readonly route: string;
  readonly body: JsonObject;
  readonly isCachedUnasked: boolean;
};

/**
 * Returns null when the cache is not used. Throws ApiError `invalid_request` for a header other
 * than `true` and `false`.
 */
export function nameForCache(
  gateway: Cached,
  { caller: { key }, method, path, wishes, versionHeaders }: IncomingRequest,
  { modelId, stream, route, body, isCachedUnasked }: Cacheable,
): CacheName | null {
  const wish = readHeaderFlag(gateway.headers.cache, wishes.cache) ?? isCachedUnasked;
  if (!wish || !gateway.config.cache.enabled || !key.retainResponses) return null;
  return gateway.answers.cache.nameOf({
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
