// Finds a field that the schema does not have, before anything else is said: a misspelt field would otherwise show as a missing one.
import { isObject } from '../lib/json.ts';
import type { FieldPath } from './config-error.ts';
import { childSchemaOf, fieldNamesOf, namePatternOf, type FieldSchema } from './field-schema.ts';

export type UnknownField = {
  readonly path: FieldPath;
  readonly problem: string;
  readonly remedy: string;
};

export function findUnknownField(schema: FieldSchema, value: unknown, path: FieldPath = []): UnknownField | null {
  if (Array.isArray(value)) return firstOf(value.entries(), schema, path);
  return isObject(value) ? firstOf(Object.entries(value), schema, path) : null;
}

function firstOf(children: Iterable<[string | number, unknown]>, schema: FieldSchema, path: FieldPath): UnknownField | null {
  for (const [name, value] of children) {
    const child = childSchemaOf(schema, name);
    const found = child ? findUnknownField(child, value, [...path, name]) : unknownField(schema, name, path);
    if (found) return found;
  }
  return null;
}

function unknownField(schema: FieldSchema, name: string | number, path: FieldPath): UnknownField | null {
  const pattern = namePatternOf(schema);
  if (pattern !== null) {
    return { path: [...path, name], problem: 'is not a valid name here', remedy: `Names must match ${pattern}.` };
  }
  const known = fieldNamesOf(schema);
  // A value where no fields are expected at all is the schema check's to report.
  if (known.length === 0) return null;
  const meant = nearestOf(String(name), known);
  return {
    path: [...path, name],
    problem: `is not a known field; expected one of ${known.join(', ')}`,
    remedy: meant === null ? 'Remove it, or move it to the section it belongs to.' : `Did you mean \`${meant}\`?`,
  };
}

/** The name that a slip of the hand, such as two letters swapped, could have turned into this; null when none is near. */
export function nearestOf(name: string, candidates: readonly string[]): string | null {
  const distances = candidates.map((candidate) => ({
    candidate,
    distance: editDistance(name.toLowerCase(), candidate.toLowerCase()),
  }));
  distances.sort((a, b) => a.distance - b.distance);
  const [best] = distances;
  return best && best.distance <= Math.max(2, best.candidate.length / 3) && best.distance < best.candidate.length - 1
    ? best.candidate
    : null;
}

/** Insertions, deletions and replacements between two words (Levenshtein), row by row. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let index = 0; index < from.length; index++) {
    const next = [index + 1];
    for (let column = 0; column < to.length; column++) {
      next.push(Math.min(next[column]! + 1, row[column + 1]! + 1, row[column]! + (from[index] === to[column] ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1)!;
}
