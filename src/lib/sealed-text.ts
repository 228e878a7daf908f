// Text at rest: compressed, then encrypted and authenticated (AES-256-GCM) under a key made from the installation's secret. What is
// sealed for one place cannot be opened in another: the place is authenticated with it.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { deflateRaw, deflateRawSync, inflateRaw, inflateRawSync } from 'node:zlib';

export type Sealer = {
  readonly seal: (text: string, place: string) => Promise<Buffer>;
  /** Throws when the bytes were changed, sealed for another place, or sealed under another secret. */
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

/** `purpose` keeps the keys of different uses of one secret apart. */
export function createSealer(secret: Uint8Array, purpose: string): Sealer {
  const key = Buffer.from(hkdfSync('sha256', secret, '', `tollgate ${purpose} v1`, 32));
  return {
    seal: async (text, place) => {
      const plain = Buffer.from(text, 'utf8');
      return encrypt(key, plain.length <= atOnceBytes ? deflateRawSync(plain) : await deflate(plain), place);
    },
    open: async (sealed, place) => {
      const packed = decrypt(key, sealed, place);
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

function decrypt(key: Uint8Array, sealed: Uint8Array, place: string): Buffer {
  if (sealed[0] !== version || sealed.length < headBytes) throw new Error('these bytes were not sealed by this version');
  const iv = sealed.subarray(1, 1 + ivBytes);
  const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes }).setAAD(Buffer.from(place, 'utf8'));
  decipher.setAuthTag(sealed.subarray(1 + ivBytes, headBytes));
  return Buffer.concat([decipher.update(sealed.subarray(headBytes)), decipher.final()]);
}
