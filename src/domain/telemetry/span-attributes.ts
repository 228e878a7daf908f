// The attributes of each kind of span, and who sees them. An account gets everything about its own
// requests that the dashboard shows it, and nothing of what they cost the operator.
import type { CallEnded, HoldTried, Settled } from '../../events/request-events.ts';
import type { SpanContent } from '../../events/request-spans.ts';
import { totalInputTokens, type Usage } from '../../canonical/usage.ts';
import { flag, millionths, oneOf, text, whole } from './attributes.ts';
import { finishReasonOf, operationOf, providerNameOf } from './conventions.ts';
import type { FinishedRequest } from './finished-request.ts';
import type { JsonBytes } from './json-bytes.ts';

export type Audience = 'operator' | 'account';

const errorType = text('error.type');
const operationName = text('gen_ai.operation.name');
const providerName = text('gen_ai.provider.name');
const requestModel = text('gen_ai.request.model');
const requestStream = flag('gen_ai.request.stream');
const finishReasons = oneOf('gen_ai.response.finish_reasons');
const timeToFirstChunk = millionths('gen_ai.response.time_to_first_chunk');

const request = {
  method: text('http.request.method'),
  route: text('http.route'),
  path: text('url.path'),
  status: whole('http.response.status_code'),
  responseModel: text('gen_ai.response.model'),
  id: text('tollgate.request.id'),
  account: text('tollgate.account.id'),
  key: text('tollgate.key.id'),
  mode: text('tollgate.mode'),
  model: text('tollgate.model'),
  calls: whole('tollgate.calls'),
  cache: text('tollgate.cache'),
  ending: text('tollgate.ending'),
  clientGone: flag('tollgate.client_gone'),
  systemInstructions: text('gen_ai.system_instructions'),
  inputMessages: text('gen_ai.input.messages'),
  outputMessages: text('gen_ai.output.messages'),
  contentCut: flag('tollgate.content_cut'),
};
const call = {
  provider: text('tollgate.provider'),
  serverAddress: text('server.address'),
  serverPort: whole('server.port'),
};
const hold = { micros: whole('tollgate.hold.micros'), outcome: text('tollgate.hold.outcome') };
const usages = {
  input: whole('gen_ai.usage.input_tokens'),
  output: whole('gen_ai.usage.output_tokens'),
  cacheRead: whole('gen_ai.usage.cache_read.input_tokens'),
  cacheCreation: whole('gen_ai.usage.cache_creation.input_tokens'),
  reasoning: whole('gen_ai.usage.reasoning.output_tokens'),
};
const money = {
  settlement: text('tollgate.settlement'),
  costMicros: whole('tollgate.cost.micros'),
  costUsd: millionths('tollgate.cost.usd'),
  upstreamCostMicros: whole('tollgate.upstream_cost.micros'),
  lossMicros: whole('tollgate.loss.micros'),
};

export function writeRequestAttributes(
  json: JsonBytes,
  { method, route, status, isClientGone, startMs, spans, fields }: FinishedRequest,
  audience: Audience,
): void {
  const { lastCall, usage } = spans;
  const served = lastCall?.failure ? null : lastCall;
  request.method(json, method);
  request.route(json, route);
  request.path(json, route);
  request.status(json, status);
  errorType(json, fields.errorCode ?? (status >= 500 ? String(status) : null));
  operationName(json, operationOf({ route, spans }));
  requestModel(json, spans.askedModel);
  requestStream(json, fields.stream || null);
  request.id(json, fields.requestId);
  request.account(json, fields.accountId);
  request.key(json, fields.keyId);
  request.mode(json, fields.mode);
  request.model(json, fields.model);
  request.calls(json, fields.attempts);
  request.cache(json, fields.cache);
  request.ending(json, fields.ending);
  request.clientGone(json, isClientGone || null);
  if (served) {
    providerName(json, providerNameOf(served.call.provider));
    request.responseModel(json, fields.model);
    finishReasons(json, served.stop && finishReasonOf[served.stop]);
    timeToFirstChunk(json, microsFrom(startMs, served.call.firstByteMs));
    if (usage) writeUsage(json, usage);
  }
  writeCost(json, fields.costMicros ?? (fields.cache ? 0 : undefined));
  if (audience === 'account') return writeContent(json, spans.readContent?.() ?? null);
  money.upstreamCostMicros(json, fields.upstreamCostMicros);
  money.lossMicros(json, fields.lossMicros);
}

type CallContext = {
  readonly operation: string;
  readonly audience: Audience;
  /** null: nothing was charged for its answer. */
  readonly usage: Usage | null;
};

export function writeCallAttributes(
  json: JsonBytes,
  { call: facts, failure, stop }: CallEnded,
  { operation, audience, usage }: CallContext,
): void {
  const { provider, upstreamModel, baseUrl, isStream, startMs, firstByteMs } = facts;
  operationName(json, operation);
  requestModel(json, upstreamModel || null);
  requestStream(json, isStream || null);
  finishReasons(json, stop && finishReasonOf[stop]);
  timeToFirstChunk(json, microsFrom(startMs, firstByteMs));
  errorType(json, failure && errorTypeOf(failure));
  providerName(json, providerNameOf(provider));
  call.provider(json, provider);
  if (usage) writeUsage(json, usage);
  if (audience === 'account' || baseUrl === null) return;
  const { address, port } = serverOf(baseUrl);
  call.serverAddress(json, address);
  call.serverPort(json, port);
}

/** The status of the provider's answer, or how the call failed. */
export function errorTypeOf({ kind, status }: NonNullable<CallEnded['failure']>): string {
  return kind === 'status' ? String(status) : kind;
}

export function writeHoldAttributes(json: JsonBytes, { amountMicros, outcome }: HoldTried): void {
  hold.micros(json, amountMicros);
  hold.outcome(json, outcome === 'failed' ? null : outcome);
  errorType(json, outcome === 'held' ? null : outcome);
}

export function writeSettlementAttributes(
  json: JsonBytes,
  { settled }: Settled,
  audience: Audience,
): void {
  money.settlement(json, settled?.kind);
  errorType(json, settled ? null : 'failed');
  const costMicros = settled?.kind === 'charged' ? settled.costMicros : 0;
  writeCost(json, settled ? costMicros : undefined);
  if (audience === 'operator') money.lossMicros(json, settled?.lossMicros);
}

function writeCost(json: JsonBytes, costMicros: number | undefined): void {
  money.costMicros(json, costMicros);
  money.costUsd(json, costMicros);
}

function writeUsage(json: JsonBytes, usage: Usage): void {
  const { cacheReadTokens, cacheWriteTokens, cacheWrite1hTokens, reasoningTokens } = usage;
  usages.input(json, totalInputTokens(usage));
  usages.output(json, usage.outputTokens);
  usages.cacheRead(json, cacheReadTokens || null);
  usages.cacheCreation(json, cacheWriteTokens + cacheWrite1hTokens || null);
  usages.reasoning(json, reasoningTokens || null);
}

function writeContent(json: JsonBytes, content: SpanContent | null): void {
  if (!content) return;
  request.systemInstructions(json, content.system);
  request.inputMessages(json, content.input);
  request.outputMessages(json, content.output);
  request.contentCut(json, content.isCut || null);
}

function microsFrom(startMs: number, ms: number | null): number | null {
  return ms === null ? null : Math.round((ms - startMs) * 1_000);
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
