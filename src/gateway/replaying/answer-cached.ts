// Answers a request from the cache, or shares a run with identical requests of the account.
import type { CacheRun } from '../../domain/cache/cache-run.ts';
import type { Claim } from '../../domain/idempotency/claim.ts';
import { shuttingDown } from '../unavailable.ts';
import type { Client } from '../client.ts';
import { AnswerStorage } from './answer-storage.ts';
import { replay } from './replay.ts';
import type { Replayable } from './replayable.ts';
import type { WaitingClient } from './waiting-client.ts';

/** Runs the request and stores its answer in `storage`. */
export type Execute = (client: Client, storage: AnswerStorage) => Promise<void>;

type CachedRun = {
  readonly waiting: WaitingClient;
  /** null: it has no Idempotency-Key. */
  readonly claim: Claim | null;
  readonly execute: Execute;
};

export async function answerCached(
  asked: Replayable,
  { waiting, claim, execute }: CachedRun,
): Promise<void> {
  const { gateway, caller, names } = asked;
  const { key } = caller;
  const mayStore = (packedBytes: number, { isFree }: { readonly isFree: boolean }) =>
    (!isFree || gateway.answers.freeBytes.take(key.accountId, packedBytes)) &&
    mayStoreAsLong(asked, claim, packedBytes);
  const storageIn = (run: CacheRun | null) =>
    new AnswerStorage({
      claim,
      run,
      isRetained: key.retainResponses,
      mayStore,
    });
  if (!names.cache) return execute(waiting, storageIn(null));
  const begun =
    gateway.answers.cache.recall(names.cache) ??
    (await waiting.waitFor((signal) => gateway.answers.cache.begin(names.cache!, { signal })));
  switch (begun.kind) {
    case 'hit': {
      // A hit is a success too, so the Idempotency-Key keeps it.
      const { response } = begun;
      const isKept =
        !claim || (await claim.store(response, (bytes) => mayStore(bytes, { isFree: true })));
      return replay(asked, waiting, { response, source: 'hit', isKept });
    }
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

/** A body that is too long for the database takes from what the account may store in files today. */
function mayStoreAsLong(
  { gateway, caller: { key } }: Replayable,
  claim: Claim | null,
  packedBytes: number,
): boolean {
  if (!claim || claim.bodyBytesMax === 0) return false;
  return (
    packedBytes <= claim.bodyBytesMax || gateway.answers.fileBytes.take(key.accountId, packedBytes)
  );
}
