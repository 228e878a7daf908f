// Signed links to stored images: anyone with a link may read the image until it expires, without a
// key. The signature is an HMAC over the whole link, so nobody else can create one.
import { createHmac } from 'node:crypto';
import { isSameText } from '../../lib/same-text.ts';
import { deriveKey, type Secrets } from '../../lib/secrets.ts';
import type { StoredImage } from './image-store.ts';

export const imageFilesPath = '/v1/images/files/';

/** The parts as they stand in a URL, untrusted. */
export type LinkParts = {
  readonly id: string;
  readonly expires: string;
  readonly signature: string;
};

export type ImageLinks = {
  /** `baseUrl` without a slash at its end. */
  readonly sign: (baseUrl: string, image: StoredImage) => string;
  /** Returns true when the link was signed under any accepted secret and has not expired. */
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
      // The texts, not the decoded bytes: base64 has several spellings of the same bytes.
      keys.some((key) => isSameText(signature, signatureOf(key, { id, expires }))) &&
      Number(expires) > nowSeconds,
  };
}

/**
 * Signs both parts. The text is unambiguous although clients control both: an `expires` that we
 * signed has only digits, and the id comes last.
 */
function signatureOf(key: Uint8Array, { id, expires }: Omit<LinkParts, 'signature'>): string {
  return createHmac('sha256', key).update(`${expires}\n${id}`, 'utf8').digest('base64url');
}
