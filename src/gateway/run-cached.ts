// A request that may be answered from the cache: what the same request of the account was answered with, or is about to be.
import type { Claim } from '../idempotency/claim.ts';
import { shuttingDown } from './failed.ts';
import { Keeping } from './keeping.ts';
import { replay } from './replay.ts';
import type { Admitted } from './admitted.ts';
import type { Execute } from './run-once.ts';
import type { WaitingClient } from './waiting-client.ts';

export type CachedRun = {
  readonly waiting: WaitingClient;
  /** null: it has no Idempotency-Key. */
  readonly claim: Claim | null;
  readonly execute: Execute;
};

export async function runCached(admitted: Admitted, { waiting, claim, execute }: CachedRun): Promise<void> {
  const { gateway, cacheName, key } = admitted;
  const retainsBodies = key.retainResponses;
  if (!cacheName) return execute(waiting, new Keeping({ claim, run: null, retainsBodies }));
  const begun =
    gateway.cache.recall(cacheName) ?? (await waiting.waitFor(admitted, (signal) => gateway.cache.begin(cacheName, { signal })));
  switch (begun.kind) {
    case 'hit':
      // A hit is a success as well: the key stays with what it was answered with.
      await claim?.store(begun.response);
      return replay(admitted, waiting, { response: begun.response, source: 'hit' });
    case 'run':
      try {
        return await execute(waiting, new Keeping({ claim, run: begun.run, retainsBodies }));
      } finally {
        begun.run.end();
      }
    case 'abandoned':
      if (!waiting.isGone()) throw shuttingDown();
  }
}
