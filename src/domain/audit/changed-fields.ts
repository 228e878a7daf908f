// Finds the fields that a change affects, so that the audit log need not store both states in full.
import { isDeepStrictEqual } from 'node:util';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Returns the fields in which two states differ; null when they are equal.
 * `changedFields({ name: 'a', cap: 1 }, { name: 'b', cap: 1 })` →
 * `{ before: { name: 'a' }, after: { name: 'b' } }`.
 */
export function changedFields(
  before: Fields,
  after: Fields,
): { readonly before: Fields; readonly after: Fields } | null {
  const names = Object.keys({ ...before, ...after }).filter(
    (name) => !isDeepStrictEqual(before[name], after[name]),
  );
  if (names.length === 0) return null;
  const pick = (fields: Fields) => Object.fromEntries(names.map((name) => [name, fields[name]]));
  return { before: pick(before), after: pick(after) };
}
