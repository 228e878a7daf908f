// Finds a field that is not in the schema. Runs before other checks, because a misspelt field would
// otherwise be reported as a missing one.
import { isObject } from '../lib/json.ts';
import { nearestOf } from '../lib/nearest.ts';
import { formatPath, type FieldPath } from './config-error.ts';
import { childSchemaOf, fieldNamesOf, namesOf, type FieldSchema } from './field-schema.ts';

type UnknownField = {
  readonly path: FieldPath;
  readonly problem: string;
  readonly remedy: string;
};

export function findUnknownField(
  schema: FieldSchema,
  value: unknown,
  path: FieldPath = [],
): UnknownField | null {
  if (Array.isArray(value)) return firstOf(value.entries(), schema, path);
  return isObject(value) ? firstOf(Object.entries(value), schema, path) : null;
}

function firstOf(
  children: Iterable<[string | number, unknown]>,
  schema: FieldSchema,
  path: FieldPath,
): UnknownField | null {
  for (const [name, value] of children) {
    const child = childSchemaOf(schema, name);
    const found = child
      ? findUnknownField(child, value, [...path, name])
      : unknownField(schema, name, path);
    if (found) return found;
  }
  return null;
}

function unknownField(
  schema: FieldSchema,
  name: string | number,
  path: FieldPath,
): UnknownField | null {
  const names = namesOf(schema);
  if (names !== null) {
    return {
      path: [...path, name],
      problem: 'is not a valid name here',
      remedy: `Names must be ${names}.`,
    };
  }
  const known = fieldNamesOf(schema);
  // The schema check reports a value where no fields are expected.
  if (known.length === 0) return null;
  const removal = removalOf(formatPath([...path, name]));
  if (removal !== null)
    return { path: [...path, name], problem: 'is no longer a setting', remedy: removal };
  const meant = nearestOf(String(name), known);
  return {
    path: [...path, name],
    problem: `is not a known field; expected one of ${known.join(', ')}`,
    remedy:
      meant === null
        ? 'Remove it, or move it to the section it belongs to.'
        : `Did you mean \`${meant}\`?`,
  };
}

/**
 * By the path of a removed setting: the value or the way that applies now. A file that still has one is
 * refused, so that no gateway silently starts with another value than it had.
 */
const removed: Readonly<Record<string, string>> = {
  'overload.arriving_bytes': 'arriving bodies may take an eighth of `overload.memory_bytes`',
  'overload.answer_bytes': 'large answers may take an eighth of `overload.memory_bytes`',
  'telemetry.traces': 'OTEL_TRACES_EXPORTER=none in the environment switches them off',
  'telemetry.metrics': 'OTEL_METRICS_EXPORTER=none in the environment switches them off',
  'telemetry.service_name': 'OTEL_SERVICE_NAME in the environment sets it',
  'telemetry.resource_attributes': 'OTEL_RESOURCE_ATTRIBUTES in the environment sets them',
  'telemetry.sampler': 'OTEL_TRACES_SAMPLER in the environment sets it',
  'telemetry.sampler_ratio': 'OTEL_TRACES_SAMPLER_ARG in the environment sets it',
  'telemetry.metric_interval_ms': 'OTEL_METRIC_EXPORT_INTERVAL in the environment sets it',
  'limits.loss_budget_share': 'it is 0.05',
  'limits.stream_keep_alive_ms': 'it is 10 seconds',
  'limits.stream_stall_ms': 'it is 60 seconds',
  'limits.default_max_searches': 'it is 5',
  'idempotency.body_limit_bytes': 'it is 8 MiB',
  'cache.memory_bytes': 'it is 64 MiB',
  'cache.body_limit_bytes': 'it is 8 MiB',
  'bodies.body_limit_bytes': 'it is 256 KiB',
  'images.memory_bytes': 'it is 96 MiB',
  'retries.attempts_per_route': 'it is 2',
  'retries.budget_percent': 'it is 20',
  'retries.budget_floor': 'it is 3',
  'retries.deadline_ms': 'it is 5 minutes',
  'retries.backoff_base_ms': 'it is 250',
  'retries.backoff_cap_ms': 'it is 5 seconds',
  health: 'five failures in a row eject a route for 10 seconds, then for longer, up to 5 minutes',
  'stripe.api_url': 'it is the address of Stripe',
  'search.timeout_ms': 'it is 20 seconds',
};

/** Returns what to do about a setting that is no more; null: there never was one. */
function removalOf(path: string): string | null {
  return Object.hasOwn(removed, path) ? `Remove it: ${removed[path]}.` : null;
}
