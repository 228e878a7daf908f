// The installation's secret. When it is replaced, the previous one stays accepted until nothing
// depends on it.
import { hkdfSync } from 'node:crypto';

export type Secret = {
  /** Key id: eight hexadecimal digits derived from the secret, which do not reveal it. */
  readonly id: string;
  readonly bytes: Uint8Array;
};

/**
 * The current secret, which seals and signs everything new, then the others that are still
 * accepted.
 */
export type Secrets = readonly [current: Secret, ...accepted: Secret[]];

export function createSecret(text: string): Secret {
  const bytes = Buffer.from(text, 'utf8');
  return { id: derive(bytes, 'key id', 4).toString('hex'), bytes };
}

/** Derives a separate 32-byte key for each use of a secret. */
export function deriveKey({ bytes }: Secret, purpose: string): Buffer {
  return derive(bytes, purpose, 32);
}

function derive(bytes: Uint8Array, purpose: string, length: number): Buffer {
  return Buffer.from(hkdfSync('sha256', bytes, '', `tollgate ${purpose} v1`, length));
}
