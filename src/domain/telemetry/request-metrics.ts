// The metrics of finished requests: those of the semantic conventions for OTLP, and Tollgate's own. A
// client cannot make label values: a path without a route is `none`, and models are those of the
// catalogue.
import type { CallEnded, RequestAnswered, RequestEvent } from '../../events/request-events.ts';
import type { ObservedRequest } from '../../events/request-listener.ts';
import { totalInputTokens, type Usage } from '../../canonical/usage.ts';
import type { Registry } from '../../lib/metrics/registry.ts';
import { operationOf, providerNameOf } from './conventions.ts';
import type { FinishedRequest } from './finished-request.ts';
import { errorTypeOf } from './span-attributes.ts';

/** Bucket bounds in seconds, from a millisecond to the longest answers. */
const routeBounds = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800];
const modelBounds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600];
/** Bucket bounds that the conventions ask for. */
const durationBounds = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];
const firstTokenBounds = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
];
const perTokenBounds = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5];
const tokenBounds = Array.from({ length: 14 }, (_, power) => 4 ** power);

export class RequestMetrics {
  readonly registry: Registry;
  readonly #of: ReturnType<typeof instrumentsIn>;

  constructor(registry: Registry) {
    this.registry = registry;
    this.#of = instrumentsIn(registry);
  }

  /** Counts answered requests, for Prometheus. */
  hear(event: RequestEvent, request: ObservedRequest): void {
    if (event.type === 'answered') this.#noteAnswered(event, request);
  }

  #noteAnswered(answered: RequestAnswered, { fields }: ObservedRequest): void {
    const { route, status, startMs, endMs } = answered;
    const { mode, model, provider, errorCode = '', cache, firstByteMs, costMicros } = fields;
    const seconds = (endMs - startMs) / 1_000;
    this.#of.routeDuration.note(seconds, route ?? 'none');
    this.#of.requests.add(1, route ?? 'none', String(status), errorCode);
    if (errorCode === 'rate_limit_exceeded') {
      const { rateLimit = 'other', rateLimitScope = 'other' } = fields;
      this.#of.rateLimited.add(1, rateLimit, rateLimitScope);
    }
    if (mode === undefined || model === undefined) return;
    if (cache) this.#of.replayed.add(1, mode, model, cache, provider ?? 'none');
    if (provider === undefined) return;
    if (firstByteMs !== undefined) this.#of.firstByte.note(firstByteMs / 1_000, model, provider);
    if (costMicros !== undefined) this.#of.answer.note(seconds, model, provider);
  }

  /** Called when nothing of a request runs any more, for OTLP. */
  noteOver(request: FinishedRequest): void {
    const operation = operationOf(request);
    if (operation === null) return;
    this.#noteOver(operation, request);
    const { steps, lastCall, usage } = request.spans;
    for (const step of steps)
      if (step.type === 'call-ended')
        this.#noteCall(operation, step, step === lastCall ? usage : null);
  }

  #noteOver(operation: string, { fields, startMs, endMs, spans, status }: FinishedRequest): void {
    const error = fields.errorCode ?? (status >= 500 ? String(status) : '');
    const { provider = 'none', model = 'none' } = fields;
    // The resolved model: a name that a client makes up would be a series of its own.
    const labels = [operation, providerNameOf(provider), model];
    this.#of.request.note((endMs - startMs) / 1_000, ...labels, error);
    const { lastCall, usage } = spans;
    const firstByteMs = lastCall?.call.firstByteMs ?? null;
    if (!lastCall || firstByteMs === null || error !== '') return;
    this.#of.firstToken.note((firstByteMs - startMs) / 1_000, ...labels);
    const later = (usage?.outputTokens ?? 0) - 1;
    if (later > 0)
      this.#of.perToken.note((lastCall.endMs - firstByteMs) / 1_000 / later, ...labels);
  }

  #noteCall(operation: string, { call, failure, endMs }: CallEnded, usage: Usage | null): void {
    const { provider, upstreamModel, startMs, firstByteMs } = call;
    const labels = [operation, providerNameOf(provider), upstreamModel];
    const error = failure ? errorTypeOf(failure) : '';
    this.#of.call.note((endMs - startMs) / 1_000, ...labels, error);
    if (firstByteMs !== null) this.#of.firstChunk.note((firstByteMs - startMs) / 1_000, ...labels);
    if (!usage) return;
    this.#of.tokens.note(totalInputTokens(usage), ...labels, 'input');
    this.#of.tokens.note(usage.outputTokens, ...labels, 'output');
  }
}

