// Writes the spans of a finished request in OTLP's JSON.
import type { Step } from '../../events/request-spans.ts';
import { newSpanId } from '../../lib/trace-context.ts';
import { operationOf } from './conventions.ts';
import type { FinishedRequest } from './finished-request.ts';
import { type JsonBytes, piece } from './json-bytes.ts';
import {
  type Audience,
  writeCallAttributes,
  writeHoldAttributes,
  writeRequestAttributes,
  writeSettlementAttributes,
} from './span-attributes.ts';

/** `SpanKind` of OTLP. */
const kinds = { internal: 1, server: 2, client: 3 } as const;

const comma = 0x2c;
const pieces = {
  traceId: piece('{"traceId":'),
  spanId: piece(',"spanId":'),
  parentSpanId: piece(',"parentSpanId":'),
  traceState: piece(',"traceState":'),
  flags: piece(',"flags":'),
  name: piece(',"name":'),
  kind: piece(',"kind":'),
  start: piece(',"startTimeUnixNano":"'),
  end: piece('","endTimeUnixNano":"'),
  attributes: piece('","attributes":['),
  failed: piece('],"status":{"code":2}}'),
  succeeded: piece(']}'),
  nanosOfMicro: piece('000'),
};

export type Writing = {
  readonly audience: Audience;
  /** The time since 1970 at `Clock.elapsedMs` 0. */
  readonly originMs: number;
};

/** Writes JSON objects with commas between them. */
export function writeSpans(json: JsonBytes, request: FinishedRequest, writing: Writing): void {
  writeRequest(json, request, writing);
  for (const step of request.spans.steps) {
    json.byte(comma);
    writeStep(json, step, request, writing);
  }
}

function writeRequest(json: JsonBytes, request: FinishedRequest, writing: Writing): void {
  const { spans, fields, startMs, endMs } = request;
  beginSpan(json, {
    trace: spans.trace,
    id: spans.id,
    parentId: spans.parentId,
    // Sampled, and the parent is known to be remote.
    flags: spans.parentId === null ? 0x1 : 0x301,
    name: `${request.method} ${request.route}`,
    kind: kinds.server,
    startMs: writing.originMs + startMs,
    endMs: writing.originMs + endMs,
  });
  writeRequestAttributes(json, request, writing.audience);
  endSpan(json, request.status >= 500 || fields.ending === 'failed');
}

function writeStep(
  json: JsonBytes,
  step: Step,
  request: FinishedRequest,
  { audience, originMs }: Writing,
): void {
  const { spans } = request;
  const operation = operationOf(request) ?? '';
  const call = step.type === 'call-ended' ? step.call : null;
  beginSpan(json, {
    trace: spans.trace,
    id: call?.trace?.spanId ?? newSpanId(),
    parentId: spans.id,
    // Sampled, and the parent is known to be ours.
    flags: 0x101,
    name: nameOf(step, operation),
    kind: call && call.baseUrl !== null ? kinds.client : kinds.internal,
    startMs: originMs + startOf(step),
    endMs: originMs + step.endMs,
  });
  switch (step.type) {
    case 'call-ended': {
      const usage = step === spans.lastCall ? spans.usage : null;
      writeCallAttributes(json, step, { operation, audience, usage });
      return endSpan(json, step.failure !== null);
    }
    case 'hold-tried':
      writeHoldAttributes(json, step);
      return endSpan(json, step.outcome !== 'held');
    case 'settled':
      writeSettlementAttributes(json, step, audience);
      return endSpan(json, step.settled === null);
  }
}

function nameOf(step: Step, operation: string): string {
  if (step.type === 'hold-tried') return 'hold';
  if (step.type === 'settled') return 'settlement';
  const { upstreamModel } = step.call;
  return upstreamModel === '' ? operation : `${operation} ${upstreamModel}`;
}

function startOf(step: Step): number {
  return step.type === 'call-ended' ? step.call.startMs : step.startMs;
}

type SpanHead = {
  readonly trace: FinishedRequest['spans']['trace'];
  readonly id: string;
  readonly parentId: string | null;
  readonly flags: number;
  readonly name: string;
  readonly kind: number;
  /** Since 1970. */
  readonly startMs: number;
  readonly endMs: number;
};

function beginSpan(json: JsonBytes, span: SpanHead): void {
  const { trace, parentId } = span;
  json.piece(pieces.traceId);
  json.text(trace.traceId);
  json.piece(pieces.spanId);
  json.text(span.id);
  if (parentId !== null) {
    json.piece(pieces.parentSpanId);
    json.text(parentId);
  }
  if (trace.state !== null) {
    json.piece(pieces.traceState);
    json.text(trace.state);
  }
  json.piece(pieces.flags);
  json.whole(span.flags);
  json.piece(pieces.name);
  json.text(span.name);
  json.piece(pieces.kind);
  json.whole(span.kind);
  json.piece(pieces.start);
  writeNanos(json, span.startMs);
  json.piece(pieces.end);
  writeNanos(json, span.endMs);
  json.piece(pieces.attributes);
}

function endSpan(json: JsonBytes, hasFailed: boolean): void {
  json.dropComma();
  json.piece(hasFailed ? pieces.failed : pieces.succeeded);
}

/** Nanoseconds are beyond the whole numbers of a double, so seconds and microseconds are apart. */
function writeNanos(json: JsonBytes, ms: number): void {
  const micros = Math.round(ms * 1_000);
  const seconds = Math.floor(micros / 1e6);
  json.whole(Math.floor(seconds / 1e5));
  json.digits(seconds % 1e5, 5);
  json.digits(micros - seconds * 1e6, 6);
  json.piece(pieces.nanosOfMicro);
}
