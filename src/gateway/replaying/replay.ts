// Replays the answer of an earlier request, byte for byte, by its Idempotency-Key or from the
// cache. It costs nothing, so it needs no balance.
import { ApiError } from '../../canonical/errors.ts';
import type { StoredResponse } from '../../terms/stored-response.ts';
import { ledgerIdOf } from '../../domain/ledger/commands.ts';
import { floorToCents } from '../../lib/money.ts';
import type { Headers } from '../client.ts';
import type { ReplaySource } from '../../events/request-fields.ts';
import { requestHeaders } from '../headers.ts';
import { retentionHeaders } from '../charging/answer-storage.ts';
import type { Accepted } from '../stages.ts';
import type { WaitingClient } from './waiting-client.ts';

type Replayed = {
  readonly response: StoredResponse;
  readonly source: ReplaySource;
  /** False: a repeat with its Idempotency-Key will not get the answer. */
  readonly isKept?: boolean;
};

/** Throws ApiError when the body was not stored. */
export async function replay(
  asked: Accepted,
  client: WaitingClient,
  { response, source, isKept = true }: Replayed,
): Promise<void> {
  const { body } = response;
  if (body === null) throw bodyNotRetained();
  asked.caller.record.note({ cache: source, saved: response.worth });
  const { gateway, caller, sale } = asked;
  const { key } = caller;
  const balance = await gateway.books.readBalance(ledgerIdOf(key.accountId, key.mode));
  const costs: Headers = {
    [gateway.headers.cost]: '0',
    [gateway.headers.cache]: source,
    ...retentionHeaders(gateway.headers, { isNotKept: !isKept }),
    ...(balance && { [gateway.headers.balance]: String(floorToCents(balance.availableMicros)) }),
  };
  const about = { ...response.headers, ...costs };
  const headers = { ...requestHeaders(asked), ...about };
  if (!sale.stream) return client.sendAnswer(body, { ...headers, ...typeOf(response) });
  const isOpen = client.openStream !== null;
  const stream = client.startStream({ ...headers, 'content-type': response.contentType }, []);
  await stream.write(body);
  // A stream that a keep-alive opened has announced these as trailers.
  stream.end('', isOpen ? about : {});
}

function typeOf({ contentType }: StoredResponse): Headers {
  return contentType.startsWith('application/json') ? {} : { 'content-type': contentType };
}

function bodyNotRetained(): ApiError {
  return new ApiError(
    'idempotency_body_not_retained',
    'The request with this Idempotency-Key has succeeded and is not charged again, but its answer is not stored: it was too much for ' +
      'what an account stores in a day (`idempotency.file_bytes_per_day` for long answers, `limits.free_bytes_per_day` for free ones), ' +
      'its file could not be written or is gone, the account stores no answers or has erased them, or the secret that ' +
      'encrypted it has ended. It is not run again; use a new key to run it again.',
    // SDKs would retry a 409.
    { headers: { 'x-should-retry': 'false' } },
  );
}
