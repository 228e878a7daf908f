// The client's functions on the straight path, in every list of tools.
import { isObject, type JsonObject } from '../../lib/json.ts';
import { editFields, editItems } from '../edit-json.ts';
import { asObjectParameters } from '../tool-parameters.ts';

/**
 * OpenAI requires parameters to be an object with properties, and refuses a function without the
 * field.
 */
export function relayTools(tools: unknown): unknown {
  return editItems(tools, relayTool);
}

function relayTool(tool: JsonObject): JsonObject {
  if (tool.type === 'namespace') return editFields(tool, { tools: relayTools(tool.tools) });
  const parameters = tool.parameters ?? null;
  if (tool.type !== 'function' || (parameters !== null && !isObject(parameters))) return tool;
  return editFields(tool, { parameters: asObjectParameters(parameters) });
}
