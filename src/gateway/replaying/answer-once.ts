// Runs a request once that may be repeated: by Idempotency-Key, or through the cache. A second one
// waits for the first and gets its answer, or runs when the first fails.
import { ApiError, idempotencyConflict } from '../../canonical/errors.ts';
import type { CacheRun } from '../../domain/cache/cache-run.ts';
import type { Claim } from '../../domain/idempotency/claim.ts';
import type { RequestName } from '../../domain/idempotency/request-name.ts';
import type { Client } from '../client.ts';
import { shuttingDown, explainDatabaseOutage } from '../unavailable.ts';
import { AnswerStorage, noAnswerStorage } from '../charging/answer-storage.ts';
import { replay } from './replay.ts';
import type { Accepted } from '../stages.ts';
import { WaitingClient } from './waiting-client.ts';

/** Runs the request and stores its answer in `storage`. */
type Execute = (client: Client, storage: AnswerStorage) => Promise<void>;

/** Throws ApiError `idempotency_conflict` when the key was used with another request. */
export async function answerOnce(asked: Accepted, client: Client, execute: Execute): Promise<void> {
  const { request: name, cache } = asked.names;
  if (!name && !cache) return await execute(client, noAnswerStorage);
  const waiting = new WaitingClient(client, asked);
  try {
    const asker = { asked, waiting, execute };
    if (name) await answerUnderKey(asker, name);
    else await answerCached(asker, null);
  } catch (thrown) {
    const error = explainDatabaseOutage(thrown);
    if (!waiting.openStream || !(error instanceof ApiError)) throw error;
    endWithError(asked, waiting, error);
  }
}

type Asker = {
  readonly asked: Accepted;
  readonly waiting: WaitingClient;
  readonly execute: Execute;
};

async function answerUnderKey(asker: Asker, name: RequestName): Promise<void> {
  const { asked, waiting } = asker;
  const { gateway, caller } = asked;
  const { requestId } = caller;
  const begun =
    gateway.answers.idempotency.recall(name) ??
    (await waiting.waitFor((signal) =>
      gateway.answers.idempotency.begin(name, { requestId, signal }),
    ));
  switch (begun.kind) {
    case 'claimed':
      // However it ends, waiting requests are notified, and a key without a stored answer is free.
      try {
        return await answerCached(asker, begun.claim);
      } finally {
        await begun.claim.end();
      }
    case 'stored':
      return replay(asked, waiting, { response: begun.response, source: 'idempotent-replay' });
    case 'conflict':
      throw idempotencyConflict();
    case 'abandoned':
      // Nobody is left to answer, unless the program's end stopped the wait.
      if (!waiting.isGone()) throw shuttingDown();
  }
}

/**
 * Answers from the cache, or shares a run with identical requests of the account. `claim`: null
 * without an Idempotency-Key.
 */
async function answerCached(
  { asked, waiting, execute }: Asker,
  claim: Claim | null,
): Promise<void> {
  const { gateway, caller, names } = asked;
  const { key } = caller;
  const mayStore = async (packedBytes: number, { isFree }: { readonly isFree: boolean }) =>
    (!isFree || (await gateway.answers.dailyBytes.take('free', key.accountId, packedBytes))) &&
    mayStoreAsLong(asked, claim, packedBytes);
  const storageIn = (run: CacheRun | null) =>
    new AnswerStorage({ claim, run, isRetained: key.retainResponses, mayStore });
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

/**
 * A body that is too long for the database takes from what the account may store in files today.
 */
function mayStoreAsLong(
  { gateway, caller: { key } }: Accepted,
  claim: Claim | null,
  packedBytes: number,
): boolean | Promise<boolean> {
  if (!claim) return false;
  return (
    packedBytes <= claim.bodyBytesMax ||
    gateway.answers.dailyBytes.take('file', key.accountId, packedBytes)
  );
}

/** A keep-alive has sent the head with status 200, so the error is the stream's only event. */
function endWithError(
  { caller: { record }, sale }: Accepted,
  waiting: WaitingClient,
  error: ApiError,
): void {
  record.noteError(error);
  waiting.openStream?.end(sale.writeFailure?.(error) ?? '', {});
}
