// The turn that the sandbox answers: the last user message and the tool results after it.
import type { Message, ToolResultPart, UserPart } from '../../canonical/request.ts';

export type Turn = {
  /** The text parts of the last user message, joined by line feeds. */
  readonly text: string;
  readonly images: number;
  readonly documents: number;
  readonly toolResults: readonly ToolResult[];
};
type ToolResult = { readonly name: string; readonly text: string; readonly isError: boolean };

export function readTurn(messages: readonly Message[]): Turn {
  const index = messages.findLastIndex((message) => message.role === 'user');
  const last = messages[index];
  const parts: readonly UserPart[] = last?.role === 'user' ? last.content : [];
  return {
    text: textOf(parts),
    images: parts.filter((part) => part.type === 'image').length,
    documents: parts.filter((part) => part.type === 'document').length,
    toolResults: readToolResults(messages, index),
  };
}

function readToolResults(messages: readonly Message[], after: number): ToolResult[] {
  const names = callNames(messages);
  return messages
    .slice(after + 1)
    .flatMap((message) => (message.role === 'tool' ? message.content : []))
    .map((part) => ({
      name: names.get(part.callId) ?? part.callId,
      text: textOf(part.content),
      isError: part.isError,
    }));
}

function callNames(messages: readonly Message[]): Map<string, string> {
  const parts = messages.flatMap((message) =>
    message.role === 'assistant' ? message.content : [],
  );
  return new Map(
    parts.flatMap((part) => (part.type === 'tool-call' ? [[part.id, part.name] as const] : [])),
  );
}

function textOf(parts: readonly UserPart[] | ToolResultPart['content']): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}
