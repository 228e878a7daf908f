// Refuses a tool choice that the request's tools cannot satisfy. Providers handle it differently;
// some ignore it.
import { invalidRequest, quoted, refuseField } from './errors.ts';
import type { CanonicalRequest } from './request.ts';

/**
 * Throws ApiError `invalid_request` for a tool that is not defined, or a required call without
 * tools.
 */
export function requireChosenTool({
  toolChoice,
  tools,
}: Pick<CanonicalRequest, 'toolChoice' | 'tools'>): void {
  if (toolChoice?.type === 'required' && tools.length === 0) {
    refuseField('tool_choice', 'asks for a tool call, but the request has no tools');
  }
  if (toolChoice?.type !== 'tool' || tools.some((tool) => tool.name === toolChoice.name)) return;
  const names =
    tools.length === 0
      ? 'it has none'
      : `it has ${tools.map((tool) => quoted(tool.name)).join(', ')}`;
  throw invalidRequest(
    'tool_choice',
    `tool_choice names ${quoted(toolChoice.name)}, which is no tool of this request: ${names}`,
  );
}
