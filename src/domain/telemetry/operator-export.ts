// The operator's export in one HTTP thread: spans and metrics of finished requests, to the operator's
// receiver over OTLP/HTTP with JSON.
import { randomUUID } from 'node:crypto';
import type { TelemetryConfig } from '../../config/schema.ts';
import type { CancelTimer, Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import { type TextAttributes, writeTexts } from './attributes.ts';
import type { FinishedRequest } from './finished-request.ts';
import { JsonBytes } from './json-bytes.ts';
import { postTo } from './post.ts';
import { SendQueue } from './queue.ts';
import type { RequestMetrics } from './request-metrics.ts';
import { Room } from '../../lib/room.ts';
import { createSampler, type Sampler } from './sampler.ts';
import { schema, scope, wrapSpans, writeResource } from './wrap-spans.ts';
import { writeSpans } from './write-spans.ts';
import { Counter, type Histogram, type Registry, type Series } from '../../lib/metrics/registry.ts';

export type OperatorExport = {
  readonly isSampled: Sampler;
  readonly record: (request: FinishedRequest, originMs: number) => void;
  /** Sends what waits, as far as the receivers take it at once. */
  readonly close: () => Promise<void>;
};

type OperatorParts = {
  readonly metrics: RequestMetrics;
  readonly log: Logger;
  readonly clock: Clock;
};

/** The most bytes of spans that wait while the receiver is slow or down. */
const waitingBytesMax = 16 * 1024 * 1024;
/** A failing receiver is logged once in this time. */
const logEveryMs = 60_000;

export function openOperatorExport(
  config: TelemetryConfig,
  operatorParts: OperatorParts,
): OperatorExport {
  const parts = { ...operatorParts, resource: resourceOf(config) };
  const traces = config.traces && openTraces(config.traces, parts);
  const metrics = config.metrics && openMetrics(config.metrics, config, parts);
  return {
    isSampled: traces ? createSampler(config) : () => false,
    record(request, originMs) {
      if (request.spans.isSampled) traces?.add(request, originMs);
      if (metrics) parts.metrics.noteOver(request);
    },
    async close() {
      await Promise.all([traces?.close(), metrics?.close()]);
    },
  };
}

type Target = NonNullable<TelemetryConfig['traces']>;
type Parts = OperatorParts & { readonly resource: TextAttributes };

/** Each thread is an instance of the service, so that cumulative sums add up. */
function resourceOf({ service_name, resource_attributes }: TelemetryConfig): TextAttributes {
  return {
    'service.instance.id': randomUUID(),
    'service.version': packageJson.version,
    ...resource_attributes,
    'service.name': service_name,
  };
}

function openTraces(target: Target, { resource, log, clock }: Parts) {
  const { post, close } = postTo({ url: new URL(target.url), headers: target.headers }, clock);
  const queue = new SendQueue({
    post,
    wrapping: wrapSpans(resource),
    room: new Room(waitingBytesMax),
    onResult: reporter('spans', { log, clock }),
    clock,
  });
  const json = new JsonBytes();
  return {
    add(request: FinishedRequest, originMs: number) {
      json.clear();
      writeSpans(json, request, { audience: 'operator', originMs });
      queue.add(json.written(), 1 + request.spans.steps.length);
    },
    async close() {
      await queue.close();
      await close();
    },
  };
}

function openMetrics(target: Target, { metric_interval_ms }: TelemetryConfig, parts: Parts) {
  const { resource, log, clock } = parts;
  const { post, close } = postTo({ url: new URL(target.url), headers: target.headers }, clock);
  const report = reporter('metrics', { log, clock });
  const head = writeResource(resource);
  const startNanos = `${clock.nowMs()}000000`;
  let sending: Promise<void> | null = null;
  const sendNow = async () => {
    const times = { startNanos, nowNanos: `${clock.nowMs()}000000` };
    const metrics = writeMetrics(parts.metrics.registry, times);
    if (metrics.length === 0) return;
    // Sums are cumulative, so a failed export needs no repetition: the next one has everything.
    const posted = await post(
      `{"resourceMetrics":[{${head},"scopeMetrics":[{${scope},"metrics":[${metrics.join()}],${schema}}],${schema}}]}`,
    );
    report(posted.kind === 'taken' ? null : posted.problem, { dropped: 0 });
  };
  const stopTimer: CancelTimer = clock.every(metric_interval_ms, () => {
    sending ??= sendNow().finally(() => {
      sending = null;
    });
  });
  return {
    async close() {
      stopTimer();
      await sending;
      await sendNow();
      await close();
    },
  };
}

function reporter(what: string, { log, clock }: Pick<Parts, 'log' | 'clock'>) {
  let loggedAtMs = -Infinity;
  return (problem: string | null, { dropped }: { readonly dropped: number }): void => {
    if (problem === null || clock.elapsedMs() - loggedAtMs < logEveryMs) return;
    loggedAtMs = clock.elapsedMs();
    log.warn({ problem, dropped }, `the receiver of telemetry takes no ${what}`);
  };
}

type Times = { readonly startNanos: string; readonly nowNanos: string };

/** Returns a JSON object for each metric that has a value. */
function writeMetrics({ instruments }: Registry, times: Times): readonly string[] {
  return instruments.flatMap((metric) => {
    if (!metric.names.otlp) return [];
    const { attributes, ...described } = metric.names.otlp;
    const points =
      metric instanceof Counter
        ? writeSums(metric, attributes, times)
        : writeDistributions(metric, attributes, times);
    if (points.length === 0) return [];
    const kind =
      metric instanceof Counter
        ? '"sum":{"aggregationTemporality":2,"isMonotonic":true'
        : '"histogram":{"aggregationTemporality":2';
    const head = JSON.stringify(described).slice(1, -1);
    return [`{${head},${kind},"dataPoints":[${points.join()}]}}`];
  });
}

type Attributes = readonly string[];

function writeSums(counter: Counter, attributes: Attributes, times: Times): readonly string[] {
  return counter
    .seriesBy(attributes.length)
    .filter(({ point }) => point.sum !== 0)
    .map((series) => writePoint(series, attributes, times, `"asInt":"${series.point.sum}"`));
}

function writeDistributions(
  histogram: Histogram,
  attributes: Attributes,
  times: Times,
): readonly string[] {
  const bounds = `"explicitBounds":[${histogram.bounds.join()}]`;
  return histogram.series().map((series) => {
    const { counts, count, sum, min, max } = series.point;
    const value =
      `"count":"${count}","sum":${sum},"min":${min},"max":${max},` +
      `"bucketCounts":[${counts.map((each) => `"${each}"`).join()}],${bounds}`;
    return writePoint(series, attributes, times, value);
  });
}

function writePoint(
  { values }: Series<unknown>,
  attributes: Attributes,
  { startNanos, nowNanos }: Times,
  value: string,
): string {
  // An attribute without a value is left out, such as the error of a request that succeeded.
  const given = attributes.map((name, index) => [name, values[index]!] as const);
  const texts = writeTexts(Object.fromEntries(given.filter(([, text]) => text !== '')));
  return `{"attributes":${texts},"startTimeUnixNano":"${startNanos}","timeUnixNano":"${nowNanos}",${value}}`;
}
