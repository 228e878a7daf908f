// What the audit log says of a change: the fields that differ, not the whole thing twice.
import { isDeepStrictEqual } from 'node:util';

type Fields = Readonly<Record<string, unknown>>;

/**
 * The fields of two states of one thing that differ; null when none does.
 * `changedFields({ name: 'a', cap: 1 }, { name: 'b', cap: 1 })` → `{ before: { name: 'a' }, after: { name: 'b' } }`.
 */
export function changedFields(before: Fields, after: Fields): { readonly before: Fields; readonly after: Fields } | null {
  const names = Object.keys({ ...before, ...after }).filter((name) => !isDeepStrictEqual(before[name], after[name]));
  if (names.length === 0) return null;
  const pick = (fields: Fields) => Object.fromEntries(names.map((name) => [name, fields[name]]));
  return { before: pick(before), after: pick(after) };
}
