// Canonical JSON: object names in one order, no spaces. Two requests are equal when their canonical
// texts are equal.

/**
 * Returns the canonical text of a value from `JSON.parse`. Example: `{"b": 1, "a": [2]}` →
 * `{"a":[2],"b":1}`.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(withSortedNames(value));
}

function withSortedNames(value: unknown): unknown {
  // `1e999` is valid JSON and parses to Infinity, which JSON.stringify would write as null.
  if (value === Infinity || value === -Infinity)
    return JSON.rawJSON(value > 0 ? '1e999' : '-1e999');
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return value;
  if (Array.isArray(value)) return value.map(withSortedNames);
  const members = value as Readonly<Record<string, unknown>>;
  const sorted: Record<string, unknown> = {};
  for (const name of Object.keys(members).toSorted()) {
    const member = withSortedNames(members[name]);
    // An assignment would set the prototype instead.
    if (name === '__proto__')
      Object.defineProperty(sorted, name, { value: member, enumerable: true });
    else sorted[name] = member;
  }
  return sorted;
}