function instrumentsIn(registry: Registry) {
  const ofModels = ['gen_ai.operation.name', 'gen_ai.provider.name', 'gen_ai.request.model'];
  const seconds = (
    bounds: readonly number[],
    { name, description, attributes = [] }: GenAiMetric,
  ) =>
    registry.histogram(bounds, null, {
      name: `gen_ai.${name}`,
      description,
      unit: 's',
      attributes: [...ofModels, ...attributes],
    });
  return {
    requests: registry.counter({
      name: 'tollgate_requests_total',
      help: 'Requests that were answered, by route, status and the code of the error.',
      labels: ['route', 'status', 'error_code'],
    }),
    routeDuration: registry.histogram(routeBounds, {
      name: 'tollgate_request_duration_seconds',
      help: 'From the first byte of the request to the last of the answer.',
      labels: ['route'],
    }),
    firstByte: registry.histogram(modelBounds, {
      name: 'tollgate_first_token_seconds',
      help: 'From the arrival of a request to the first piece of its streamed answer.',
      labels: ['model', 'provider'],
    }),
    answer: registry.histogram(modelBounds, {
      name: 'tollgate_answer_duration_seconds',
      help: 'From the arrival of a charged request to the end of its answer.',
      labels: ['model', 'provider'],
    }),
    replayed: registry.counter(
      {
        name: 'tollgate_replayed_total',
        help: 'Requests answered with the stored answer of an earlier one, free of charge.',
        labels: ['mode', 'model', 'cache'],
      },
      {
        name: 'tollgate.replayed',
        description: 'Requests answered with a stored answer, free of charge.',
        unit: '{request}',
        attributes: ['tollgate.mode', 'tollgate.model', 'tollgate.cache', 'tollgate.provider'],
      },
    ),
    rateLimited: registry.counter({
      name: 'tollgate_rate_limited_total',
      help: 'Requests refused by a rate limit of a key, an account or an address.',
      labels: ['limit', 'scope'],
    }),
    call: seconds(durationBounds, {
      name: 'client.operation.duration',
      description: 'GenAI operation duration.',
      attributes: ['error.type'],
    }),
    firstChunk: seconds(durationBounds, {
      name: 'client.operation.time_to_first_chunk',
      description: 'Time to receive the first chunk of a stream.',
    }),
    tokens: registry.histogram(tokenBounds, null, {
      name: 'gen_ai.client.token.usage',
      description: 'Number of input and output tokens used.',
      unit: '{token}',
      attributes: [...ofModels, 'gen_ai.token.type'],
    }),
    request: seconds(durationBounds, {
      name: 'server.request.duration',
      description:
        'Generative AI server request duration such as time-to-last byte or last output token.',
      attributes: ['error.type'],
    }),
    firstToken: seconds(firstTokenBounds, {
      name: 'server.time_to_first_token',
      description: 'Time to generate first token for successful responses.',
    }),
    perToken: seconds(perTokenBounds, {
      name: 'server.time_per_output_token',
      description:
        'Time per output token generated after the first token for successful responses.',
    }),
  };
}

type GenAiMetric = {
  readonly name: string;
  readonly description: string;
  /** Beside those of all. */
  readonly attributes?: readonly string[];
};
