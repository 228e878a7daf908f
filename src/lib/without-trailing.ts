/** Without the signs at its end: `withoutTrailing('a//', '/')` is `a`. An expression like `/\/+$/` takes quadratic time for signs in the middle. */
export function withoutTrailing(text: string, sign: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === sign) end--;
  return text.slice(0, end);
}
