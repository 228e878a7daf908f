// Answers a request from the cache, or shares a run with identical requests of the account.
import type { CacheRun } from '../../domain/cache/cache-run.ts';
import type { Claim } from '../../domain/idempotency/claim.ts';
import { shuttingDown } from '../unavailable.ts';
import type { Client } from '../client.ts';
import { AnswerStorage } from './answer-storage.ts';
import { replay } from './replay.ts';
import type { Accepted } from '../stages.ts';
import type { WaitingClient } from './waiting-client.ts';

/** Runs the request and stores its answer in `storage`. */
export type Execute = (client: Client, storage: AnswerStorage) => Promise<void>;

type CachedRun = {
  readonly waiting: WaitingClient;
  /** null: it has no Idempotency-Key. */
  readonly claim: Claim | null;
  readonly execute: Execute;
};

export async function runCached(
  accepted: Accepted,
  { waiting, claim, execute }: CachedRun,
): Promise<void> {
  const { gateway, cacheName, key } = accepted;
  const takeFree = (bytes: number) => gateway.freeBytes.take(key.accountId, bytes);
  const storageIn = (run: CacheRun | null) =>
    new AnswerStorage({
      claim,
      run,
      mayStore: (bytes, { isFree }) => key.retainResponses && (!isFree || takeFree(bytes)),
    });
  if (!cacheName) return execute(waiting, storageIn(null));
  const begun =
    gateway.cache.recall(cacheName) ??
    (await waiting.waitFor((signal) => gateway.cache.begin(cacheName, { signal })));
  switch (begun.kind) {
    case 'hit':
      // A hit is a success too, so the Idempotency-Key keeps it.
      if (claim) {
        const { response } = begun;
        await claim.store(takeFree(response.body.length) ? response : { ...response, body: null });
      }
      return replay(accepted, waiting, { response: begun.response, source: 'hit' });
    case 'run':
      try {
        return await execute(waiting, storageIn(begun.run));
      } finally {
        begun.run.end();
      }
    case 'abandoned':
      if (!waiting.isGone()) throw shuttingDown();
  }
}
