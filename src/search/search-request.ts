// What a client may ask of the web search.
import { Type } from 'typebox';
import { invalidRequest } from '../canonical/errors.ts';
import type { PageSearch } from '../canonical/search-source.ts';
import { compileSchema } from '../lib/schema.ts';

/** Brave and Tavily take no more, and what is asked must not depend on which provider answers. */
export const queryCharactersMax = 400;
const resultsMax = 50;
const resultsByDefault = 10;

const findProblem = compileSchema(
  Type.Object({
    query: Type.String({ minLength: 1, maxLength: queryCharactersMax }),
    num: Type.Optional(Type.Union([Type.Integer({ minimum: 1, maximum: resultsMax }), Type.Null()])),
  }),
);

/** Throws ApiError `invalid_request` with the field. Fields that are not known are passed over, as everywhere. */
export function parseSearchRequest(body: unknown): PageSearch {
  const problem = findProblem(body);
  if (problem) throw invalidRequest(problem.path || null, `${problem.path || 'the body'} ${problem.message}`);
  const { query, num } = body as { readonly query: string; readonly num?: number | null };
  if (query.trim() === '') throw invalidRequest('query', 'query must not be blank');
  // Half a character cannot be sent on.
  return { query: query.toWellFormed(), num: num ?? resultsByDefault };
}
