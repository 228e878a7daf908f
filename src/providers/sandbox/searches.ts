// The web search that a provider runs for its model: when the sandbox's model searches, and for
// what.
import { objectOf, parsedOr } from '../../lib/json.ts';
import { readDirectives, type ToolDirective } from './directives.ts';
import type { SandboxRequest } from './request.ts';
import { readTurn, type Turn } from './turn.ts';

/** Returns the query, or null: no tool, or the model answers or calls another tool. */
export function chooseSearch(request: SandboxRequest): string | null {
  const turn = readTurn(request.messages);
  const read = turn.toolResults.length > 0 ? null : readDirectives(turn.text);
  const wanted = read?.kind === 'read' ? read.directives.toolCalls : [];
  return searchFor(request, wanted, {
    ...turn,
    text: read?.kind === 'read' ? read.text : turn.text,
  });
}

/** Searches when a directive asks for it, as for any tool, or the request requires it. */
function searchFor(
  { searchTool, toolChoice, tools }: SandboxRequest,
  wanted: readonly ToolDirective[],
  { text }: Turn,
): string | null {
  if (searchTool === undefined || toolChoice?.type === 'none') return null;
  if (toolChoice?.type === 'tool' && toolChoice.name !== searchTool) return null;
  const asked = wanted.find(({ name }) => name === searchTool);
  const isForced =
    toolChoice?.type === 'tool' || (toolChoice?.type === 'required' && tools.length === 0);
  return asked || isForced
    ? (readQuery(asked?.input ?? null) ?? (text === '' ? 'nothing' : text))
    : null;
}

/** Reads `cats`, or `{"query":"cats"}` as models write it. */
function readQuery(input: string | null): string | null {
  if (input === null) return null;
  const { query } = objectOf(parsedOr(input, null));
  return typeof query === 'string' ? query : input;
}
