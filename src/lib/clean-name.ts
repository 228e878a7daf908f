/**
 * Returns a name that somebody chose, as pages and e-mails can show it within a sentence: on one
 * line, without spaces at its ends, and without characters that reverse the text after it. Names in
 * right-to-left scripts need none of these characters. Empty when nothing of it can be seen.
 */
export function cleanName(text: string): string {
  const name = text
    .replaceAll(/\p{Bidi_Control}/gu, '')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return /[^\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u.test(name) ? name : '';
}
