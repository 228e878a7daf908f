// Settings of telemetry: OpenTelemetry's own variables, and the section `telemetry` where they are
// unset. https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
import { ConfigError } from './config-error.ts';
import type { Environment, FaultAt, FieldValues } from './field-values.ts';
import {
  type ConfigFile,
  type OtlpTarget,
  type TelemetryConfig,
  telemetrySamplers,
} from './schema.ts';
import { webAddressProblem } from './web-address.ts';
import { withoutTrailing } from '../lib/without-trailing.ts';

type Entry = ConfigFile['telemetry'];
type Signal = 'traces' | 'metrics';

/** Returns null when nothing is exported. Throws ConfigError. */
export function resolveTelemetry(
  { fields, faultAt }: FieldValues,
  env: Environment,
): TelemetryConfig | null {
  if (env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true') return null;
  const traces = targetOf('traces', fields.telemetry, { env, faultAt });
  const metrics = targetOf('metrics', fields.telemetry, { env, faultAt });
  if (traces === null && metrics === null) return null;
  checkProtocol(env);
  return {
    traces,
    metrics,
    service_name: env['OTEL_SERVICE_NAME'] || 'tollgate',
    resource_attributes: pairsOf(env, 'OTEL_RESOURCE_ATTRIBUTES'),
    ...samplerOf(env),
    metric_interval_ms: numberOf(env, 'OTEL_METRIC_EXPORT_INTERVAL', 60_000, {
      min: 1,
      max: 86_400_000,
    }),
  };
}

type SettingSources = { readonly env: Environment; readonly faultAt: FaultAt };

function targetOf(signal: Signal, entry: Entry, sources: SettingSources): OtlpTarget | null {
  const { env } = sources;
  const name = signal.toUpperCase();
  if (env[`OTEL_${name}_EXPORTER`] === 'none') return null;
  const own = `OTEL_EXPORTER_OTLP_${name}_ENDPOINT`;
  const url = env[own]
    ? checked(sources, own, env[own])
    : ownPath(baseOf(sources, entry.endpoint), signal);
  if (url === null) return null;
  return {
    url,
    headers: lowerCased({
      ...entry.headers,
      ...pairsOf(env, 'OTEL_EXPORTER_OTLP_HEADERS'),
      ...pairsOf(env, `OTEL_EXPORTER_OTLP_${name}_HEADERS`),
    }),
  };
}

function baseOf(sources: SettingSources, written: string | undefined): string | null {
  const name = 'OTEL_EXPORTER_OTLP_ENDPOINT';
  const set = sources.env[name];
  if (set) return checked(sources, name, set);
  return written === undefined ? null : checked(sources, ['telemetry', 'endpoint'], written);
}

/**
 * The base gets the path of its signal, in place of one that it has; an address of one signal is taken
 * as it is.
 */
function ownPath(base: string | null, signal: Signal): string | null {
  if (base === null) return null;
  return `${withoutTrailing(base, '/').replace(/\/v1\/(?:traces|metrics)$/, '')}/v1/${signal}`;
}

type SettingPath = string | readonly ['telemetry', string];

function checked({ faultAt }: SettingSources, place: SettingPath, url: string): string {
  const problem = webAddressProblem(url);
  if (problem === null) return url;
  throw faultAt(place, {
    problem,
    remedy:
      'Write the address of a receiver of OTLP over HTTP, without `/v1/traces`: `http://collector:4318`.',
  });
}

/** OTLP is sent over HTTP, as JSON. Receivers of OTLP over HTTP take JSON and protobuf. */
function checkProtocol(env: Environment): void {
  const names = ['', 'TRACES_', 'METRICS_'].map((part) => `OTEL_EXPORTER_OTLP_${part}PROTOCOL`);
  const name = names.find((each) => env[each] && !env[each].startsWith('http/'));
  if (name === undefined) return;
  throw new ConfigError({
    field: name,
    problem: `must be http/json or http/protobuf; got ${JSON.stringify(env[name])}`,
    remedy: 'Unset it, and give the address of the receiver for HTTP, usually on port 4318.',
  });
}

function samplerOf(env: Environment): Pick<TelemetryConfig, 'sampler' | 'sampler_ratio'> {
  const named = env['OTEL_TRACES_SAMPLER'];
  const sampler = telemetrySamplers.find((each) => each === (named || 'parentbased_always_on'));
  if (!sampler) {
    throw new ConfigError({
      field: 'OTEL_TRACES_SAMPLER',
      problem: `must be one of ${telemetrySamplers.join(', ')}; got ${JSON.stringify(named)}`,
      remedy: 'Use one of these, or unset it for `parentbased_always_on`.',
    });
  }
  const ratio = numberOf(env, 'OTEL_TRACES_SAMPLER_ARG', 1, { min: 0, max: 1 });
  return { sampler, sampler_ratio: ratio };
}

function numberOf(
  env: Environment,
  name: string,
  usual: number,
  { min, max }: { readonly min: number; readonly max: number },
): number {
  const text = env[name];
  if (!text) return usual;
  const value = Number(text);
  if (value >= min && value <= max) return value;
  throw new ConfigError({
    field: name,
    problem: `must be a number from ${min} to ${max}; got ${JSON.stringify(text)}`,
    remedy: 'Correct it, or unset it for the default.',
  });
}

/** Reads `name=value,name=value`. Never quotes it: a value may be a key. */
function pairsOf(env: Environment, name: string): Record<string, string> {
  const entries = (env[name] ?? '').split(',').flatMap((entry): [string, string][] => {
    if (entry.trim() === '') return [];
    const [key = '', ...rest] = entry.split('=');
    const value = rest.length === 0 ? null : decode(rest.join('=').trim());
    if (key.trim() !== '' && value !== null && /^[\x20-\x7e]*$/u.test(key + value))
      return [[key.trim(), value]];
    throw new ConfigError({
      field: name,
      problem: 'must be a list like `name=value,other=value` (not shown, it may hold a key)',
      remedy: 'Percent-encode special characters in values: %20 for a space, %2C for a comma.',
    });
  });
  return Object.fromEntries(entries);
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}
