// Writes the spans of a finished request in OTLP's JSON.
import type {
  CallSpan,
  HoldSpan,
  SettlementSpan,
  StepSpan,
} from '../../canonical/request-spans.ts';
import { totalInputTokens, type Usage } from '../../canonical/usage.ts';
import { usdFromMicros, type Micros } from '../../lib/money.ts';
import { AttributeList, quote } from './attributes.ts';
import { operationOf, providerNameOf } from './conventions.ts';
import type { FinishedRequest } from './finished-request.ts';

/** `SpanKind` of OTLP. */
const kinds = { internal: 1, server: 2, client: 3 } as const;

/**
 * Returns JSON objects with commas between them. `originMs`: the time since 1970 at
 * `Clock.elapsedMs` 0.
 */
export function writeSpans(request: FinishedRequest, originMs: number): string {
  const { spans, fields } = request;
  const served = servingCall(request);
  const isRefused = request.status >= 500;
  let text = writeSpan(request, originMs, {
    id: spans.id,
    parentId: spans.parentId,
    name: `${request.method} ${request.route}`,
    kind: kinds.server,
    startMs: request.startMs,
    endMs: request.endMs,
    attributes: requestAttributes(request, served),
    error: isRefused || fields.ending === 'failed' ? (fields.errorCode ?? 'failed') : null,
  });
  for (const step of spans.steps) text += `,${writeSpan(request, originMs, stepOf(request, step))}`;
  return text;
}

/** Returns the call whose answer the client got; undefined: none did. */
function servingCall({ spans: { steps } }: FinishedRequest): CallSpan | undefined {
  const last = steps.findLast((step) => step.kind === 'call');
  return last?.failure ? undefined : last;
}

type Written = {
  readonly id: string;
  readonly parentId: string | null;
  readonly name: string;
  readonly kind: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: AttributeList;
  /** `error.type`; null: it succeeded. */
  readonly error: string | null;
};

function writeSpan({ spans: { trace } }: FinishedRequest, originMs: number, span: Written): string {
  const { id, parentId, name, kind, startMs, endMs, attributes, error } = span;
  const parent = parentId === null ? '' : `"parentSpanId":"${parentId}",`;
  const state = trace.state === null ? '' : `"traceState":${JSON.stringify(trace.state)},`;
  // Flags: sampled, and whether the parent is known to be remote.
  const flags = kind !== kinds.server ? 0x101 : parentId === null ? 0x1 : 0x301;
  return (
    `{"traceId":"${trace.traceId}","spanId":"${id}",${parent}${state}"flags":${flags},` +
    `"name":${quote(name)},"kind":${kind},` +
    `"startTimeUnixNano":"${nanosOf(originMs + startMs)}","endTimeUnixNano":"${nanosOf(originMs + endMs)}",` +
    `"attributes":${attributes.write()}${error === null ? '' : ',"status":{"code":2}'}}`
  );
}

/** Nanoseconds as text: they are beyond the whole numbers of a double. */
function nanosOf(ms: number): string {
  return `${Math.round(ms * 1_000)}000`;
}

function requestAttributes(
  { method, route, status, isClientGone, startMs, spans, fields }: FinishedRequest,
  served: CallSpan | undefined,
): AttributeList {
  const list = new AttributeList()
    .text('http.request.method', method)
    .text('http.route', route)
    .text('url.path', route)
    .whole('http.response.status_code', status)
    .text('error.type', fields.errorCode ?? (status >= 500 ? String(status) : null))
    .text('gen_ai.operation.name', operationOf(route))
    .text('gen_ai.request.model', spans.askedModel)
    .flag('gen_ai.request.stream', fields.stream)
    .text('tollgate.request.id', fields.requestId)
    .text('tollgate.account.id', fields.accountId)
    .text('tollgate.key.id', fields.keyId)
    .text('tollgate.mode', fields.mode)
    .text('tollgate.model', fields.model)
    .whole('tollgate.calls', fields.attempts)
    .text('tollgate.cache', fields.cache)
    .text('tollgate.ending', fields.ending)
    .flag('tollgate.client_gone', isClientGone);
  if (served) {
    list
      .text('gen_ai.provider.name', providerNameOf(served.facts.provider))
      .text('gen_ai.response.model', fields.model)
      .oneOf('gen_ai.response.finish_reasons', served.stop && finishReasons[served.stop])
      .fraction('gen_ai.response.time_to_first_chunk', secondsFrom(startMs, served.firstPieceMs));
    if (served.usage) addUsage(list, served.usage);
  }
  addCost(list, fields.costMicros ?? (fields.cache ? 0 : undefined));
  return list
    .whole('tollgate.upstream_cost.micros', fields.upstreamCostMicros)
    .whole('tollgate.loss.micros', fields.lossMicros);
}

