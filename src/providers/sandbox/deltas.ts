// Splits the sandbox's text into stream deltas.

/** Splits by words, and long words such as JSON into pieces. Never splits a character. */
export function splitIntoDeltas(text: string): string[] {
  return text.match(/\s*\S{1,16}|\s+$/gu) ?? [];
}
