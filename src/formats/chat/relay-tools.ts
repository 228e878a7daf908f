// The client's functions on the straight path.
import { isObject } from '../../lib/json.ts';
import { editFields, editItems } from '../edit-json.ts';
import { asObjectParameters } from '../tool-parameters.ts';

/**
 * OpenAI, and hosts that copied it, require parameters to be an object with properties. A function
 * may leave them out.
 */
export function relayTools(tools: unknown): unknown {
  return editItems(tools, (tool) => {
    if (!isObject(tool.function)) return tool;
    const { parameters } = tool.function;
    if (parameters === undefined || (parameters !== null && !isObject(parameters))) return tool;
    return editFields(tool, {
      function: editFields(tool.function, { parameters: asObjectParameters(parameters) }),
    });
  });
}