function secondsFrom(startMs: number, ms: number | null): number | null {
  return ms === null ? null : (ms - startMs) / 1_000;
}

function addCost(list: AttributeList, costMicros: number | undefined): void {
  if (costMicros === undefined) return;
  list
    .whole('tollgate.cost.micros', costMicros)
    .fraction('tollgate.cost.usd', usdFromMicros(costMicros as Micros));
}

/** The conventions' finish reasons follow Chat Completions. */
const finishReasons = {
  end: 'stop',
  'stop-sequence': 'stop',
  'tool-calls': 'tool_call',
  length: 'length',
  'content-filter': 'content_filter',
  refusal: 'content_filter',
  pause: 'pause',
} as const;

function addUsage(list: AttributeList, usage: Usage): void {
  const { cacheReadTokens, cacheWriteTokens, cacheWrite1hTokens, reasoningTokens } = usage;
  list
    .whole('gen_ai.usage.input_tokens', totalInputTokens(usage))
    .whole('gen_ai.usage.output_tokens', usage.outputTokens)
    .whole('gen_ai.usage.cache_read.input_tokens', cacheReadTokens || null)
    .whole(
      'gen_ai.usage.cache_creation.input_tokens',
      cacheWriteTokens + cacheWrite1hTokens || null,
    )
    .whole('gen_ai.usage.reasoning.output_tokens', reasoningTokens || null);
}

function stepOf(request: FinishedRequest, step: StepSpan): Written {
  const { name, kind, attributes, error } = writeStep(request, step);
  return {
    id: step.id,
    parentId: request.spans.id,
    name,
    kind,
    startMs: step.startMs,
    endMs: step.endMs ?? request.endMs,
    attributes,
    error,
  };
}

function writeStep(request: FinishedRequest, step: StepSpan): Facts {
  switch (step.kind) {
    case 'call':
      return writeCall(request, step);
    case 'hold':
      return writeHold(step);
    case 'settlement':
      return writeSettlement(step);
  }
}

type Facts = Pick<Written, 'name' | 'kind' | 'attributes' | 'error'>;

function writeCall(request: FinishedRequest, call: CallSpan): Facts {
  const { facts, failure, usage, stop, firstPieceMs, startMs } = call;
  const { provider, upstreamModel, baseUrl, isStream } = facts;
  const operation = operationOf(request.route) ?? 'chat';
  const error = failure && errorTypeOf(failure);
  const attributes = new AttributeList()
    .text('gen_ai.operation.name', operation)
    .text('gen_ai.request.model', upstreamModel || null)
    .flag('gen_ai.request.stream', isStream)
    .oneOf('gen_ai.response.finish_reasons', stop && finishReasons[stop])
    .fraction('gen_ai.response.time_to_first_chunk', secondsFrom(startMs, firstPieceMs))
    .text('error.type', error)
    .text('gen_ai.provider.name', providerNameOf(provider))
    .text('tollgate.provider', provider);
  if (usage) addUsage(attributes, usage);
  if (baseUrl !== null) {
    const { address, port } = serverOf(baseUrl);
    attributes.text('server.address', address).whole('server.port', port);
  }
  return {
    name: upstreamModel === '' ? operation : `${operation} ${upstreamModel}`,
    kind: baseUrl === null ? kinds.internal : kinds.client,
    error,
    attributes,
  };
}

/** The status of the provider's answer, or how the call failed. */
export function errorTypeOf({ kind, status }: NonNullable<CallSpan['failure']>): string {
  return kind === 'status' ? String(status) : kind;
}

/** Parsed once: there are as many as the configuration has providers. */
const servers = new Map<string, { readonly address: string; readonly port: number }>();

function serverOf(baseUrl: string) {
  let server = servers.get(baseUrl);
  if (!server) {
    const { hostname, port, protocol } = new URL(baseUrl);
    const usual = protocol === 'https:' ? 443 : 80;
    server = { address: hostname, port: port === '' ? usual : Number(port) };
    servers.set(baseUrl, server);
  }
  return server;
}

function writeHold({ amountMicros, outcome }: HoldSpan): Facts {
  const error = outcome === 'held' ? null : (outcome ?? 'failed');
  const attributes = new AttributeList()
    .whole('tollgate.hold.micros', amountMicros)
    .text('tollgate.hold.outcome', outcome)
    .text('error.type', error);
  return { name: 'hold', kind: kinds.internal, error, attributes };
}

function writeSettlement({ settled }: SettlementSpan): Facts {
  const error = settled ? null : 'failed';
  const attributes = new AttributeList()
    .text('tollgate.settlement', settled?.kind)
    .text('error.type', error);
  addCost(attributes, settled?.costMicros);
  attributes.whole('tollgate.loss.micros', settled?.lossMicros);
  return { name: 'settlement', kind: kinds.internal, error, attributes };
}
