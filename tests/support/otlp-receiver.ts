// A receiver of OTLP over HTTP: a real server on loopback that reads what a gateway exports.
//
//   const receiver = await startOtlpReceiver();
//   … `telemetry: { endpoint: receiver.url }` …
//   const trace = await receiver.requestTrace(reply.requestId);
//   trace.request.attributes['tollgate.cost.micros'];
import type { Json } from './plain/reading.ts';
import { startUpstream, answerJson, type LocalUpstream, type Script } from './upstream.ts';
import type { TestClock } from './test-clock.ts';
import { until, untilNoticed } from './until.ts';

type Attributes = Readonly<Record<string, string | number | boolean | readonly string[]>>;

export type ReceivedSpan = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startNanos: bigint;
  readonly endNanos: bigint;
  readonly isError: boolean;
  readonly attributes: Attributes;
};

/** A request's spans by what they are; `steps` in the order in which they began. */
export type ReceivedTrace = {
  readonly request: ReceivedSpan;
  readonly steps: readonly ReceivedSpan[];
  readonly calls: readonly ReceivedSpan[];
  readonly holds: readonly ReceivedSpan[];
  readonly settlements: readonly ReceivedSpan[];
};

export type ReceivedPoint = {
  readonly instance: string;
  readonly attributes: Attributes;
  readonly count: number;
  readonly sum: number;
};

export type OtlpReceiver = {
  readonly url: string;
  readonly upstream: LocalUpstream;
  readonly spans: () => readonly ReceivedSpan[];
  /** Waits for the spans of a request. */
  readonly requestTrace: (requestId: string) => Promise<ReceivedTrace>;
  /** The newest points of a metric from each instance of the service. */
  readonly points: (metric: string) => readonly ReceivedPoint[];
  /** Everything received, as text. */
  readonly text: () => string;
  readonly close: () => Promise<void>;
};

type ReceiverOptions = {
  /** Answers exports of spans. */
  readonly script?: Script;
  /** The gateway's clock, which is moved while spans are waited for. */
  readonly clock?: TestClock;
};

/** The longest time between two exports. */
const exportMs = 2_000;

export async function startOtlpReceiver({
  script = answerJson({}),
  clock,
}: ReceiverOptions = {}): Promise<OtlpReceiver> {
  const upstream = await startUpstream();
  upstream.on('/v1/traces', script);
  upstream.on('/v1/metrics', answerJson({}));
  const bodies = (path: string) =>
    upstream.requests.filter((request) => request.path === path).map(({ body }) => body);
  const spans = () => readSpans(bodies('/v1/traces'));
  return {
    url: upstream.url,
    upstream,
    spans,
    requestTrace: (requestId) => {
      const look = () => traceOf(spans(), requestId);
      return clock ? untilNoticed(clock, look, exportMs) : until(look);
    },
    points: (metric) => readPoints(bodies('/v1/metrics'), metric),
    text: () => JSON.stringify(upstream.requests.map(({ headers, body }) => [headers, body])),
    close: upstream.close,
  };
}

/** Returns null while the request's own span is not there; all of a request come together. */
export function traceOf(spans: readonly ReceivedSpan[], requestId: string): ReceivedTrace | null {
  const request = spans.find(({ attributes }) => attributes['tollgate.request.id'] === requestId);
  if (!request) return null;
  const steps = spans.filter(({ parentSpanId }) => parentSpanId === request.spanId);
  const named = (name: string) => steps.filter((step) => step.name === name);
  return {
    request,
    steps,
    calls: steps.filter(({ attributes }) => 'gen_ai.operation.name' in attributes),
    holds: named('hold'),
    settlements: named('settlement'),
  };
}

type Value = {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly intValue?: string;
  readonly doubleValue?: number;
  readonly arrayValue?: { readonly values: readonly { readonly stringValue: string }[] };
};
type KeyValues = readonly { readonly key: string; readonly value: Value }[];

function readAttributes(attributes: KeyValues = []): Attributes {
  return Object.fromEntries(
    attributes.map(({ key, value }) => {
      const { stringValue, boolValue, intValue, doubleValue, arrayValue } = value;
      const plain = stringValue ?? boolValue ?? doubleValue;
      if (plain !== undefined) return [key, plain];
      if (intValue !== undefined) return [key, Number(intValue)];
      return [key, arrayValue!.values.map((each) => each.stringValue)];
    }),
  );
}

/** Reads the bodies of exports of spans. */
export function readSpans(bodies: readonly unknown[]): ReceivedSpan[] {
  return (bodies as readonly Json[])
    .flatMap(({ resourceSpans }) => resourceSpans as Json[])
    .flatMap(({ scopeSpans }) => scopeSpans as Json[])
    .flatMap(({ spans }) => spans as Json[])
    .map(({ startTimeUnixNano, endTimeUnixNano, status, attributes, parentSpanId, ...span }) => ({
      ...(span as Pick<ReceivedSpan, 'traceId' | 'spanId' | 'name' | 'kind'>),
      ...(parentSpanId && { parentSpanId: parentSpanId as string }),
      startNanos: BigInt(startTimeUnixNano),
      endNanos: BigInt(endTimeUnixNano),
      isError: status?.code === 2,
      attributes: readAttributes(attributes as KeyValues),
    }));
}

/** Reads the bodies of exports of metrics: the last from each instance. */
export function readPoints(bodies: readonly unknown[], metric: string): ReceivedPoint[] {
  const newest = new Map<string, Json>();
  for (const { resourceMetrics } of bodies as readonly Json[])
    for (const each of resourceMetrics)
      newest.set(String(readAttributes(each.resource.attributes)['service.instance.id']), each);
  return Array.from(newest, ([instance, { scopeMetrics }]) =>
    (scopeMetrics as Json[])
      .flatMap(({ metrics }) => metrics as Json[])
      .filter(({ name }) => name === metric)
      .flatMap(({ sum, histogram }) => (sum ?? histogram).dataPoints as Json[])
      .map((point) => ({
        instance,
        attributes: readAttributes(point['attributes'] as KeyValues),
        count: Number(point['count'] ?? 0),
        sum: Number(point['asInt'] ?? point['sum']),
      })),
  ).flat();
}
