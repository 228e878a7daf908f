// Instructions in mid-conversation, for providers that take them only ahead of it: they become text
// of the user, marked as instructions.
export function markInstruction<Part extends { readonly text: string }>(part: Part): Part {
  return { ...part, text: part.text === '' ? '' : `<system>\n${part.text}\n</system>` };
}
