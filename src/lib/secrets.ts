// The installation's secret. It can be replaced: then the one before is accepted beside the new one, until nothing needs it any more.
import { hkdfSync } from 'node:crypto';

export type Secret = {
  /** Its key id: eight hexadecimal digits made from it, which name it and do not give it away. */
  readonly id: string;
  readonly bytes: Uint8Array;
};

/** The current one, under which everything new is made, and those that are accepted beside it. */
export type Secrets = readonly [current: Secret, ...accepted: Secret[]];

export function createSecret(text: string): Secret {
  const bytes = Buffer.from(text, 'utf8');
  return { id: derive(bytes, 'key id', 4).toString('hex'), bytes };
}

/** A key of its own, of 32 bytes, for each use of a secret. */
export function deriveKey({ bytes }: Secret, purpose: string): Buffer {
  return derive(bytes, purpose, 32);
}

function derive(bytes: Uint8Array, purpose: string, length: number): Buffer {
  return Buffer.from(hkdfSync('sha256', bytes, '', `tollgate ${purpose} v1`, length));
}
