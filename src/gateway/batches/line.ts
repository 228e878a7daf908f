// A line of a batch as a request: what it may cost, and its result in the form of the client's API.
import { type ApiError, invalidRequest } from '../../canonical/errors.ts';
import { clientFormatAt } from '../../formats/registry.ts';
import { type JsonObject, objectOf } from '../../lib/json.ts';
import { type Micros, zeroMicros } from '../../lib/money.ts';
import type { BatchForm, LineOutcome } from '../../terms/batch.ts';
import { batchPrice } from '../../domain/catalog/price.ts';
import type { BatchMax } from '../../providers/batches/host.ts';
import { resultBytesMax } from '../../providers/batches/shared.ts';
import { checkPermission } from '../admission/permitted-model.ts';
import { namesMediaInside } from '../answering/fetched-images.ts';
import type { Gateway } from '../gateway.ts';
import type { BatchRoute, Caller, IncomingRequest, PassedLine } from '../request.ts';
import type { FirstCall } from '../charging/offer.ts';
import type { Endpoint } from '../stages.ts';
import { readTags } from '../tags.ts';

/** Inherited by lines from the request that created their batch. Stored as JSON. */
export type LineContext = {
  readonly baseUrl: string;
  readonly versionHeaders: Readonly<Record<string, string>>;
  readonly tags: string | undefined;
};

type Line = Pick<Caller, 'requestId' | 'key' | 'record' | 'arrivedAtMs'> & {
  readonly endpoint: string;
  readonly body: JsonObject;
  /** As in Caller; left out: the line is only estimated. */
  readonly nextTurn?: Caller['nextTurn'];
  /** Left out: the line is only estimated. */
  readonly idempotencyKey?: string;
  readonly passed?: PassedLine | undefined;
};

export function requestOf(
  { baseUrl, versionHeaders, tags }: LineContext,
  line: Line,
): IncomingRequest {
  const { requestId, key, endpoint, body, record, arrivedAtMs, idempotencyKey, passed } = line;
  const { nextTurn = null } = line;
  const beta = versionHeaders['anthropic-beta'];
  return {
    caller: { requestId, arrivedAtMs, key, baseUrl, nextTurn, record, isLine: true },
    method: 'POST',
    path: endpoint,
    wishes: {
      idempotencyKey,
      cache: passed ? 'false' : undefined,
      streamComments: undefined,
      tags,
    },
    versionHeaders,
    forwardable: beta === undefined ? {} : { 'anthropic-beta': beta },
    sessionId: null,
    body,
    ...(passed && { passed }),
  };
}

/** The most that a line can cost, and its call of a model as it would be made; null: it makes none. */
type LineEstimate = {
  readonly modelId: string;
  readonly heldMicros: Micros;
  readonly likelyMicros: Micros;
  readonly firstCall: FirstCall | null;
};

/** Throws the ApiError that refuses the line. */
export function estimate(
  gateway: Gateway,
  endpoint: Endpoint,
  incoming: IncomingRequest,
): LineEstimate {
  const { caller, body, wishes } = incoming;
  if ((body as JsonObject)['stream'] === true)
    throw invalidRequest('stream', '`stream` must be left out: a batch stores whole answers.');
  const tags = readTags(gateway, wishes.tags, body);
  const sale = endpoint(gateway, incoming);
  checkPermission(caller.key, sale.modelId);
  const { modelId } = sale;
  if (sale.answerUnrun)
    return { modelId, heldMicros: zeroMicros, likelyMicros: zeroMicros, firstCall: null };
  const names = { request: null, cache: null };
  const accepted = { gateway, caller, tags, names, sale, wantsComments: false, rateHeaders: {} };
  const { amountMicros, likelyCost, firstCall } = sale.estimate().offer(accepted);
  return {
    modelId,
    heldMicros: amountMicros,
    likelyMicros: likelyCost?.atOnceMicros ?? zeroMicros,
    firstCall: firstCall?.() ?? null,
  };
}

/**
 * Returns where a provider's batch API runs the line; null: our own queue runs it, because the provider
 * has no such API, its price is not known, or the line asks for what only a live call has: an account's
 * own key, a service tier, hosted tools, or media that the gateway must fetch.
 */
