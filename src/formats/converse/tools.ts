// Tools and the choice between them.
import type { CanonicalRequest, Tool, ToolChoice } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { ToolNameRule } from '../tool-names.ts';
import { asObjectSchema } from '../tool-parameters.ts';
import type { ModelTraits } from './model-traits.ts';

export const toolNames: ToolNameRule = { charactersMax: 64, isUnique: true };

/**
 * Adds what is left out to `ignored`. `mark`: writes a mark for the cache. Where a model cannot be told which
 * tool to call, that one alone is offered.
 */
export function writeTools(
  request: CanonicalRequest,
  {
    mark,
    forces,
  }: {
    readonly mark: (tool: Tool) => readonly JsonObject[];
    readonly forces: ModelTraits['forces'];
  },
  ignored: Set<string>,
): JsonObject {
  const { toolChoice, parallelToolCalls } = request;
  const only = toolChoice?.type === 'tool' && forces !== 'named' ? toolChoice.name : null;
  const tools = request.tools.filter(({ name }) => only === null || name === only);
  const isForbidden = toolChoice?.type === 'none';
  const named = namesInHistory(request);
  // Converse has no word for `none`; without tools nothing can be called. But calls of a history must
  // have theirs.
  const offered = isForbidden ? [] : tools;
  const missing = [...named].filter((name) => !offered.some((tool) => tool.name === name));
  if (tools.length > 0 && parallelToolCalls === false) ignored.add('parallel_tool_calls');
  const specs = [
    ...offered.flatMap((tool) => [writeTool(tool, ignored), ...mark(tool)]),
    ...missing.map((name) => specOf(request.tools.find((tool) => tool.name === name) ?? { name })),
  ];
  if (specs.length === 0) return {};
  if (isForbidden) ignored.add('tool_choice');
  const choice = toolChoice && writeToolChoice(toolChoice, forces);
  if (!choice && (only !== null || toolChoice?.type === 'required')) ignored.add('tool_choice');
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
function writeToolChoice(choice: ToolChoice, forces: ModelTraits['forces']): JsonObject | null {
  switch (choice.type) {
    case 'auto':
      return null;
    case 'required':
      return forces && { any: {} };
    case 'tool':
      return forces === 'named' ? { tool: { name: choice.name } } : forces && { any: {} };
    case 'none':
      return null;
  }
}
