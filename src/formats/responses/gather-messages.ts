// Items are flatter than messages: what the assistant said, thought and called in one turn is gathered into one message, and so are the
// results that follow each other.
import type { Message, TextPart, ToolResultPart } from '../../canonical/request.ts';

export type Conversation = {
  /** The system and developer messages ahead of everything else. */
  readonly system: TextPart[];
  readonly messages: Message[];
};

/** Adds the message of one item. */
export function addMessage(conversation: Conversation, message: Message): void {
  const { system, messages } = conversation;
  const last = messages.at(-1);
  switch (message.role) {
    case 'system':
      if (last) messages.push(message);
      else system.push(...message.content);
      return;
    case 'user':
      messages.push(message);
      return;
    case 'assistant':
      if (last?.role === 'assistant') messages[messages.length - 1] = { ...last, content: [...last.content, ...message.content] };
      else if (message.content.length > 0) messages.push(message);
      return;
    case 'tool':
      for (const result of message.content) addResult(messages, result);
  }
}

/**
 * One call has one result: Codex sends what a custom tool says while it still runs as a result of its own, ahead of the last or long after it,
 * and other providers refuse two.
 */
function addResult(messages: Message[], result: ToolResultPart): void {
  const last = messages.at(-1);
  const results = last?.role === 'tool' ? last.content : [];
  if (results.some(({ callId }) => callId === result.callId)) {
    messages[messages.length - 1] = { role: 'tool', content: results.map((first) => joinResults(first, result)) };
  } else if (messages.some((message) => isResultOf(message, result.callId))) {
    const text = `[More output of the tool call ${result.callId}]`;
    messages.push({ role: 'user', content: [{ type: 'text', text }, ...result.content] });
  } else if (results.length > 0) messages[messages.length - 1] = { role: 'tool', content: [...results, result] };
  else messages.push({ role: 'tool', content: [result] });
}

function joinResults(first: ToolResultPart, second: ToolResultPart): ToolResultPart {
  return first.callId === second.callId ? { ...first, content: [...first.content, ...second.content] } : first;
}

function isResultOf({ role, content }: Message, callId: string): boolean {
  return role === 'tool' && content.some((part) => part.callId === callId);
}
