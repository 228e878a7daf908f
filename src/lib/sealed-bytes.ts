// Encryption of stored bytes: compressed, then sealed with AES-256-GCM under a key derived from the
// installation's secret. The context (such as a row's key) is authenticated too, so they
// cannot be moved to another row.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { pack, unpack } from './packing.ts';
import { deriveKey, type Secrets } from './secrets.ts';

export type Sealer = {
  readonly seal: (plain: Uint8Array, context: string) => Promise<Buffer>;
  /** Seals what is compressed already (`packing.ts`). */
  readonly sealPacked: (packed: Uint8Array, context: string) => Buffer;
  /**
   * Throws when the bytes were changed, or sealed for another context or under a secret that is not
   * accepted.
   */
  readonly open: (sealed: Uint8Array, context: string) => Promise<Buffer>;
};

const version = 1;
const ivBytes = 12;
const tagBytes = 16;
const headBytes = 1 + ivBytes + tagBytes;

/** Seals under the current secret. `purpose` separates the keys of different uses of one secret. */
export function createSealer(secrets: Secrets, purpose: string): Sealer {
  const keys = secrets.map((secret) => deriveKey(secret, purpose));
  const sealPacked = (packed: Uint8Array, context: string) => encrypt(keys[0]!, packed, context);
  return {
    sealPacked,
    seal: async (plain, context) => sealPacked(await pack(plain), context),
    open: async (sealed, context) => unpack(decryptUnderAny(keys, sealed, context)),
  };
}

function encrypt(key: Uint8Array, plain: Uint8Array, context: string): Buffer {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(context, 'utf8'));
  const body = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([Buffer.from([version]), iv, cipher.getAuthTag(), body]);
}

/**
 * Tries each secret: the bytes do not say which one sealed them, and a wrong one fails
 * authentication.
 */
function decryptUnderAny(
  [key, ...others]: readonly Buffer[],
  sealed: Uint8Array,
  context: string,
): Buffer {
  try {
    return decrypt(key!, sealed, context);
  } catch (error) {
    if (others.length === 0) throw error;
    return decryptUnderAny(others, sealed, context);
  }
}

function decrypt(key: Uint8Array, sealed: Uint8Array, context: string): Buffer {
  if (sealed[0] !== version || sealed.length < headBytes)
    throw new Error('these bytes were not sealed by this version');
  const iv = sealed.subarray(1, 1 + ivBytes);
  const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes }).setAAD(
    Buffer.from(context, 'utf8'),
  );
  decipher.setAuthTag(sealed.subarray(1 + ivBytes, headBytes));
  return Buffer.concat([decipher.update(sealed.subarray(headBytes)), decipher.final()]);
}
