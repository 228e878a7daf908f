// The request of the web-search endpoint.
import { Type } from 'typebox';
import { invalidRequest, refuseProblem } from '../../canonical/errors.ts';
import type { PageSearch } from '../../terms/search-source.ts';
import { compileSchema } from '../../lib/schema.ts';
import { optionalOrNull } from '../../lib/schema-parts.ts';

/** Brave and Tavily accept no more, and the limit must not depend on which provider answers. */
export const queryCharactersMax = 400;
export const resultsMax = 50;
export const resultsByDefault = 10;

export const SearchRequestSchema = Type.Object({
  query: Type.String({ minLength: 1, maxLength: queryCharactersMax }),
  num: optionalOrNull(Type.Integer({ minimum: 1, maximum: resultsMax })),
});

const findProblem = compileSchema(SearchRequestSchema);

/**
 * Throws ApiError `invalid_request` that names the field. Unknown fields are ignored, as
 * everywhere.
 */
export function parseSearchRequest(body: unknown): PageSearch {
  refuseProblem(findProblem(body));
  const { query, num } = body as { readonly query: string; readonly num?: number | null };
  if (query.trim() === '') throw invalidRequest('query', 'query must not be blank');
  // A lone surrogate cannot be encoded as UTF-8.
  return { query: query.toWellFormed(), num: num ?? resultsByDefault };
}
