// The metrics of finished requests: those of the conventions, and money as the ledger booked it.
import type { CallSpan } from '../../canonical/request-spans.ts';
import { totalInputTokens } from '../../canonical/usage.ts';
import { operationOf, providerNameOf } from './conventions.ts';
import type { FinishedRequest } from './finished-request.ts';
import { Counter, Histogram, labelsOf } from './instruments.ts';
import { errorTypeOf } from './span-attributes.ts';

/** Bucket bounds that the conventions ask for. */
const durationBounds = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];
const firstTokenBounds = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
];
const perTokenBounds = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5];
const tokenBounds = Array.from({ length: 14 }, (_, power) => 4 ** power);

const histogram = (name: string, unit: string, description: string, bounds: readonly number[]) =>
  new Histogram({ name: `gen_ai.${name}`, description, unit }, bounds);
const counter = (name: string, unit: string, description: string) =>
  new Counter({ name: `tollgate.${name}`, description, unit });

export function createRequestMetrics() {
  const instruments = {
    call: histogram('client.operation.duration', 's', 'GenAI operation duration.', durationBounds),
    tokens: histogram(
      'client.token.usage',
      '{token}',
      'Number of input and output tokens used.',
      tokenBounds,
    ),
    firstChunk: histogram(
      'client.operation.time_to_first_chunk',
      's',
      'Time to receive the first chunk of a stream.',
      durationBounds,
    ),
    request: histogram(
      'server.request.duration',
      's',
      'Generative AI server request duration such as time-to-last byte or last output token.',
      durationBounds,
    ),
    firstToken: histogram(
      'server.time_to_first_token',
      's',
      'Time to generate first token for successful responses.',
      firstTokenBounds,
    ),
    perToken: histogram(
      'server.time_per_output_token',
      's',
      'Time per output token generated after the first token for successful responses.',
      perTokenBounds,
    ),
    charged: counter('charged', '{microdollar}', 'Charged to accounts.'),
    upstreamCost: counter(
      'upstream_cost',
      '{microdollar}',
      'What the charged requests cost the operator.',
    ),
    loss: counter('loss', '{microdollar}', 'What nobody paid.'),
    replayed: counter(
      'replayed',
      '{request}',
      'Requests answered with a stored answer, free of charge.',
    ),
  };
  return {
    all: Object.values(instruments),
    record(request: FinishedRequest): void {
      const operation = operationOf(request.route);
      if (operation === null) return;
      recordRequest(instruments, operation, request);
      for (const step of request.spans.steps)
        if (step.kind === 'call') recordCall(instruments, { operation, request }, step);
      recordMoney(instruments, request);
    },
  };
}

type Instruments = Readonly<
  Record<'call' | 'tokens' | 'firstChunk' | 'request' | 'firstToken' | 'perToken', Histogram> &
    Record<'charged' | 'upstreamCost' | 'loss' | 'replayed', Counter>
>;

function recordRequest(
  { request: duration, firstToken, perToken }: Instruments,
  operation: string,
  { fields, startMs, endMs, spans, status }: FinishedRequest,
): void {
  const served = spans.steps.findLast((step) => step.kind === 'call');
  // The resolved model: a name that a client makes up would be a series of its own.
  const attributes = {
    'gen_ai.operation.name': operation,
    'gen_ai.provider.name': providerNameOf(fields.provider ?? 'none'),
    'gen_ai.request.model': fields.model ?? 'none',
  };
  const error = fields.errorCode ?? (status >= 500 ? String(status) : null);
  const labels = labelsOf(error === null ? attributes : { ...attributes, 'error.type': error });
  duration.record((endMs - startMs) / 1_000, labels);
  if (!served || served.firstPieceMs === null || error !== null) return;
  firstToken.record((served.firstPieceMs - startMs) / 1_000, labels);
  const later = (served.usage?.outputTokens ?? 0) - 1;
  const lastMs = served.endMs ?? endMs;
  if (later > 0) perToken.record((lastMs - served.firstPieceMs) / 1_000 / later, labels);
}

function recordCall(
  { call: duration, tokens, firstChunk }: Instruments,
  { operation, request }: { readonly operation: string; readonly request: FinishedRequest },
  { facts, failure, usage, startMs, endMs, firstPieceMs }: CallSpan,
): void {
  const attributes = {
    'gen_ai.operation.name': operation,
    'gen_ai.provider.name': providerNameOf(facts.provider),
    'gen_ai.request.model': facts.upstreamModel,
  };
  const labels = labelsOf(attributes);
  duration.record(
    ((endMs ?? request.endMs) - startMs) / 1_000,
    failure ? labelsOf({ ...attributes, 'error.type': errorTypeOf(failure) }) : labels,
  );
  if (firstPieceMs !== null) firstChunk.record((firstPieceMs - startMs) / 1_000, labels);
  if (!usage) return;
  const ofTokens = (type: string) => labelsOf({ ...attributes, 'gen_ai.token.type': type });
  tokens.record(totalInputTokens(usage), ofTokens('input'));
  tokens.record(usage.outputTokens, ofTokens('output'));
}

function recordMoney(
  { charged, upstreamCost, loss, replayed }: Instruments,
  { fields }: FinishedRequest,
): void {
  const { mode, model, provider = 'none', cache } = fields;
  if (!mode || !model) return;
  const attributes = {
    'tollgate.mode': mode,
    'tollgate.model': model,
    'tollgate.provider': provider,
  };
  const labels = labelsOf(attributes);
  charged.add(fields.costMicros ?? 0, labels);
  upstreamCost.add(fields.upstreamCostMicros ?? 0, labels);
  loss.add(fields.lossMicros ?? 0, labels);
  if (cache) replayed.add(1, labelsOf({ ...attributes, 'tollgate.cache': cache }));
}
