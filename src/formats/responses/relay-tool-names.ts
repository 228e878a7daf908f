// Tool names on the straight path: fitted in the request, restored in the answer.
import { isObject, type JsonObject } from '../../lib/json.ts';
import { editFields, editItems } from '../edit-json.ts';
import { renameNamed, type Rename, type ToolNameRule } from '../tool-names.ts';

/** https://platform.openai.com/docs/api-reference/responses/create (read 2026-11-23) */
export const toolNames: ToolNameRule = { charactersMax: 128 };

/** Renames the tools of a request, or of the response that echoes it. */
export function renameTools(body: JsonObject, rename: Rename): JsonObject {
  const { tools, input, tool_choice: choice } = body;
  return editFields(body, {
    tools: renameList(tools, rename),
    input: editItems(input, (item) => renameItem(item, rename)),
    tool_choice: isObject(choice) ? renameChoice(choice, rename) : choice,
  });
}

/** Renames the tools in an item of the input or output. */
export function renameItem(item: JsonObject, rename: Rename): JsonObject {
  switch (item.type) {
    case 'function_call':
    case 'custom_tool_call':
      return renameNamed(item, rename);
    case 'additional_tools':
    case 'tool_search_output':
      return editFields(item, { tools: renameList(item.tools, rename) });
    default:
      return item;
  }
}

function renameChoice(choice: JsonObject, rename: Rename): JsonObject {
  return choice.type === 'allowed_tools'
    ? editFields(choice, { tools: renameList(choice.tools, rename) })
    : renameTool(choice, rename);
}

function renameList(tools: unknown, rename: Rename): unknown {
  return editItems(tools, (tool) => renameTool(tool, rename));
}

/** The namespace's name is not fitted: OpenAI's limit for it is unknown. */
function renameTool(tool: JsonObject, rename: Rename): JsonObject {
  switch (tool.type) {
    case 'function':
    case 'custom':
      return renameNamed(tool, rename);
    case 'namespace':
      return editFields(tool, { tools: renameList(tool.tools, rename) });
    default:
      return tool;
  }
}
