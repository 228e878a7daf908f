// Runs a request once that may be repeated: by Idempotency-Key, or through the cache. A second one
// waits for the first and gets its answer, or runs when the first fails.
import { ApiError, idempotencyConflict } from '../../canonical/errors.ts';
import type { Claim } from '../../domain/idempotency/claim.ts';
import type { RequestName } from '../../domain/idempotency/request-name.ts';
import type { Client } from '../client.ts';
import { shuttingDown, explainDatabaseOutage } from '../unavailable.ts';
import { noAnswerStorage } from './answer-storage.ts';
import { replay } from './replay.ts';
import { runCached, type Execute } from './run-cached.ts';
import type { Accepted } from '../stages.ts';
import { WaitingClient } from './waiting-client.ts';

/** Throws ApiError `idempotency_conflict` when the key was used with another request. */
export async function runOnce(accepted: Accepted, client: Client, execute: Execute): Promise<void> {
  const { name, cacheName } = accepted;
  if (!name && !cacheName) return execute(client, noAnswerStorage);
  const waiting = new WaitingClient(client, accepted);
  try {
    if (name) await runUnderKey(accepted, name, { waiting, execute });
    else await runCached(accepted, { waiting, claim: null, execute });
  } catch (thrown) {
    const error = explainDatabaseOutage(thrown);
    if (!waiting.openStream || !(error instanceof ApiError)) throw error;
    endWithError(accepted, waiting, error);
  }
}

type Asker = { readonly waiting: WaitingClient; readonly execute: Execute };

async function runUnderKey(
  accepted: Accepted,
  name: RequestName,
  { waiting, execute }: Asker,
): Promise<void> {
  const { gateway, requestId } = accepted;
  const begun =
    gateway.idempotency.recall(name) ??
    (await waiting.waitFor((signal) => gateway.idempotency.begin(name, { requestId, signal })));
  switch (begun.kind) {
    case 'claimed':
      return runClaimed(begun.claim, () =>
        runCached(accepted, { waiting, claim: begun.claim, execute }),
      );
    case 'stored':
      return replay(accepted, waiting, { response: begun.response, source: 'idempotent-replay' });
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
async function runClaimed(claim: Claim, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } finally {
    await claim.end();
  }
}

/** A keep-alive has sent the head with status 200, so the error is the stream's only event. */
function endWithError({ log, sale }: Accepted, waiting: WaitingClient, error: ApiError): void {
  log.noteError(error);
  waiting.openStream?.end(sale.writeFailure?.(error) ?? '', {});
}
