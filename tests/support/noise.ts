// Text that hardly compresses.
import { createHash } from 'node:crypto';

/** Returns as many characters, the same for the same number. */
export function noise(characters: number): string {
  let text = '';
  for (let part = 0; text.length < characters; part++)
    text += createHash('sha512').update(`${part}`).digest('base64url');
  return text.slice(0, characters);
}
