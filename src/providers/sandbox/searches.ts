// The web search that a provider runs for its model, and the code that Gemini runs: when the sandbox's
// model asks for it, and for what.
import { objectOf, parsedOr } from '../../lib/json.ts';
import type { SandboxRequest } from './request.ts';
import type { Turn } from './turn.ts';

/**
 * Returns the query or the code, or null: no tool, or the model answers or calls another tool. It
 * searches when a directive asks for it, as for any tool, or the request requires it.
 */
export function chooseSearch(
  { searchTool, toolChoice, tools }: SandboxRequest,
  { text, directives }: Turn,
): string | null {
  if (searchTool === undefined || toolChoice?.type === 'none') return null;
  if (toolChoice?.type === 'tool' && toolChoice.name !== searchTool) return null;
  const asked = directives.toolCalls.find(({ name }) => name === searchTool);
  const isForced =
    toolChoice?.type === 'tool' || (toolChoice?.type === 'required' && tools.length === 0);
  if (!asked && !isForced) return null;
  return readQuery(asked?.input ?? null) ?? (text || 'nothing');
}

/** Reads `cats`, or `{"query":"cats"}` as models write it. */
function readQuery(input: string | null): string | null {
  if (input === null) return null;
  const { query } = objectOf(parsedOr(input, null));
  return typeof query === 'string' ? query : input;
}
