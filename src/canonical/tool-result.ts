// The result of a tool for formats that cannot mark it as failed: Chat and Responses.
import type { ToolResultPart } from './request.ts';

/** The content, with a line ahead of it where the tool failed: the model must not take the words of an error for a result. */
export function contentWithFailure({ content, isError }: ToolResultPart): ToolResultPart['content'] {
  return isError ? [{ type: 'text', text: '[The tool call failed.]' }, ...content] : content;
}
