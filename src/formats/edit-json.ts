// Edits JSON that is otherwise passed on. A value that needs no change stays the same object.
import { isObject, type JsonObject } from '../lib/json.ts';

/** Returns the object with these fields set. */
export function editFields(object: JsonObject, fields: JsonObject): JsonObject {
  const changes = Object.entries(fields).filter(([name, value]) => object[name] !== value);
  return changes.length === 0 ? object : { ...object, ...Object.fromEntries(changes) };
}

/** Edits the objects of a list. Returns anything else unchanged. */
export function editItems(list: unknown, edit: (item: JsonObject) => JsonObject): unknown {
  if (!Array.isArray(list)) return list;
  const edited = list.map((item: unknown) => (isObject(item) ? edit(item) : item));
  return edited.every((item, index) => item === list[index]) ? list : edited;
}

/** Edits a string. Returns anything else unchanged. */
export function editText(value: unknown, edit: (text: string) => string): unknown {
  return typeof value === 'string' ? edit(value) : value;
}
