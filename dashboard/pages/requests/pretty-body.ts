// Formats a kept body for readers.
import type { KeptBody } from '../../../src/management/contract/requests.ts';

/** JSON is indented; anything else, such as a stream or what was cut, stays as it was sent. */
export function prettyBody({ text, cut }: KeptBody): string {
  if (cut) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
