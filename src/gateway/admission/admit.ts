// Admits a request: its key may use what it asks for, and has requests left this minute.
import { nameRequest } from '../../domain/idempotency/request-name.ts';
import type { Offer } from '../charging/offer.ts';
import type { Gateway } from '../gateway.ts';
import { readHeaderFlag } from '../headers.ts';
import { nameForCache } from '../replaying/cacheable.ts';
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
  const generation = key.cacheGeneration;
  const { idempotencyKey } = wishes;
  const request = nameRequest({ ...incoming, idempotencyKey, keyId: key.id, generation });
  record.note({ model: sale.modelId, provider: sale.provider, stream: sale.stream });
  checkPermission(key, sale.modelId);
  const cache = nameForCache(gateway, incoming, sale);
  const wantsComments =
    readHeaderFlag(gateway.headers.streamComments, wishes.streamComments) ?? false;
  const rateHeaders = await gateway.rateLimits.takeRequest(key);
  // Not earlier: a request that no limit counts must not store what its client chose.
  record.note({ tags });
  const names = { request, cache };
  return { gateway, caller, tags, names, sale, wantsComments, rateHeaders };
}

/**
 * Runs a request within its limits of concurrent requests and tokens a minute. However it ends, its
 * slot is freed, and its estimated tokens are corrected to those that `action` returns: none for a
 * failure or a free answer. Throws ApiError `rate_limit_exceeded`.
 */
export async function withinLimits(
  accepted: Accepted,
  action: (offer: Offer) => Promise<number>,
): Promise<void> {
  const { gateway, caller, sale, rateHeaders } = accepted;
  const { key, nextTurn } = caller;
  const { tokens, offer } = sale.estimate();
  if (nextTurn) await nextTurn();
  const slot = await gateway.rateLimits.begin(key, tokens, rateHeaders);
  let tokensUsed = 0;
  try {
    tokensUsed = await action(offer({ ...accepted, rateHeaders: slot.headers }));
  } finally {
    slot.end(tokensUsed);
  }
}
