// Ids: 26 characters of Crockford's base 32 (digits and lower-case letters without i, l, o, u). The first ten are the time in milliseconds, so rows
// that are made together lie together in an index; the other sixteen are 80 random bits. https://github.com/ulid/spec
import { randomFillSync } from 'node:crypto';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const randomCharacters = 16;
/** Random bytes are drawn in bulk: one system call for some 500 ids. */
const pool = Buffer.alloc(randomCharacters * 512);
let used = pool.length;

export function newId(nowMs: number = Date.now()): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  let id = timeCharacters(nowMs);
  for (const end = used + randomCharacters; used < end; used++) id += alphabet[pool[used]! & 31];
  return id;
}

/** `newIdWithPrefix('acc')` → `acc_01kahw…`. */
export function newIdWithPrefix(prefix: string): string {
  return `${prefix}_${newId()}`;
}

let lastMs = -1;
let lastCharacters = '';

function timeCharacters(nowMs: number): string {
  if (nowMs === lastMs) return lastCharacters;
  let text = '';
  for (let rest = nowMs; text.length < 10; rest = Math.floor(rest / 32)) text = alphabet[rest % 32] + text;
  lastMs = nowMs;
  lastCharacters = text;
  return text;
}
