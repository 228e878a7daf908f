// Canonical JSON: object names sorted, no spaces. Two requests are equal when their canonical texts
// are equal.

/**
 * Returns the canonical text of a value from `JSON.parse`. Example: `{"b": 1, "a": [2]}` →
 * `{"a":[2],"b":1}`.
 */
export function canonicalJson(value: unknown): string {
  // `1e999` is valid JSON and parses to Infinity, which JSON.stringify would write as null.
  if (value === Infinity || value === -Infinity) return value > 0 ? '1e999' : '-1e999';
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item)).join(',')}]`;
  const members = value as Readonly<Record<string, unknown>>;
  // Built as text because an object would lose a member named `__proto__` and would move numeric
  // names first.
  const texts = Object.keys(members)
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${canonicalJson(members[name])}`);
  return `{${texts.join(',')}}`;
}
