// Sends a request to a provider that only counts its input.
import type { UpstreamFailure } from '../../canonical/event.ts';
import type { Model } from '../../domain/catalog/model.ts';
import { readErrorMessage } from '../../formats/error-message.ts';
import type { JsonObject } from '../../lib/json.ts';
import { toApiError, withoutProvider } from '../calling/failure-message.ts';
import { timeoutsFor } from '../calling/timeouts.ts';
import type { Gateway } from '../gateway.ts';
import type { RequestRecord } from '../request-record.ts';
import { isCredentialRefused } from '../calling/retry-policy.ts';
import type { ChosenRoute } from '../routing/route.ts';

/**
 * The time to wait for a count. A client waits to send the real request: later, an estimate is more
 * useful.
 */
export const answerMsMax = 5_000;

type CountCall = {
  readonly gateway: Gateway;
  readonly requestId: string;
  readonly model: Model;
  readonly route: ChosenRoute;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
  readonly read: (answer: unknown) => number | null;
  readonly record: RequestRecord;
  readonly signal: AbortSignal;
};

/**
 * Returns the input tokens; null when the provider counted none. Throws ApiError `invalid_request`
 * when it refuses the request itself.
 */
export async function sendCount(call: CountCall): Promise<number | null> {
  const { gateway, model, route, path, headers, body, read, record, signal } = call;
  const { kind, provider } = route;
  const reply = await gateway.hosts.upstreams.send({
    provider,
    path,
    headers,
    trace: record.trace,
    body: JSON.stringify(body),
    stream: false,
    timeouts: timeoutsFor(provider.timeouts, { model, stream: false }),
    signal,
  });
  if (reply.kind === 'answer') return read(reply.body);
  if (reply.kind !== 'failure') return null;
  const message = readErrorMessage(reply.body) ?? reply.failure.message;
  const failure = { ...reply.failure, message };
  noteFailure(call, kind.readFailure?.(failure, reply.body) ?? failure);
  return null;
}

/**
 * Statuses that are about the request. A host without this endpoint answers 404 or 405, which say
 * nothing about it.
 */
const requestStatuses: readonly (number | null)[] = [400, 413, 422];

/**
 * Throws ApiError `invalid_request` when the upstream refuses the request itself; otherwise logs
 * the failure.
 */
function noteFailure(
  { gateway, requestId, model, route, record }: CountCall,
  failure: UpstreamFailure,
): void {
  record.note({ upstreamStatus: failure.status });
  if (requestStatuses.includes(failure.status)) {
    throw toApiError({ ...failure, message: withoutProvider(failure.message, route.provider) });
  }
  const { kind, status } = failure;
  const fields = {
    request_id: requestId,
    provider: route.name.provider,
    model: model.id,
    kind,
    upstream_status: status,
  };
  if (isCredentialRefused(status))
    gateway.log.error(
      fields,
      'the provider refuses its credential or wants money: it counts no tokens',
    );
  else gateway.log.warn(fields, 'the upstream counted no tokens; an estimate was given');
}
