// The blocks of a web search that the gateway runs. Their ids mark them as ours: `srvtoolu_tg1_…`.
// Their content is encoded, not encrypted: it is the excerpt, which only a model reads.
import { searchFunction, type SearchPart } from '../../canonical/own-tools.ts';
import { isObject, type JsonObject, textOf, objectOf } from '../../lib/json.ts';
import type { AnswerContext } from '../format.ts';

const ownPrefix = 'srvtoolu_tg1_';
const caller = { type: 'direct' };

export type SearchBlocks = {
  /** The call; its input comes in deltas of a stream. */
  readonly use: JsonObject;
  readonly resultOf: (found: SearchPart['found']) => JsonObject;
};

/** `number`: no other search of the answer has it. */
export function searchBlocks(
  query: string | null,
  { requestId }: AnswerContext,
  number: number,
): SearchBlocks {
  const id = `${ownPrefix}${requestId}_${number}`;
  const input = { query: query ?? '' };
  return {
    use: { type: 'server_tool_use', id, name: searchFunction.name, input, caller },
    resultOf: (found) => ({
      type: 'web_search_tool_result',
      tool_use_id: id,
      content: writeFound(found),
      caller,
    }),
  };
}

function writeFound(found: SearchPart['found']): JsonObject | readonly JsonObject[] {
  if (typeof found === 'string') return { type: 'web_search_tool_result_error', error_code: found };
  return found.map(({ title, url, date, snippet }) => ({
    type: 'web_search_result',
    url,
    title,
    encrypted_content: Buffer.from(snippet).toString('base64'),
    page_age: date,
  }));
}

/** Returns true for a block of ours, which Anthropic refuses. */
export function isOwnSearchBlock({ id, tool_use_id: useId }: JsonObject): boolean {
  return textOf(id ?? useId).startsWith(ownPrefix);
}

/**
 * Returns an earlier search as a text, because no other vendor has such blocks; null for any other
 * block. Excerpts that Anthropic encrypted are left out.
 */
export function searchAsText(block: JsonObject): string | null {
  const { type, name, input, content } = block;
  if (type === 'server_tool_use' && name === searchFunction.name)
    return `I searched the web for: ${textOf(objectOf(input).query)}`.trimEnd();
  if (type !== 'web_search_tool_result') return null;
  if (!Array.isArray(content)) return 'The search failed.';
  const pages = content.filter(isObject).map((page) => {
    const excerpt = Buffer.from(textOf(page.encrypted_content), 'base64').toString();
    const lines = [page.title, page.url, page.page_age, isOwnSearchBlock(block) && excerpt];
    return lines.map(textOf).filter(Boolean).join('\n');
  });
  return ['The search found:', ...pages].join('\n\n').trimEnd();
}
