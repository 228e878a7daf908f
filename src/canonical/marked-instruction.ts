// Instructions in mid-conversation, for providers that take them only ahead of it: they become text
// of the user, marked as instructions.
import type { TextPart } from './request.ts';

export function markInstruction(part: TextPart): TextPart {
  return { ...part, text: part.text === '' ? '' : `<system>\n${part.text}\n</system>` };
}
