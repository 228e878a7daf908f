// Text at rest: compressed, then encrypted and authenticated (AES-256-GCM) under a key made from the installation's secret. What is
// sealed for one place cannot be opened in another: the place is authenticated with it.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { deflateRaw, deflateRawSync, inflateRaw, inflateRawSync } from 'node:zlib';
import { deriveKey, type Secrets } from './secrets.ts';

export type Sealer = {
  readonly seal: (text: string, place: string) => Promise<Buffer>;
  /** Throws when the bytes were changed, sealed for another place, or sealed under a secret that is not accepted. */
  readonly open: (sealed: Uint8Array, place: string) => Promise<string>;
};

const version = 1;
const ivBytes = 12;
const tagBytes = 16;
const headBytes = 1 + ivBytes + tagBytes;
/** Below this the thread pool's round trip costs more than the work. */
const atOnceBytes = 16 * 1024;

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/** Seals under the current secret. `purpose` keeps the keys of different uses of one secret apart. */
export function createSealer(secrets: Secrets, purpose: string): Sealer {
  const keys = secrets.map((secret) => deriveKey(secret, purpose));
  return {
    seal: async (text, place) => {
      const plain = Buffer.from(text, 'utf8');
      return encrypt(keys[0]!, plain.length <= atOnceBytes ? deflateRawSync(plain) : await deflate(plain), place);
    },
    open: async (sealed, place) => {
      const packed = decryptUnderAny(keys, sealed, place);
      return (packed.length <= atOnceBytes / 4 ? inflateRawSync(packed) : await inflate(packed)).toString('utf8');
    },
  };
}

function encrypt(key: Uint8Array, plain: Uint8Array, place: string): Buffer {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(place, 'utf8'));
  const body = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([Buffer.from([version]), iv, cipher.getAuthTag(), body]);
}

/** The bytes do not say under which secret they were sealed: under another one they are not authentic. */
function decryptUnderAny([key, ...others]: readonly Buffer[], sealed: Uint8Array, place: string): Buffer {
  try {
    return decrypt(key!, sealed, place);
  } catch (error) {
    if (others.length === 0) throw error;
    return decryptUnderAny(others, sealed, place);
  }
}

function decrypt(key: Uint8Array, sealed: Uint8Array, place: string): Buffer {
  if (sealed[0] !== version || sealed.length < headBytes) throw new Error('these bytes were not sealed by this version');
  const iv = sealed.subarray(1, 1 + ivBytes);
  const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes }).setAAD(Buffer.from(place, 'utf8'));
  decipher.setAuthTag(sealed.subarray(1 + ivBytes, headBytes));
  return Buffer.concat([decipher.update(sealed.subarray(headBytes)), decipher.final()]);
}
