// Tools that instructions in mid-conversation add or take away, for models that know only the list of
// the request. Claude Code changes tools when an MCP server connects late:
// github.com/KarpelesLab/teamclaude/pull/451,
// platform.claude.com/docs/build-with-claude/mid-conversation-system-messages (read 2026-11-30).
import { isObject, type JsonObject, objectOf, objectsOf } from '../../lib/json.ts';
import type { CacheMark, ContentBlock, MessagesRequest } from './schema.ts';

/** Returns changes of tools as texts for the model. All other blocks stay. */
export function withChangesAsTexts(
  content: string | readonly ContentBlock[],
): readonly ContentBlock[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return content.map((block) => changeAsText(block) ?? block);
}

function changeAsText(change: JsonObject): ContentBlock | null {
  const name = nameOf(change);
  if (name === null) return null;
  const { type, cache_control: mark } = change as { type: string; cache_control?: CacheMark };
  const can = type === 'tool_addition' ? 'can be called now' : 'can no longer be called';
  return { type: 'text', text: `This tool ${can}: ${name}`, ...(mark && { cache_control: mark }) };
}

/** Returns the request with the tools that its conversation adds, which are offered from the start. */
export function withAddedTools<Body extends MessagesRequest>(body: Body): Body {
  /** By name; null: one of the request's own. */
  const added = new Map<unknown, JsonObject | null>();
  for (const { role, content } of body.messages) {
    if (role !== 'system') continue;
    for (const block of objectsOf(content)) {
      const { definition } = objectOf(block.tool);
      const name = nameOf(block);
      // A tool that was defined and removed comes back by its name.
      if (block.type === 'tool_addition' && name !== null)
        added.set(name, isObject(definition) ? definition : (added.get(name) ?? null));
    }
  }
  if (added.size === 0) return body;
  const tools = objectsOf(body.tools).map((tool) => {
    const definition = added.get(tool.name);
    added.delete(tool.name);
    if (definition !== null) return definition ?? tool;
    const { defer_loading: _, ...offered } = tool;
    return offered;
  });
  return { ...body, tools: [...tools, ...[...added.values()].filter(isObject)] };
}

function nameOf({ type, tool }: JsonObject): string | null {
  if (type !== 'tool_addition' && type !== 'tool_removal') return null;
  const { name, definition } = objectOf(tool);
  const own = name ?? objectOf(definition).name;
  return typeof own === 'string' ? own : null;
}
