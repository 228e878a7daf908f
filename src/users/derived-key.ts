import { hkdfSync } from 'node:crypto';

/** A key of its own for each use of the installation's secret. */
export function deriveKey(secret: Uint8Array, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', `tollgate ${purpose} v1`, 32));
}
