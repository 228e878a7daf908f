// The answer of an earlier request with the same Idempotency-Key, byte for byte. It costs nothing, and so needs no balance.
import { ApiError } from '../canonical/errors.ts';
import type { StoredResponse } from '../canonical/stored-response.ts';
import { ledgerIdOf } from '../ledger/commands.ts';
import { floorToCents } from '../lib/money.ts';
import type { Headers } from './client.ts';
import type { Admitted } from './run.ts';
import { requestHeaders } from './running.ts';
import type { WaitingClient } from './waiting-client.ts';

/** Throws ApiError when the answer was too long to be kept. */
export async function replay(admitted: Admitted, client: WaitingClient, response: StoredResponse): Promise<void> {
  admitted.trace.replayed = true;
  const { body } = response;
  if (body === null) throw bodyNotRetained(admitted);
  const costs = await costHeaders(admitted);
  const headers = { ...requestHeaders(admitted), ...response.headers, ...costs };
  if (!admitted.request.stream) return client.sendAnswer(body, headers);
  const isOpen = client.openStream !== null;
  const stream = client.startStream(headers, []);
  await stream.write(body);
  // A stream that was opened while it waited had promised these for its end.
  stream.end('', isOpen ? costs : {});
}

async function costHeaders({ gateway, key }: Admitted): Promise<Headers> {
  const { headers } = gateway;
  const balance = await gateway.readBalance(ledgerIdOf(key.accountId, key.mode));
  return {
    [headers.cost]: '0',
    ...(balance && { [headers.balance]: String(floorToCents(balance.availableMicros)) }),
    [headers.cache]: 'idempotent-replay',
  };
}

function bodyNotRetained({ gateway }: Admitted): ApiError {
  const limit = gateway.config.idempotency.body_limit_bytes;
  return new ApiError(
    'idempotency_body_not_retained',
    `The request with this Idempotency-Key has succeeded and was charged once, but its answer is longer than the ${limit} bytes that ` +
      'are kept (`idempotency.body_limit_bytes`). It is not run again; use a new key to run it anew.',
  );
}
