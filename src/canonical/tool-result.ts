// Tool results for formats that cannot mark them as failed: Chat and Responses.
import type { ToolResultPart } from './request.ts';

/**
 * The content, with a line ahead of it when the tool failed, so that the model does not take an
 * error for a result.
 */
export function contentWithFailure({
  content,
  isError,
}: ToolResultPart): ToolResultPart['content'] {
  return isError ? [{ type: 'text', text: '[The tool call failed.]' }, ...content] : content;
}
