// The parameter `limit` of the public API's lists.
import { invalidRequest } from '../canonical/errors.ts';

const limitDefault = 20;

/** Returns how many a page has. Throws ApiError `invalid_request`. */
export function readLimit(text: unknown, limitMax: number): number {
  if (text === undefined) return limitDefault;
  const limit = typeof text === 'string' && /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= limitMax) return limit;
  throw invalidRequest('limit', `\`limit\` must be a whole number from 1 to ${limitMax}.`);
}
