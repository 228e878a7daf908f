// One text for all JSON that means the same: the names of every object in order, no spaces. Two requests are the same when these are.

/** The canonical text of a value that `JSON.parse` gave. Example: `{"b": 1, "a": [2]}` → `{"a":[2],"b":1}`. */
export function canonicalJson(value: unknown): string {
  // `1e999` is JSON, and no null.
  if (value === Infinity || value === -Infinity) return value > 0 ? '1e999' : '-1e999';
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item)).join(',')}]`;
  const members = value as Readonly<Record<string, unknown>>;
  // Written as text, not gathered in a new object: there, a member named `__proto__` would be lost, and numbers would come first.
  const texts = Object.keys(members)
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${canonicalJson(members[name])}`);
  return `{${texts.join(',')}}`;
}
