// The format of a key: `tg_live_`, `tg_test_` or `tg_admin_`, 32 random base-62 characters (190
// bits), and a checksum of six characters. The checksum refuses garbage without a database query.
// Only an HMAC of an API key is stored; its secret is outside the database.
import { createHmac, hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Mode } from '../../terms/mode.ts';
import { deriveKey, type Secret } from '../../lib/secrets.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const randomCharacters = 32;
const checksumCharacters = 6;
const pattern = /^tg_(live|test|admin)_[0-9A-Za-z]{38}$/;

/** API keys are live or test keys; admin keys open the admin API only. */
type KeyKind = Mode | 'admin';

/** `start`: the first of the random characters, which says to whom the key was given. */
export function generateKeyText(kind: KeyKind, start = ''): string {
  const body = `tg_${kind}_${start}${randomText().slice(start.length)}`;
  return body + checksumOf(body);
}

/** The start of keys of programs that a user has signed in, which sign out by their key. */
export const programStart = 'signin';

/**
 * Returns true for a well-formed key that was made for a program. A random one has the start once
 * in 56 billion.
 */
export function isOfProgram(text: string): boolean {
  return keyModeOf(text) !== null && text.startsWith(programStart, text.lastIndexOf('_') + 1);
}

/** Returns the mode of a well-formed API key, or null. */
export function keyModeOf(text: string): Mode | null {
  const kind = keyKindOf(text);
  return kind === 'admin' ? null : kind;
}

/** Returns the kind of a well-formed key, or null. */
export function keyKindOf(text: string): KeyKind | null {
  const match = pattern.exec(text);
  if (!match) return null;
  return checksumOf(text.slice(0, -checksumCharacters)) === text.slice(-checksumCharacters)
    ? (match[1] as KeyKind)
    : null;
}

/** Returns the display form of a key: its prefix and last four characters. */
export function keyHintOf(text: string): string {
  return `${text.slice(0, text.lastIndexOf('_') + 1)}…${text.slice(-4)}`;
}

/** Keys that were made by another gateway and moved here: visible ASCII, mostly `sk-…`. */
const foreignPattern = /^(?!tg_)[\x21-\x7e]{16,200}$/;

/** True for a text that may be a key made by another gateway. It has no checksum. */
export function mayBeForeign(text: string): boolean {
  return foreignPattern.test(text);
}

/**
 * Returns the texts under which a key made by another gateway may be stored. new-api takes its keys
 * without `sk-` too, and with a channel's number after a hyphen.
 */
export function foreignTextsOf(text: string): readonly string[] {
  const [bare = ''] = text.replace(/^sk-/, '').split('-');
  const whole = `sk-${bare}`;
  return whole === text || !mayBeForeign(whole) ? [text] : [text, whole];
}

const plainPrefix = 'sha256:';

/**
 * The digest of a key of which only LiteLLM's hash is known, in hexadecimal digits. It is replaced
 * by an HMAC at the first use of the key.
 */
export function plainDigest(sha256: string): string {
  return plainPrefix + sha256.toLowerCase();
}

export function plainDigestOf(text: string): string {
  return plainDigest(hash('sha256', text));
}

/** The HMAC key for digests, derived from the installation's secret. */
export type DigestKey = { readonly secretId: string; readonly bytes: Uint8Array };

export function digestKeyFrom(secret: Secret): DigestKey {
  return { secretId: secret.id, bytes: deriveKey(secret, 'api-key digest') };
}

export function keyDigest({ bytes }: DigestKey, text: string): string {
  return createHmac('sha256', bytes).update(text).digest('base64url');
}

/** Bytes from 248 on are discarded, so that every character is equally likely. */
function randomText(): string {
  let text = '';
  while (text.length < randomCharacters) {
    for (const byte of randomBytes(randomCharacters)) {
      if (byte < 248 && text.length < randomCharacters) text += alphabet[byte % 62];
    }
  }
  return text;
}

function checksumOf(text: string): string {
  let rest = crc32(text);
  let checksum = '';
  while (checksum.length < checksumCharacters) {
    checksum = alphabet[rest % 62] + checksum;
    rest = Math.floor(rest / 62);
  }
  return checksum;
}
