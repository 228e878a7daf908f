// Tools and the choice between them.
import type { CanonicalRequest, Tool, ToolChoice } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { ToolNameRule } from '../tool-names.ts';
import { asObjectSchema } from '../tool-parameters.ts';

export const toolNames: ToolNameRule = { charactersMax: 64, isUnique: true };

/** Adds what is left out to `ignored`. `mark`: writes a mark for the cache. */
export function writeTools(
  request: CanonicalRequest,
  mark: (tool: Tool) => readonly JsonObject[],
  ignored: Set<string>,
): JsonObject {
  const { tools, toolChoice, parallelToolCalls } = request;
  const isForbidden = toolChoice?.type === 'none';
  const named = namesInHistory(request);
  // Converse has no word for `none`; without tools nothing can be called. But calls of a history must
  // have theirs.
  const offered = isForbidden ? [] : tools;
  const missing = [...named].filter((name) => !offered.some((tool) => tool.name === name));
  if (tools.length > 0 && parallelToolCalls === false) ignored.add('parallel_tool_calls');
  const specs = [
    ...offered.flatMap((tool) => [writeTool(tool, ignored), ...mark(tool)]),
    ...missing.map((name) => specOf(tools.find((tool) => tool.name === name) ?? { name })),
  ];
  if (specs.length === 0) return {};
  if (isForbidden) ignored.add('tool_choice');
  const choice = toolChoice && writeToolChoice(toolChoice);
  return { toolConfig: { tools: specs, ...(choice && { toolChoice: choice }) } };
}

function namesInHistory({ messages }: CanonicalRequest): ReadonlySet<string> {
  return new Set(
    messages.flatMap(({ role, content }) =>
      role === 'assistant'
        ? content.flatMap((part) => (part.type === 'tool-call' ? part.name : []))
        : [],
    ),
  );
}

function writeTool(tool: Tool, ignored: Set<string>): JsonObject {
  // Only newer models take it, and refuse schemas that others accept.
  if (tool.strict) ignored.add('tools.strict');
  return specOf(tool);
}

function specOf({
  name,
  description = null,
  parameters = null,
}: Pick<Tool, 'name'> & Partial<Tool>): JsonObject {
  return {
    toolSpec: {
      name,
      ...(description && { description }),
      inputSchema: { json: asObjectSchema(parameters ?? {}) },
    },
  };
}

/** `auto` is the default, and some models refuse even its name. */
function writeToolChoice(choice: ToolChoice): JsonObject | null {
  switch (choice.type) {
    case 'auto':
      return null;
    case 'required':
      return { any: {} };
    case 'tool':
      return { tool: { name: choice.name } };
    case 'none':
      return null;
  }
}
