// Lists fields below the top level that only Anthropic knows. They are harmless when left out.
import { isObject } from '../../lib/json.ts';
import { isAskedFor } from '../field-verdicts.ts';
import { isLeftOut } from './read-conversation.ts';
import type { MessagesRequest } from './schema.ts';

/** `metadata`, when it has entries besides the user's name: they are tags, and sent nowhere. */
export function ignoredMetadata({ metadata }: Pick<MessagesRequest, 'metadata'>): string[] {
  const isTag = ([name, value]: [string, unknown]) => name !== 'user_id' && isAskedFor(value);
  return Object.entries(metadata ?? {}).some(isTag) ? ['metadata'] : [];
}

/** Fields without a meaning elsewhere. */
export const unread: readonly string[] = (
  'tools.allowed_callers tools.defer_loading tools.eager_input_streaming tools.input_examples output_config.task_budget ' +
  'thinking.block_binding messages.content.toolset_name'
).split(' ');

/**
 * A budget, or thinking that is off, overrides an effort. Requested reasoning is shown in spite of
 * `display: "omitted"`.
 */
export function ignoredThinkingFields({
  thinking,
  output_config: config,
}: MessagesRequest): string[] {
  const hidesEffort = thinking?.type === 'enabled' || thinking?.type === 'disabled';
  const display = isObject(thinking) && 'display' in thinking ? thinking.display : undefined;
  return [
    ...(hidesEffort && config?.effort ? ['output_config.effort'] : []),
    ...(display === 'omitted' ? ['thinking.display'] : []),
  ];
}

/** `messages.citations`: requested on a document. */
export function ignoredMessageFields({ messages }: MessagesRequest): string[] {
  const ignored = new Set<string>();
  for (const message of messages) {
    if (message.role === 'system' && message.output_config) ignored.add('messages.output_config');
    noteBlocks(message.content, ignored);
  }
  return [...ignored];
}

function noteBlocks(content: unknown, ignored: Set<string>): void {
  if (!Array.isArray(content)) return;
  for (const block of content) {
    if (!isObject(block)) continue;
    const isSource = block.type === 'document' || block.type === 'search_result';
    if (isSource && isObject(block.citations) && block.citations.enabled)
      ignored.add('messages.citations');
    if (block.type === 'image' && isObject(block.transformations))
      ignored.add('messages.transformations');
    if (String(block.type).endsWith('thinking') && isObject(block.cache_control))
      ignored.add('cache_control');
    if (isLeftOut(block)) ignored.add(`messages.content.${String(block.type)}`);
    if (block.type === 'tool_result') noteBlocks(block.content, ignored);
  }
}
