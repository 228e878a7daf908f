// Tool names on the straight path: fitted in the request, restored in the answer.
import { isObject, type JsonObject } from '../../lib/json.ts';
import { editFields, editItems, editText } from '../edit-json.ts';
import { renameNamed, type Rename, type ToolNameRule } from '../tool-names.ts';

/**
 * `^[a-zA-Z0-9_-]{1,128}$`, from
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools (read 2026-11-23).
 */
export const toolNames: ToolNameRule = { charactersMax: 128, isUnique: true };

/** Renames the tools of a request. */
export function renameTools(body: JsonObject, rename: Rename): JsonObject {
  const { tools, messages, tool_choice: choice } = body;
  return editFields(body, {
    tools: editItems(tools, (tool) =>
      (tool.type ?? 'custom') === 'custom' ? renameNamed(tool, rename) : tool,
    ),
    messages: editItems(messages, (message) => renameBlocks(message, rename)),
    tool_choice: isObject(choice) ? renameNamed(choice, rename) : choice,
  });
}

/** Renames the calls in a message, and the tool references in a result. */
export function renameBlocks(message: JsonObject, rename: Rename): JsonObject {
  return editFields(message, {
    content: editItems(message.content, (block) => renameBlock(block, rename)),
  });
}

export function renameBlock(block: JsonObject, rename: Rename): JsonObject {
  switch (block.type) {
    case 'tool_use':
      return renameNamed(block, rename);
    case 'tool_reference':
      return editFields(block, { tool_name: editText(block.tool_name, rename) });
    case 'tool_result':
      return renameBlocks(block, rename);
    default:
      return block;
  }
}
