// Google's API takes each field in camelCase and in snake_case, as its Python SDK sends nested ones, and
// one object where a list stands, as in Google's own examples. One form is read from here on.
import { isObject } from '../../lib/json.ts';
import { ownFields, verdictTable } from './field-verdicts.ts';

const known = new Set(Object.values(verdictTable).flatMap((fields) => Object.keys(fields)));
const lists = new Set(['contents', 'parts', 'tools', 'functionDeclarations', 'safetySettings']);

/** Returns the same body when it needs no change. What stands in the client's own data is not changed. */
export function inCamelCase(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(inCamelCase);
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  if (!isObject(value)) return value;
  let isChanged = false;
  const entries = Object.entries(value).map(([given, inner]) => {
    const name = nameOf(given);
    const renamed = ownFields.has(name) ? inner : inCamelCase(inner);
    const listed = lists.has(name) && isObject(renamed) ? [renamed] : renamed;
    isChanged ||= name !== given || listed !== inner;
    return [name, listed] as const;
  });
  // From entries, because assigning `__proto__` would lose it.
  return isChanged ? Object.fromEntries(entries) : value;
}

/** Unknown names stay as they came, so that they are listed so. */
function nameOf(given: string): string {
  if (!given.includes('_')) return given;
  // Google has `_responseJsonSchema`, too.
  const name = given
    .replace(/^_/, '')
    .replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
  return known.has(name) ? name : given;
}
