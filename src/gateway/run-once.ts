// A request that others may repeat: under an Idempotency-Key it runs once, with the cache once for all that ask the same. A second one
// waits for the first and gets its answer, or runs when the first has failed.
import { ApiError } from '../canonical/errors.ts';
import type { Claim } from '../idempotency/claim.ts';
import type { RequestName } from '../idempotency/request-name.ts';
import type { Client } from './client.ts';
import { shuttingDown, toldOfDatabase } from './failed.ts';
import { type Keeping, nothingKept } from './keeping.ts';
import { replay } from './replay.ts';
import { runCached } from './run-cached.ts';
import type { Admitted } from './admitted.ts';
import { requestHeaders } from './running.ts';
import { WaitingClient } from './waiting-client.ts';

/** What runs the request, and keeps its answer where it is told. */
export type Execute = (client: Client, keeping: Keeping) => Promise<void>;

/** Throws ApiError `idempotency_conflict` when the key was used with another request. */
export async function runOnce(admitted: Admitted, client: Client, execute: Execute): Promise<void> {
  const { name, cacheName } = admitted;
  if (!name && !cacheName) return execute(client, nothingKept);
  const waiting = waitingClientOf(admitted, client);
  try {
    if (name) await runUnderKey(admitted, name, { waiting, execute });
    else await runCached(admitted, { waiting, claim: null, execute });
  } catch (thrown) {
    const error = toldOfDatabase(thrown);
    if (!waiting.openStream || !(error instanceof ApiError)) throw error;
    tellInStream(admitted, waiting, error);
  }
}

type Asker = { readonly waiting: WaitingClient; readonly execute: Execute };

async function runUnderKey(admitted: Admitted, name: RequestName, { waiting, execute }: Asker): Promise<void> {
  const { gateway, requestId } = admitted;
  const begun =
    gateway.idempotency.recall(name) ??
    (await waiting.waitFor(admitted, (signal) => gateway.idempotency.begin(name, { requestId, signal })));
  switch (begun.kind) {
    case 'claimed':
      return runClaimed(begun.claim, () => runCached(admitted, { waiting, claim: begun.claim, execute }));
    case 'stored':
      return replay(admitted, waiting, { response: begun.response, source: 'idempotent-replay' });
    case 'conflict':
      throw new ApiError(
        'idempotency_conflict',
        'This Idempotency-Key was used with another body, method or path. Use a new key for a new request.',
      );
    case 'abandoned':
      // Nobody is left to be answered, unless the wait was ended by the end of the program.
      if (!waiting.isGone()) throw shuttingDown();
  }
}

/** However it ends, those that wait are told, and a key under which nothing is stored is free again. */
async function runClaimed(claim: Claim, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } finally {
    await claim.end();
  }
}

function waitingClientOf(admitted: Admitted, client: Client): WaitingClient {
  const { gateway } = admitted;
  const { cost, balance, cache, route, attempts, ignored } = gateway.headers;
  return new WaitingClient(client, {
    nowMs: () => gateway.keepAlives.nowMs(),
    headers: requestHeaders(admitted),
    trailerNames: [cost, balance, cache, route, attempts, ignored],
  });
}

/** A keep-alive has sent the head with status 200: the error is the stream's only event. */
function tellInStream({ trace, work }: Admitted, waiting: WaitingClient, error: ApiError): void {
  trace.errorCode = error.code;
  waiting.openStream?.end(work.writeFailure(error), {});
}
