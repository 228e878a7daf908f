// Finds a field that is not in the schema. Runs before other checks, because a misspelt field would
// otherwise be reported as a missing one.
import { isObject } from '../lib/json.ts';
import { nearestOf } from '../lib/nearest.ts';
import type { FieldPath } from './config-error.ts';
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