export function batchRouteOf(firstCall: FirstCall | null): PassedTo | null {
  if (!firstCall || firstCall.tools || firstCall.price.allowed?.tier) return null;
  const { name, upstreamModel, format, provider, batchModel } = firstCall.route;
  if (name.ownKeyId !== undefined || !batchPrice(firstCall.price)) return null;
  const host = provider.batches;
  if (!host?.paths.test(firstCall.written.path)) return null;
  if (host.takes?.(firstCall.written) === false) return null;
  if (host.hasOwnModels && batchModel === null) return null;
  const { inputs = 0 } = firstCall;
  if (inputs > (host.lineInputsMax ?? inputs)) return null;
  if (namesMediaInside(firstCall.route, firstCall.written.body)) return null;
  if (probabilityBytes(firstCall.written.body) > resultBytesMax) return null;
  const route = { provider: name.provider, upstreamModel, format };
  return { route, batchModel, max: host.max ?? {}, inputs };
}

/** A token's log probability as text, at most. */
const probabilityBytesMax = 200;

/** Returns the length of the log probabilities that a request asks for, at most, in any wire format. */
function probabilityBytes(text: string): number {
  if (!/logprobs/i.test(text)) return 0;
  const body = JSON.parse(text) as JsonObject;
  const asked = { ...body, ...objectOf(body['generationConfig']) };
  const { logprobs = asked['responseLogprobs'], top_logprobs: top = logprobs } = asked;
  if (!logprobs && !top) return 0;
  const { max_completion_tokens, max_tokens, max_output_tokens, maxOutputTokens } = asked;
  const tokens = max_completion_tokens ?? max_tokens ?? max_output_tokens ?? maxOutputTokens;
  const answers = Number(asked['n'] ?? asked['candidateCount'] ?? 1);
  const each = probabilityBytesMax * (1 + Number(top ?? 0));
  return Number(tokens ?? Infinity) * answers * each;
}

/** `inputs`: of the line. `max`: as in BatchHost. */
export type PassedTo = {
  readonly route: BatchRoute;
  /** As in Route. */
  readonly batchModel: string | null;
  readonly max: Partial<BatchMax>;
  readonly inputs: number;
};

type Named = { readonly form: BatchForm; readonly customId: string; readonly requestId: string };

/** `body`: the answer's JSON. */
export function succeededText({ form, customId, requestId }: Named, body: string): string {
  const id = JSON.stringify(customId);
  // Providers may break lines between values.
  const json = body.replaceAll(/[\r\n]+/g, ' ').trim();
  return form === 'anthropic'
    ? `{"custom_id":${id},"result":{"type":"succeeded","message":${json}}}`
    : `{"id":"${lineIdOf(requestId)}","custom_id":${id},"response":{"status_code":200,"request_id":"${requestId}","body":${json}},"error":null}`;
}

type ErrorPlace = { readonly endpoint: string; readonly publicUrl: string | null };

export function erroredText(
  { form, customId, requestId }: Named,
  error: ApiError,
  { endpoint, publicUrl }: ErrorPlace,
): string {
  const body = clientFormatAt(endpoint).writeError(error, { requestId, publicUrl });
  return JSON.stringify(
    form === 'anthropic'
      ? { custom_id: customId, result: { type: 'errored', error: body } }
      : {
          id: lineIdOf(requestId),
          custom_id: customId,
          response: { status_code: error.status, request_id: requestId, body },
          error: null,
        },
  );
}

/** The result of a line that did not run. */
export function unrunText(
  { form, customId, requestId }: Named,
  outcome: Extract<LineOutcome, 'canceled' | 'expired'>,
): string {
  if (form === 'anthropic')
    return JSON.stringify({ custom_id: customId, result: { type: outcome } });
  const error =
    outcome === 'expired'
      ? { code: 'batch_expired', message: 'The batch ended before this request was run.' }
      : {
          code: 'batch_cancelled',
          message: 'The batch was cancelled before this request was run.',
        };
  return JSON.stringify({ id: lineIdOf(requestId), custom_id: customId, response: null, error });
}

function lineIdOf(requestId: string): string {
  return requestId.replace(/^req_/, 'batch_req_');
}
