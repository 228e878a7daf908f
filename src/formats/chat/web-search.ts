// Web search of OpenAI's search models in Chat. Neither request nor answer counts searches: such a
// model searches once before it answers
// (https://developers.openai.com/api/docs/guides/tools-web-search, read 2026-11-21).
import { invalidRequest } from '../../canonical/errors.ts';
import type { SearchTool } from '../../terms/web-search.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { ClientRequest } from '../format.ts';

/**
 * Throws ApiError `invalid_request` when several answers are requested, because each could search.
 */
export function readSearchTool(request: ClientRequest): SearchTool | null {
  if (!asksToSearch(request.body)) return null;
  if (request.choices > 1) {
    throw invalidRequest(
      'n',
      'n must be 1 with web_search_options: the searches of several answers cannot be counted.',
    );
  }
  return { name: 'web_search_preview', searchesMax: 1, limitField: null };
}

/** A search that is listed among the tools. */
export const listedSearch: SearchTool = {
  name: 'web_search_preview',
  searchesMax: null,
  limitField: null,
};

/**
 * Returns true for a search as a tool, which other formats and hosts have: OpenAI's in Responses,
 * Anthropic's, xAI's, Zhipu's, OpenRouter's (openrouter.ai/docs/guides/features/server-tools, read
 * 2026-11-30).
 */
export function isSearchTool({ type }: JsonObject): boolean {
  return (
    typeof type === 'string' &&
    /^(?:openrouter:)?web_search(?:_preview)?(?:_[\d_]{1,12})?$/.test(type)
  );
}

/** OpenAI's others refuse `web_search_options`: `gpt-5-search-api`, `gpt-4o-search-preview`. */
export function lacksSearch(model: string): boolean {
  return model.startsWith('gpt-') && !model.includes('-search');
}

/** Returns the number of searches of an answer that has begun. */
export function countSearches({ body }: ClientRequest): number {
  return asksToSearch(body) ? 1 : 0;
}

export function asksToSearch({ web_search_options: options }: JsonObject): boolean {
  return options !== undefined && options !== null && options !== false;
}
