// The life of a charged request, whatever it asks for: every step in its order, on one screen. What is particular to models, images and
// searches is their Work. Authentication comes before the body is even read (server/middleware/authenticate.ts); docs/lifecycle.md draws
// the whole.
import { nameRequest } from '../idempotency/request-name.ts';
import type { IncomingRequest } from './admitted.ts';
import { nameForCache } from './cacheable.ts';
import { ledgerIdOf } from '../ledger/commands.ts';
import type { Client } from './client.ts';
import { noteWork, type Endpoint } from './endpoint.ts';
import type { Gateway } from './gateway.ts';
import type { KnownRequest } from './known-request.ts';
import { checkPermission } from './permitted-model.ts';
import { runOnce } from './run-once.ts';
import { withinLimits } from './within-limits.ts';

/**
 * Answers the client, or throws the ApiError to answer with. Either way nothing stays held. Returns what the request was found to be when it
 * was answered with an earlier one's answer, so that the next one like it need not be read; else null.
 */
export async function run(
  gateway: Gateway,
  endpoint: Endpoint,
  incoming: IncomingRequest,
  client: Client,
): Promise<KnownRequest | null> {
  const { key, trace } = incoming;
  const work = endpoint(gateway, incoming);
  const name = nameRequest({ ...incoming, keyId: key.id, generation: key.cacheGeneration });
  noteWork(trace, work);
  checkPermission(key, work.modelId);
  const cacheName = nameForCache(gateway, incoming, work);
  const rateHeaders = await gateway.rateLimits.takeRequest(key);
  const admitted = { ...incoming, gateway, name, cacheName, work, rateHeaders };
  // By its Idempotency-Key, from the cache, or by a run of its own: hold, call, answer, charge.
  await runOnce(admitted, client, (answered, keeping) =>
    withinLimits(admitted, (within) => work.execute({ ...admitted, ...within }, answered, keeping)),
  );
  if (!trace.cache) return null;
  const { modelId, provider, stream } = work;
  return { key, ledgerId: ledgerIdOf(key.accountId, key.mode), name, cacheName, modelId, provider, stream };
}
