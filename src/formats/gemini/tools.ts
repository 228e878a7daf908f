// Functions and the choice between them. Schemas go into the field for JSON Schema, which takes words that the older one refuses.
import { invalidRequest } from '../../canonical/errors.ts';
import type { CanonicalRequest, Tool, ToolChoice } from '../../canonical/request.ts';
import { requireChosenTool } from '../../canonical/tool-choice.ts';
import type { JsonObject } from '../format.ts';

/** Throws ApiError when a tool is asked for that the request does not have. */
export function writeTools({ tools, toolChoice }: CanonicalRequest): JsonObject {
  requireChosenTool({ tools, toolChoice });
  if (tools.length === 0) return {};
  return {
    tools: [{ functionDeclarations: tools.map(writeTool) }],
    ...(toolChoice ? { toolConfig: { functionCallingConfig: writeToolChoice(toolChoice) } } : {}),
  };
}

/** What Gemini has no field for and an answer does without. */
export function ignoredOfTools({ tools, parallelToolCalls }: CanonicalRequest): string[] {
  const ignored: string[] = [];
  if (tools.length > 0 && parallelToolCalls === false) ignored.push('parallel_tool_calls');
  if (tools.some((tool) => tool.strict)) ignored.push('strict');
  return ignored;
}

function writeTool({ kind, name, description, parameters }: Tool, index: number): JsonObject {
  if (kind === 'custom') {
    throw invalidRequest(
      `tools[${index}]`,
      `tools[${index}] is a custom (free-form) tool, which this model does not know; use a function with a JSON schema`,
    );
  }
  return {
    name,
    ...(description === null ? {} : { description }),
    ...(parameters === null ? {} : { parametersJsonSchema: { type: 'object', ...parameters } }),
  };
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
