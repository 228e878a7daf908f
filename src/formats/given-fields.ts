// Finds the fields of a body that a translation leaves out, so that they can be listed.
import { isObject, type JsonObject } from '../lib/json.ts';
import { isAskedFor } from './field-verdicts.ts';

/** Returns those of the paths that hold something. Lists are entered: `messages.content.toolset_name`. */
export function givenFields(body: JsonObject, paths: readonly string[]): string[] {
  return paths.filter((path) => isGiven(body, path.split('.'), 0));
}

function isGiven(value: unknown, path: readonly string[], at: number): boolean {
  if (Array.isArray(value)) return value.some((one) => isGiven(one, path, at));
  const name = path[at];
  if (name === undefined) return isAskedFor(value);
  return isObject(value) && Object.hasOwn(value, name) && isGiven(value[name], path, at + 1);
}
