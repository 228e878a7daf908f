// Edits JSON that is otherwise passed on. A value that needs no change stays the same object.
import { isObject, type JsonObject } from '../lib/json.ts';

/** Returns the object with these fields set. */
export function editFields(object: JsonObject, fields: JsonObject): JsonObject {
  // Loops here make no lists: a request takes dozens of edits, and most change nothing.
  for (const name in fields) if (object[name] !== fields[name]) return withChanges(object, fields);
  return object;
}

function withChanges(object: JsonObject, fields: JsonObject): JsonObject {
  const changes = Object.entries(fields).filter(([name, value]) => object[name] !== value);
  return { ...object, ...Object.fromEntries(changes) };
}

/** Leaves out fields that are null, but for `kept`. Returns the same object when there are none. */
export function withoutNulls(object: JsonObject, ...kept: readonly string[]): JsonObject {
  const isNull = (name: string) => object[name] === null && !kept.includes(name);
  for (const name in object)
    if (isNull(name))
      return Object.fromEntries(Object.entries(object).filter(([key]) => !isNull(key)));
  return object;
}

/** Returns the needed fields that the object lacks, or has as another type. */
export function missingFields(object: JsonObject, needed: JsonObject): JsonObject {
  const isMissing = ([name, value]: [string, unknown]) => typeof object[name] !== typeof value;
  return Object.fromEntries(Object.entries(needed).filter(isMissing));
}

/** Edits the object at a path of fields. Returns the same object when there is none. */
export function editAt(
  object: JsonObject,
  [name = '', ...rest]: readonly string[],
  edit: (inner: JsonObject) => JsonObject,
): JsonObject {
  const inner = object[name];
  if (!isObject(inner)) return object;
  return editFields(object, {
    [name]: rest.length === 0 ? edit(inner) : editAt(inner, rest, edit),
  });
}

/** Edits the objects of a list. Returns anything else unchanged. */
export function editItems(list: unknown, edit: (item: JsonObject) => JsonObject): unknown {
  if (!Array.isArray(list)) return list;
  let edited: unknown[] | null = null;
  for (let index = 0; index < list.length; index++) {
    const item: unknown = list[index];
    const changed = isObject(item) ? edit(item) : item;
    if (changed !== item) (edited ??= [...list])[index] = changed;
  }
  return edited ?? list;
}

/** Edits a string. Returns anything else unchanged. */
export function editText(value: unknown, edit: (text: string) => string): unknown {
  return typeof value === 'string' ? edit(value) : value;
}
