// Admits a request: its key may use what it asks for, and has requests left this minute.
import type { CacheName } from '../../domain/cache/cache-name.ts';
import { nameRequest, type RequestName } from '../../domain/idempotency/request-name.ts';
import type { Offer } from '../charging/offer.ts';
import type { Gateway } from '../gateway.ts';
import { readHeaderFlag } from '../headers.ts';
import type { IncomingRequest } from '../request.ts';
import type { Accepted, Sale } from '../stages.ts';
import { checkPermission } from './permitted-model.ts';

type ToAdmit = { readonly sale: Sale; readonly tags: Accepted['tags'] };

/** Throws ApiError 400, 403 or 429. */
export async function admit(
  gateway: Gateway,
  incoming: IncomingRequest,
  { sale, tags }: ToAdmit,
): Promise<Accepted> {
  const { caller, wishes } = incoming;
  const { key, record } = caller;
  const request = nameUnderKey(incoming);
  record.note({ model: sale.modelId, provider: sale.provider, stream: sale.stream });
  checkPermission(key, sale.modelId);
  const cache = nameForCache(gateway, incoming, sale);
  const wantsComments =
    readHeaderFlag(gateway.headers.streamComments, wishes.streamComments) ?? false;
  const rateHeaders = caller.isLine ? {} : await gateway.rateLimits.takeRequest(key);
  // Not earlier: a request that no limit counts must not store what its client chose.
  record.note({ tags });
  const names = { request, cache };
  return { gateway, caller, tags, names, sale, wantsComments, rateHeaders };
}

/**
 * Runs a request within its limits of concurrent requests and tokens a minute. However it ends, its
 * slot is freed, and its estimated tokens are corrected to those that `action` returns: none for a
 * failure or a free answer. Throws ApiError `rate_limit_exceeded` or `overloaded`.
 */
export async function withinLimits(
  accepted: Accepted,
  action: (offer: Offer) => Promise<number>,
): Promise<void> {
  const { gateway, caller, sale, rateHeaders } = accepted;
  const { key, nextTurn, isLine = false } = caller;
  const { tokens, answerBytes = 0, offer } = sale.estimate();
  if (nextTurn) await nextTurn();
  const slot = isLine ? slotOfLine : await gateway.rateLimits.begin(key, tokens, rateHeaders);
  let tokensUsed = 0;
  let free: (() => void) | null = null;
  try {
    free = await gateway.longAnswers[key.mode].enter(answerBytes, { mayWait: isLine });
    tokensUsed = await action(offer({ ...accepted, rateHeaders: slot.headers }));
  } finally {
    free?.();
    slot.end(tokensUsed);
  }
}

const slotOfLine = { headers: {}, end: () => {} };

/**
 * Returns null without an Idempotency-Key. Throws ApiError `invalid_request` for one that cannot
 * be.
 */
export function nameUnderKey(incoming: IncomingRequest): RequestName | null {
  const { key } = incoming.caller;
  const { idempotencyKey } = incoming.wishes;
  return nameRequest({
    ...incoming,
    idempotencyKey,
    keyId: key.id,
    generation: key.cacheGeneration,
  });
}

/**
 * Returns the name under which the request uses the cache; null when it does not. Temperature 0
 * asks for the cache, because such a request wants the same answer each time; other requests ask
 * with a header. A header of `false` always wins. Throws ApiError `invalid_request` for a header
 * other than `true` and `false`.
 */
function nameForCache(
  gateway: Gateway,
  { caller: { key }, method, path, wishes, versionHeaders }: IncomingRequest,
  { modelId, stream, route, body, isCachedUnasked }: Sale,
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
