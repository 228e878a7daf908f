// The answer of an earlier request, byte for byte, by its Idempotency-Key or out of the cache. It costs nothing, and so needs no balance.
import { ApiError } from '../canonical/errors.ts';
import type { StoredResponse } from '../canonical/stored-response.ts';
import { ledgerIdOf } from '../ledger/commands.ts';
import type { Balance } from '../ledger/queries.ts';
import { floorToCents } from '../lib/money.ts';
import type { Headers } from './client.ts';
import type { Admitted } from './admitted.ts';
import type { Gateway, RequestTrace } from './gateway.ts';
import { requestHeaders } from './running.ts';
import type { WaitingClient } from './waiting-client.ts';

/** As the header tells it, and the log. */
export type ReplaySource = 'hit' | 'idempotent-replay';

export type Replayed = { readonly response: StoredResponse; readonly source: ReplaySource };

/** Throws ApiError when the answer's body was not kept. */
export async function replay(admitted: Admitted, client: WaitingClient, { response, source }: Replayed): Promise<void> {
  noteReplay(admitted.trace, { response, source });
  const { body } = response;
  if (body === null) throw bodyNotRetained(admitted);
  const { gateway, key } = admitted;
  const balance = await gateway.readBalance(ledgerIdOf(key.accountId, key.mode));
  const costs = { ...costHeaders(gateway, source), ...balanceHeaders(gateway, balance) };
  const headers = { ...requestHeaders(admitted), ...response.headers, ...costs };
  if (!admitted.work.stream) return client.sendAnswer(body, headers);
  const isOpen = client.openStream !== null;
  const stream = client.startStream(headers, []);
  await stream.write(body);
  // A stream that was opened while it waited had promised these for its end.
  stream.end('', isOpen ? costs : {});
}

/** For the log, the metrics and the account's activity. */
export function noteReplay(trace: RequestTrace, { response, source }: Replayed): void {
  trace.cache = source;
  trace.saved = response.worth;
}

/** What every replay says of itself. */
export function costHeaders({ headers }: Gateway, source: ReplaySource): Headers {
  return { [headers.cost]: '0', [headers.cache]: source };
}

/** What the account has left, at this moment. */
export function balanceHeaders({ headers }: Gateway, balance: Balance | null): Headers {
  return balance ? { [headers.balance]: String(floorToCents(balance.availableMicros)) } : {};
}

function bodyNotRetained({ gateway }: Admitted): ApiError {
  const limit = gateway.config.idempotency.body_limit_bytes;
  return new ApiError(
    'idempotency_body_not_retained',
    'The request with this Idempotency-Key has succeeded and was charged once, but its answer was not kept: it is longer than ' +
      `${limit} bytes (\`idempotency.body_limit_bytes\`), or the account keeps none. It is not run again; use a new key to run it anew.`,
  );
}
