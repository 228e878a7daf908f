// Whether a request may use the cache, and the name under which it would find its answer there. A model at temperature 0 asks for it, since
// such a request wants the same answer each time; any other asks with a header; nothing overrides the header's `false`.
import { invalidRequest } from '../canonical/errors.ts';
import type { CacheName } from '../cache/cache-name.ts';
import type { IncomingRequest } from './admitted.ts';
import type { Work } from './endpoint.ts';
import type { Gateway } from './gateway.ts';

/** null: the cache is neither read nor filled. Throws ApiError `invalid_request` on a header that says neither `true` nor `false`. */
export function nameForCache(
  gateway: Gateway,
  { key, method, path, cacheHeader, versionHeaders }: IncomingRequest,
  { modelId, stream, route, body, isCachedUnasked }: Work,
): CacheName | null {
  const wish = readWish(gateway, cacheHeader) ?? isCachedUnasked;
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

/** undefined: it was not sent. */
function readWish({ headers }: Gateway, value: string | undefined): boolean | undefined {
  if (value === undefined) return undefined;
  const word = value.trim().toLowerCase();
  if (word === 'true') return true;
  if (word === 'false') return false;
  throw invalidRequest(
    headers.cache,
    `The header \`${headers.cache}\` must be \`true\` or \`false\`. Leave it out for the default.`,
  );
}
