// The cursor of usage lists: `<ISO timestamp>|<record id>` of the last record shown. Opaque to
// clients, stable while new records arrive, and validated strictly.

export type UsageCursor = { readonly createdAtMs: number; readonly id: string };

const pattern = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)\|([\w.:-]{1,128})$/;

/** Example: `2026-11-21T12:00:00.000Z|01kahw3v9gq2…`. */
export function encodeUsageCursor({ createdAtMs, id }: UsageCursor): string {
  return `${new Date(createdAtMs).toISOString()}|${id}`;
}

/** Decodes a cursor; null for anything that `encodeUsageCursor` did not write. */
export function decodeUsageCursor(text: string): UsageCursor | null {
  const [, timestamp, id] = pattern.exec(text) ?? [];
  if (timestamp === undefined || id === undefined) return null;
  const createdAtMs = Date.parse(timestamp);
  // `Date.parse` accepts 31 February as 3 March.
  if (Number.isNaN(createdAtMs) || new Date(createdAtMs).toISOString() !== timestamp) return null;
  return { createdAtMs, id };
}
