// The life of a charged request, step by step, whatever it asks for. Work has what is specific to
// models, images and searches. Authentication comes earlier, before the body is read
// (server/middleware/authenticate.ts). docs/lifecycle.md draws the whole.
import { nameRequest } from '../domain/idempotency/request-name.ts';
import { checkPermission } from './admission/permitted-model.ts';
import { runWithinLimits } from './admission/within-limits.ts';
import type { Client } from './client.ts';
import { recordContent } from './content.ts';
import type { Gateway } from './gateway.ts';
import { readHeaderFlag } from './headers.ts';
import { nameForCache } from './replaying/cacheable.ts';
import { readWork } from './replaying/gone-model.ts';
import { runOnce } from './replaying/run-once.ts';
import type { Accepted, Endpoint, IncomingRequest } from './stages.ts';
import { readTags } from './tags.ts';

/** Answers the client, or throws the ApiError to answer with. Either way nothing stays held. */
export async function run(
  gateway: Gateway,
  endpoint: Endpoint,
  incoming: IncomingRequest,
  client: Client,
): Promise<void> {
  const { requestId, arrivedAtMs, key, baseUrl, nextTurn, forwardable, trace, log } = incoming;
  const tags = readTags(gateway, incoming.tagsHeader, incoming.body);
  const work = await readWork(gateway, endpoint, incoming);
  const name = nameRequest({ ...incoming, keyId: key.id, generation: key.cacheGeneration });
  log.note({ model: work.modelId, provider: work.provider, stream: work.stream });
  checkPermission(key, work.modelId);
  const cacheName = nameForCache(gateway, incoming, work);
  const wantsComments =
    readHeaderFlag(gateway.headers.streamComments, incoming.commentsHeader) ?? false;
  const rateHeaders = await gateway.rateLimits.takeRequest(key);
  // Not earlier: a request that no limit counts must not store what its client chose.
  log.note({ tags });
  const asSent = { requestId, arrivedAtMs, key, baseUrl, nextTurn, forwardable, trace, log };
  const accepted: Accepted = {
    ...asSent,
    gateway,
    tags,
    name,
    cacheName,
    work,
    wantsComments,
    rateHeaders,
  };
  // By its Idempotency-Key, from the cache, or by a run: hold, call, answer, charge.
  const { spans } = log;
  const heard = spans?.account?.includesContent ? recordContent(spans, work, client) : client;
  await runOnce(accepted, heard, (answered, storage) =>
    runWithinLimits(accepted, answered, storage),
  );
}
