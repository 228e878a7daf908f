// Tool names on the straight path: fitted in the request, restored in the answer.
import { isObject, type JsonObject } from '../../lib/json.ts';
import { editFields, editItems } from '../edit-json.ts';
import { renameNamed, type Rename, type ToolNameRule } from '../tool-names.ts';

/**
 * OpenAI's rule, which most hosts copied.
 * https://platform.openai.com/docs/api-reference/chat/create (read 2026-11-23)
 */
export const toolNames: ToolNameRule = { charactersMax: 64, isUnique: true };

/** Renames the tools of a request. */
export function renameTools(body: JsonObject, rename: Rename): JsonObject {
  const { tools, functions, messages, tool_choice: choice, function_call: legacy } = body;
  return editFields(body, {
    tools: editItems(tools, (tool) => renameCalled(tool, rename)),
    functions: editItems(functions, (tool) => renameNamed(tool, rename)),
    messages: editItems(messages, (message) => renameCalls(message, rename)),
    tool_choice: isObject(choice) ? renameChoice(choice, rename) : choice,
    function_call: isObject(legacy) ? renameNamed(legacy, rename) : legacy,
  });
}

/** Renames the calls of a message or a delta. A call's result may name its tool too. */
export function renameCalls(message: JsonObject, rename: Rename): JsonObject {
  const { role, tool_calls: calls, function_call: legacy } = message;
  const renamed = role === 'tool' || role === 'function' ? renameNamed(message, rename) : message;
  return editFields(renamed, {
    tool_calls: editItems(calls, (call) => renameCalled(call, rename)),
    function_call: isObject(legacy) ? renameNamed(legacy, rename) : legacy,
  });
}

function renameChoice(choice: JsonObject, rename: Rename): JsonObject {
  const { allowed_tools: allowed } = choice;
  if (!isObject(allowed)) return renameCalled(choice, rename);
  const tools = editItems(allowed.tools, (tool) => renameCalled(tool, rename));
  return editFields(choice, { allowed_tools: editFields(allowed, { tools }) });
}

/** Renames a tool, a call or a choice, whose name is one level down. */
function renameCalled(tool: JsonObject, rename: Rename): JsonObject {
  const { function: called, custom } = tool;
  return editFields(tool, {
    function: isObject(called) ? renameNamed(called, rename) : called,
    custom: isObject(custom) ? renameNamed(custom, rename) : custom,
  });
}
