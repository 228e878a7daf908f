/**
 * Removes a trailing character: `withoutTrailing('a//', '/')` is `a`. A regular expression such as
 * `/\/+$/` is quadratic in repeated characters in the middle.
 */
export function withoutTrailing(text: string, sign: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === sign) end--;
  return text.slice(0, end);
}
