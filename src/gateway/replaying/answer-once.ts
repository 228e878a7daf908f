// Runs a request once that may be repeated: by Idempotency-Key, or through the cache. A second one
// waits for the first and gets its answer, or runs when the first fails.
import { ApiError, idempotencyConflict } from '../../canonical/errors.ts';
import type { Claim } from '../../domain/idempotency/claim.ts';
import type { RequestName } from '../../domain/idempotency/request-name.ts';
import type { Client } from '../client.ts';
import { shuttingDown, explainDatabaseOutage } from '../unavailable.ts';
import { noAnswerStorage } from './answer-storage.ts';
import { replay } from './replay.ts';
import type { Replayable } from './replayable.ts';
import { answerCached, type Execute } from './answer-cached.ts';
import { WaitingClient } from './waiting-client.ts';

/** Throws ApiError `idempotency_conflict` when the key was used with another request. */
export async function answerOnce(
  asked: Replayable,
  client: Client,
  execute: Execute,
): Promise<void> {
  const { request: name, cache } = asked.names;
  if (!name && !cache) return execute(client, noAnswerStorage);
  const waiting = new WaitingClient(client, asked);
  try {
    if (name) await answerUnderKey(asked, name, { waiting, execute });
    else await answerCached(asked, { waiting, claim: null, execute });
  } catch (thrown) {
    const error = explainDatabaseOutage(thrown);
    if (!waiting.openStream || !(error instanceof ApiError)) throw error;
    endWithError(asked, waiting, error);
  }
}

type Asker = { readonly waiting: WaitingClient; readonly execute: Execute };

async function answerUnderKey(
  asked: Replayable,
  name: RequestName,
  { waiting, execute }: Asker,
): Promise<void> {
  const { gateway, caller } = asked;
  const { requestId } = caller;
  const begun =
    gateway.answers.idempotency.recall(name) ??
    (await waiting.waitFor((signal) =>
      gateway.answers.idempotency.begin(name, { requestId, signal }),
    ));
  switch (begun.kind) {
    case 'claimed':
      return withClaim(begun.claim, () =>
        answerCached(asked, { waiting, claim: begun.claim, execute }),
      );
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
 * However it ends, waiting requests are notified, and a key without a stored answer is free again.
 */
async function withClaim(claim: Claim, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } finally {
    await claim.end();
  }
}

/** A keep-alive has sent the head with status 200, so the error is the stream's only event. */
function endWithError(
  { caller: { record }, sale }: Replayable,
  waiting: WaitingClient,
  error: ApiError,
): void {
  record.noteError(error);
  waiting.openStream?.end(sale.writeFailure?.(error) ?? '', {});
}
