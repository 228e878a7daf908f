// The client's functions on the straight path, in every list of tools. OpenAI itself judges what
// `strict` allows.
import { isObject, type JsonObject } from '../../lib/json.ts';
import { editFields, editItems, withoutNulls } from '../edit-json.ts';
import { fitOpenAiParameters } from '../openai-schema.ts';

/** Adds to `ignored` the keywords that move into a description. */
export function relayTools(tools: unknown, ignored: Set<string>): unknown {
  return editItems(tools, (tool) => relayTool(tool, ignored));
}

function relayTool(tool: JsonObject, ignored: Set<string>): JsonObject {
  if (tool.type === 'namespace')
    return editFields(tool, { tools: relayTools(tool.tools, ignored) });
  if (tool.type !== 'function') return tool;
  const parameters = isObject(tool.parameters) ? tool.parameters : null;
  const fitted = fitOpenAiParameters(parameters, null, (word) => ignored.add(`tools.${word}`));
  // Without `strict`, OpenAI makes a function strict by itself; null is not that.
  return editFields(withoutNulls(tool, 'strict'), { parameters: fitted });
}
