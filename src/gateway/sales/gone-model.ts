// Repeats of requests that can run no more, because their model or its providers were removed: what
// was paid is replayed all the same.
import { ApiError } from '../../canonical/errors.ts';
import { clientFormats } from '../../formats/registry.ts';
import type { JsonObject } from '../../lib/json.ts';
import { formatSse } from '../../lib/sse.ts';
import { errorContextOf } from '../answering/head.ts';
import type { Gateway } from '../gateway.ts';
import { nameUnderKey } from '../admission/admit.ts';
import type { IncomingRequest } from '../request.ts';
import type { Endpoint, Sale } from '../stages.ts';

/**
 * Returns what a request asks to buy. When its model is gone and its Idempotency-Key was used, it
 * can be replayed but not run. Throws ApiError 400, 404 or 503.
 */
export function readSale(
  gateway: Gateway,
  endpoint: Endpoint,
  incoming: IncomingRequest,
): Sale | Promise<Sale> {
  try {
    return endpoint(gateway, incoming);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code === 'invalid_request') throw error;
    return saleOfGone(gateway, incoming, error);
  }
}

async function saleOfGone(
  gateway: Gateway,
  incoming: IncomingRequest,
  error: ApiError,
): Promise<Sale> {
  const name = nameUnderKey(incoming);
  const earlier = name && (await gateway.answers.idempotency.find(name));
  if (!earlier) throw error;
  const body = incoming.body as JsonObject;
  const context = errorContextOf({ gateway, caller: incoming.caller });
  return {
    modelId: earlier.modelId ?? String(body.model),
    provider: '',
    route: '',
    stream: body.stream === true,
    isCachedUnasked: false,
    headers: {},
    body,
    content: { asked: () => ({ system: [], messages: [] }), answerFormat: null },
    estimate: () => {
      throw error;
    },
    // Clients of every format read it.
    writeFailure: (failure) =>
      formatSse('error', JSON.stringify(clientFormats.responses.writeError(failure, context))),
  };
}
