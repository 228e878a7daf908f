// Links to stored images: whoever holds one may read the image until it expires, without a key. Nobody else can make one: the signature
// is an HMAC over all that the link says.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { deriveKey, type Secrets } from '../lib/secrets.ts';
import type { StoredImage } from './image-store.ts';

export const imageFilesPath = '/v1/images/files/';

/** As they stand in an address, not trusted in any way. */
export type LinkParts = { readonly id: string; readonly expires: string; readonly signature: string };

export type ImageLinks = {
  /** `baseUrl` without a slash at its end. */
  readonly sign: (baseUrl: string, image: StoredImage) => string;
  /** Whether we signed exactly this, under any secret that is accepted, and it has not expired. */
  readonly verify: (parts: LinkParts, nowSeconds: number) => boolean;
};

export function createImageLinks(secrets: Secrets): ImageLinks {
  const keys = secrets.map((secret) => deriveKey(secret, 'image links'));
  return {
    sign: (baseUrl, { id, expiresAtSeconds }) => {
      const expires = String(expiresAtSeconds);
      return `${baseUrl}${imageFilesPath}${id}?expires=${expires}&signature=${signatureOf(keys[0]!, { id, expires })}`;
    },
    verify: ({ id, expires, signature }, nowSeconds) =>
      keys.some((key) => isSameText(signature, signatureOf(key, { id, expires }))) && Number(expires) > nowSeconds,
  };
}

/** The id comes last, since a client writes both: no two pairs are one text, as `expires` that we signed is digits only. */
function signatureOf(key: Uint8Array, { id, expires }: Omit<LinkParts, 'signature'>): string {
  return createHmac('sha256', key).update(`${expires}\n${id}`, 'utf8').digest('base64url');
}

/** As text, not as what it decodes to: base64 has more than one spelling. Takes as long for a wrong one as for the right one. */
function isSameText(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given, 'utf8'), Buffer.from(expected, 'utf8')];
  return a.length === b.length && timingSafeEqual(a, b);
}
