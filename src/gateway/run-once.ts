// A request under an Idempotency-Key runs once: a second one waits for the first and gets its answer, or runs when the first has failed.
import { ApiError } from '../canonical/errors.ts';
import type { Begun } from '../idempotency/idempotency.ts';
import type { RequestName } from '../idempotency/request-name.ts';
import type { Claim } from '../idempotency/claim.ts';
import type { Client } from './client.ts';
import { shuttingDown } from './failed.ts';
import { replay } from './replay.ts';
import type { Admitted } from './run.ts';
import { requestHeaders } from './running.ts';
import { WaitingClient } from './waiting-client.ts';

/** What runs the request; the claim is null where it has no key. */
type Execute = (client: Client, claim: Claim | null) => Promise<void>;

/** Throws ApiError `idempotency_conflict` when the key was used with another request. */
export async function runOnce(admitted: Admitted, client: Client, execute: Execute): Promise<void> {
  const { name } = admitted;
  if (!name) return execute(client, null);
  const waiting = waitingClientOf(admitted, client);
  try {
    await answer(admitted, waiting, { begun: await begin(admitted, name, waiting), execute });
  } catch (error) {
    if (!waiting.openStream || !(error instanceof ApiError)) throw error;
    tellInStream(admitted, waiting, error);
  }
}

async function answer(
  admitted: Admitted,
  waiting: WaitingClient,
  { begun, execute }: { readonly begun: Begun; readonly execute: Execute },
): Promise<void> {
  switch (begun.kind) {
    case 'claimed':
      return runClaimed(waiting, begun.claim, execute);
    case 'stored':
      return replay(admitted, waiting, begun.response);
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
async function runClaimed(waiting: WaitingClient, claim: Claim, execute: Execute): Promise<void> {
  try {
    await execute(waiting, claim);
  } finally {
    await claim.end();
  }
}

/** A wait counts as a run, so that a shutdown lets it come to its end, and ends it when the time is up. */
async function begin({ gateway, requestId, request }: Admitted, name: RequestName, waiting: WaitingClient): Promise<Begun> {
  const controller = gateway.runs.open();
  waiting.onGone(() => controller.abort());
  if (request.stream) gateway.keepAlives.add(waiting);
  try {
    return await gateway.idempotency.begin(name, { requestId, signal: controller.signal });
  } finally {
    gateway.keepAlives.remove(waiting);
    gateway.runs.close(controller);
  }
}

function waitingClientOf(admitted: Admitted, client: Client): WaitingClient {
  const { gateway } = admitted;
  const { cost, balance, cache } = gateway.headers;
  return new WaitingClient(client, {
    nowMs: () => gateway.keepAlives.nowMs(),
    headers: requestHeaders(admitted),
    trailerNames: [cost, balance, cache],
  });
}

/** A keep-alive has sent the head with status 200: the error is the stream's only event. */
function tellInStream(
  { gateway, format, requestId, model, request, trace }: Admitted,
  waiting: WaitingClient,
  error: ApiError,
): void {
  trace.errorCode = error.code;
  const pipe = format.writeStream({
    requestId: requestId.slice('req_'.length),
    model: model.id,
    createdAtSeconds: Math.floor(gateway.nowMs() / 1_000),
    request,
    estimatedInputTokens: 0,
  });
  waiting.openStream?.end(pipe.fail(error, requestId), {});
}
