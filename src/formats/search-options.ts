// Options of a hosted search that all formats name alike.
import { searchFunction } from '../canonical/own-tools.ts';
import { isObject, type JsonObject } from '../lib/json.ts';

/** The pages of a search with a small context. */
const fewPages = 5;

/** Returns what the options say about the pages of a search; nothing: the usual number. */
export function readPages({ search_context_size: size }: JsonObject): { pages?: number } {
  return size === 'low' ? { pages: fewPages } : {};
}

/** Returns the function with the user's place, which no search takes but a query can name. */
export function searchFunctionAt({ user_location: location }: JsonObject) {
  const place = placeOf(location);
  const { description } = searchFunction;
  return place === ''
    ? searchFunction
    : { ...searchFunction, description: `${description} The user is in: ${place}.` };
}

const partCharactersMax = 100;

/** Chat has the parts in `approximate`. */
function placeOf(location: unknown): string {
  if (!isObject(location)) return '';
  const parts: JsonObject = isObject(location.approximate) ? location.approximate : location;
  return [parts.city, parts.region, parts.country, parts.timezone]
    .flatMap((part) => (typeof part === 'string' ? part.trim().slice(0, partCharactersMax) : ''))
    .filter((part) => part !== '')
    .join(', ');
}
