// The caller's id of its own user, as providers take it. It only helps them against abuse, so all that counts is that one user has one id.
import { createHash } from 'node:crypto';

/** OpenAI takes 64 characters of `user`; Claude Code's ids are longer. A longer one is replaced by its SHA-256 in hexadecimal. */
export function shortenEndUser(id: string): string {
  return id.length <= charactersMax ? id : createHash('sha256').update(id).digest('hex');
}

const charactersMax = 64;
