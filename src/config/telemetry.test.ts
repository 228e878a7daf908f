import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadYaml } from '../../tests/support/config-file.ts';

const load = (...written: Parameters<typeof loadYaml>) => loadYaml(...written).telemetry.operator;

test('telemetry is off without an address', () => {
  assert.equal(load('log: {}\n'), null);
  assert.equal(load('telemetry: { headers: { token: a } }\n'), null);
});

test('an address with the path of a signal is the base of both', () => {
  const { traces, metrics } = load('telemetry: { endpoint: "http://c:4318/v1/traces" }\n')!;
  assert.deepEqual(
    [traces?.url, metrics?.url],
    ['http://c:4318/v1/traces', 'http://c:4318/v1/metrics'],
  );
});

test('the file and the standard variables are one; the variables go first', () => {
  const yaml =
    'telemetry:\n  endpoint: http://file:4318/\n  headers: { X-Key: a, x-other: "${OTHER}" }\n';
  const env = { OTHER: 'secret' };
  assert.deepEqual(load(yaml, env), {
    traces: { url: 'http://file:4318/v1/traces', headers: { 'x-key': 'a', 'x-other': 'secret' } },
    metrics: { url: 'http://file:4318/v1/metrics', headers: { 'x-key': 'a', 'x-other': 'secret' } },
    service_name: 'tollgate',
    resource_attributes: {},
    sampler: 'parentbased_always_on',
    sampler_ratio: 1,
    metric_interval_ms: 60_000,
  });
  assert.deepEqual(
    load(yaml, {
      ...env,
      OTEL_EXPORTER_OTLP_ENDPOINT: 'https://env/base',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces/as-it-is',
      OTEL_EXPORTER_OTLP_HEADERS: 'X-Key=b%2Cc',
      OTEL_EXPORTER_OTLP_METRICS_HEADERS: 'only=metrics',
      OTEL_SERVICE_NAME: 'gate',
      OTEL_RESOURCE_ATTRIBUTES: 'team=b, deployment.environment.name=test',
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.5',
      OTEL_METRIC_EXPORT_INTERVAL: '5000',
    }),
    {
      traces: { url: 'https://traces/as-it-is', headers: { 'x-key': 'b,c', 'x-other': 'secret' } },
      metrics: {
        url: 'https://env/base/v1/metrics',
        headers: { 'x-key': 'b,c', 'x-other': 'secret', only: 'metrics' },
      },
      service_name: 'gate',
      resource_attributes: { team: 'b', 'deployment.environment.name': 'test' },
      sampler: 'traceidratio',
      sampler_ratio: 0.5,
      metric_interval_ms: 5_000,
    },
  );
});

test('a signal, or all of telemetry, can be switched off', () => {
  const yaml = 'telemetry: { endpoint: "http://file:4318" }\n';
  const noMetrics = { OTEL_METRICS_EXPORTER: 'none' };
  assert.equal(load(yaml, noMetrics)!.metrics, null);
  assert.equal(load(yaml, { ...noMetrics, OTEL_TRACES_EXPORTER: 'none' }), null);
  assert.ok(load(yaml, { OTEL_METRICS_EXPORTER: 'otlp' })!.metrics);
  assert.equal(load(yaml, { OTEL_SDK_DISABLED: 'true' }), null);
});

test('a wrong setting is refused with its name, and no header is quoted', () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };
  const faults: [string, Record<string, string>, RegExp][] = [
    ['telemetry: { endpoint: "collector:4318" }', {}, /telemetry\.endpoint/],
    ['log: {}', { OTEL_EXPORTER_OTLP_ENDPOINT: 'nowhere' }, /OTEL_EXPORTER_OTLP_ENDPOINT/],
    ['log: {}', { ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, /PROTOCOL.*http\/json/s],
    ['log: {}', { ...endpoint, OTEL_TRACES_SAMPLER: 'some' }, /OTEL_TRACES_SAMPLER/],
    ['log: {}', { ...endpoint, OTEL_TRACES_SAMPLER_ARG: '2' }, /OTEL_TRACES_SAMPLER_ARG/],
    ['log: {}', { ...endpoint, OTEL_EXPORTER_OTLP_HEADERS: 'hush' }, /OTEL_EXPORTER_OTLP_HEADERS/],
    ['log: {}', { ...endpoint, OTEL_EXPORTER_OTLP_HEADERS: 'hush=a%0Ab' }, /OTLP_HEADERS/],
  ];
  for (const [yaml, env, expected] of faults)
    assert.throws(
      () => load(`${yaml}\n`, env),
      (error: Error) => {
        assert.match(error.message, expected);
        assert.doesNotMatch(error.message, /hush/);
        return true;
      },
    );
});
