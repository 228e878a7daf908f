// The most searches that a client allows.
import { invalidRequest } from '../canonical/errors.ts';
import { describeValue } from '../lib/schema.ts';
import { searchesPerRequestMax } from '../terms/web-search.ts';

/** Returns null when there is no limit. `when`: when it must be one. Throws ApiError `invalid_request`. */
export function readSearchLimit(value: unknown, path: string, when = ''): number | null {
  if (value === undefined || value === null) return null;
  const isWhole = typeof value === 'number' && Number.isInteger(value);
  if (isWhole && value >= 1 && value <= searchesPerRequestMax) return value;
  throw invalidRequest(
    path,
    `${path} must be a whole number from 1 to ${searchesPerRequestMax}${when}, because each search is charged; got ${describeValue(value)}`,
  );
}
