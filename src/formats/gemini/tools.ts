// Functions and the choice between them. Schemas go into the field for JSON Schema, because the
// older field refuses some keywords.
import type { CanonicalRequest, Tool, ToolChoice } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { ToolNameRule } from '../tool-names.ts';
import { asObjectSchema, takesNothing } from '../tool-parameters.ts';

/**
 * Declarations may also contain dots and colons; calls and results may not.
 * https://ai.google.dev/api/caching#FunctionDeclaration (read 2026-11-23)
 */
export const toolNames: ToolNameRule = {
  charactersMax: 64,
  startsWithLetter: true,
  isUnique: true,
};

export function writeTools({ tools, toolChoice }: CanonicalRequest): JsonObject {
  if (tools.length === 0) return {};
  return {
    tools: [{ functionDeclarations: tools.map(writeTool) }],
    ...(toolChoice ? { toolConfig: { functionCallingConfig: writeToolChoice(toolChoice) } } : {}),
  };
}

/** Lists what Gemini has no field for and the answer does not need. */
export function ignoredOfTools({ tools, parallelToolCalls }: CanonicalRequest): string[] {
  const ignored: string[] = [];
  if (tools.length > 0 && parallelToolCalls === false) ignored.push('parallel_tool_calls');
  if (tools.some((tool) => tool.strict)) ignored.push('tools.strict');
  return ignored;
}

function writeTool({ name, description, parameters }: Tool): JsonObject {
  return {
    name,
    ...(description === null ? {} : { description }),
    ...writeParameters(parameters),
  };
}

/**
 * A function without arguments has no schema: Gemini's reference says so, and it refused an object
 * without properties.
 */
function writeParameters(parameters: Tool['parameters']): JsonObject {
  if (parameters === null || takesNothing(parameters)) return {};
  return { parametersJsonSchema: asObjectSchema(parameters) };
}

function writeToolChoice(choice: ToolChoice): JsonObject {
  switch (choice.type) {
    case 'auto':
      return { mode: 'AUTO' };
    case 'none':
      return { mode: 'NONE' };
    case 'required':
      return { mode: 'ANY' };
    case 'tool':
      return { mode: 'ANY', allowedFunctionNames: [choice.name] };
  }
}
