// Pages of GET /v1/models, as Anthropic's SDKs ask for them. A request without a parameter of
// theirs gets the whole list, which OpenAI's clients expect.
import { invalidRequest } from '../canonical/errors.ts';
import type { ModelList } from '../domain/catalog/listing.ts';
import { readLimit } from './page-limit.ts';

const limitMax = 1_000;

type Query = Readonly<Record<string, unknown>>;
type PageQuery = { readonly limit: number; readonly afterId?: string; readonly beforeId?: string };

/**
 * Returns the page that the query asks for, or the whole list. Throws ApiError `invalid_request`
 * that names the parameter.
 */
export function pageOf(list: ModelList, query: Query): ModelList {
  const asked = readPage(query);
  if (asked === null) return list;
  const { limit, afterId, beforeId } = asked;
  const { data } = list;
  const end = beforeId === undefined ? data.length : placeOf(list, 'before_id', beforeId);
  const start =
    beforeId !== undefined
      ? Math.max(0, end - limit)
      : afterId === undefined
        ? 0
        : placeOf(list, 'after_id', afterId) + 1;
  const page = data.slice(start, Math.min(end, start + limit));
  return {
    ...list,
    data: page,
    // There is more in the direction of the client.
    has_more: beforeId === undefined ? start + limit < data.length : start > 0,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  };
}

/** Returns null when the query has no parameter of a page. */
function readPage(query: Query): PageQuery | null {
  const { limit, after_id: afterId, before_id: beforeId } = query;
  if (limit === undefined && afterId === undefined && beforeId === undefined) return null;
  if (afterId !== undefined && beforeId !== undefined)
    throw invalidRequest('before_id', 'Send either `after_id` or `before_id`, not both.');
  return {
    limit: readLimit(limit, limitMax),
    ...(afterId !== undefined && { afterId: readId('after_id', afterId) }),
    ...(beforeId !== undefined && { beforeId: readId('before_id', beforeId) }),
  };
}

type IdField = 'after_id' | 'before_id';

function readId(field: IdField, id: unknown): string {
  if (typeof id === 'string') return id;
  throw invalidRequest(field, `Send \`${field}\` once.`);
}

function placeOf({ data }: ModelList, field: IdField, id: string): number {
  const place = data.findIndex((entry) => entry.id === id);
  if (place !== -1) return place;
  throw invalidRequest(
    field,
    `\`${field}\` must be the id of a model in this list, such as the \`last_id\` or \`first_id\` of another page.`,
  );
}
