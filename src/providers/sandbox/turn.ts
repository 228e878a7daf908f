// The turn that the sandbox answers: the last user message and the tool results after it.
import { noDirectives, readDirectives, type Directives } from './directives.ts';
import { refuse } from './failures.ts';
import type { Message, ToolResultPart, UserPart } from '../../canonical/request.ts';

export type Turn = {
  /** The text parts of the last user message, joined by line feeds, without directives. */
  readonly text: string;
  readonly directives: Directives;
  readonly images: number;
  readonly documents: number;
  readonly toolResults: readonly ToolResult[];
};
type ToolResult = { readonly name: string; readonly text: string; readonly isError: boolean };

/** Throws UpstreamBroken for a malformed directive. */
export function readTurn(messages: readonly Message[]): Turn {
  const index = messages.findLastIndex((message) => message.role === 'user');
  const last = messages[index];
  const parts: readonly UserPart[] = last?.role === 'user' ? last.content : [];
  const toolResults = readToolResults(messages, index);
  const text = textOf(parts);
  return {
    // Directives apply to the first step of a turn only: obeyed after each result, they never end.
    ...(toolResults.length > 0 ? { text, directives: noDirectives } : readLines(text)),
    images: parts.filter((part) => part.type === 'image').length,
    documents: parts.filter((part) => part.type === 'document').length,
    toolResults,
  };
}

function readLines(message: string): Pick<Turn, 'text' | 'directives'> {
  const read = readDirectives(message);
  return read.kind === 'malformed' ? refuse(read.message) : read;
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
