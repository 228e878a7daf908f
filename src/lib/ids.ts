// Ids: 26 characters of Crockford's base 32 (digits and lower-case letters without i, l, o, u). The
// first ten encode the time in milliseconds, so rows created together are neighbours in an index. The
// next two count a process's ids of one millisecond, so what it makes in turn is listed in turn. The
// other fourteen are 70 random bits. Modelled on https://github.com/ulid/spec
import { hash, randomFillSync } from 'node:crypto';
import { systemClock } from './clock.ts';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const characters = alphabet.split('');
/** All two-character strings: an id is built in half as many steps. */
const pairs = characters.flatMap((first) => characters.map((second) => first + second));
const randomCharacters = 14;
/** Random bytes are drawn in bulk: one system call for hundreds of ids. */
const pool = Buffer.alloc(8_192);
let used = pool.length;

export function newId(nowMs: number = systemClock.nowMs()): string {
  const time = timeCharacters(nowMs);
  return time + pairs[idsOfMs++ % pairs.length]! + newRandomCharacters(randomCharacters);
}

/**
 * Returns random characters of the id alphabet, five bits each; 26 of them cannot be guessed.
 * `count` is even and at most 8192.
 */
export function newRandomCharacters(count: number): string {
  if (used + count > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  let text = '';
  for (const end = used + count; used < end; used += 2)
    text += pairs[((pool[used]! & 31) << 5) | (pool[used + 1]! & 31)]!;
  return text;
}

/** `newIdWithPrefix('acc')` → `acc_01kahw…`. */
export function newIdWithPrefix(prefix: string): string {
  return `${prefix}_${newId()}`;
}

/** Returns the same id for the same text: `derivedId('acc', 'new-api user 7')`. 130 bits of its SHA-256. */
export function derivedId(prefix: string, text: string): string {
  const bytes = hash('sha256', text, 'buffer');
  return `${prefix}_${Array.from(bytes.subarray(0, 26), (byte) => alphabet[byte & 31]).join('')}`;
}

let lastMs = -1;
let lastCharacters = '';
let idsOfMs = 0;

function timeCharacters(nowMs: number): string {
  if (nowMs === lastMs) return lastCharacters;
  let text = '';
  for (let rest = nowMs; text.length < 10; rest = Math.floor(rest / 32))
    text = alphabet[rest % 32] + text;
  lastMs = nowMs;
  idsOfMs = 0;
  lastCharacters = text;
  return text;
}
