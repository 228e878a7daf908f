// Code that Google ran has a place in no other format: it is told as text.
import { isObject, textOf } from '../../lib/json.ts';

/** Returns the code of a part, or what came of it, as a Markdown block. null: it has neither. */
export function codeAsText({
  executableCode: code,
  codeExecutionResult: result,
}: Readonly<Record<string, unknown>>): string | null {
  if (isObject(code)) return blockOf(textOf(code.code), textOf(code.language).toLowerCase());
  return isObject(result) ? blockOf(textOf(result.output)) : null;
}

function blockOf(text: string, language = ''): string {
  return `\n\`\`\`${language}\n${text}${text.endsWith('\n') ? '' : '\n'}\`\`\`\n`;
}
