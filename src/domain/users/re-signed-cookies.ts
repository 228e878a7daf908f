// The sign-in library signs its cookies under one secret. After a rotation, cookies signed under an
// earlier, still accepted secret are signed again before the library sees them.
import { createHmac } from 'node:crypto';
import { isSameText } from '../../lib/same-text.ts';

/**
 * Returns the `Cookie` header with the signatures of earlier keys replaced by the current key's.
 */
export function withCurrentSignatures(
  cookie: string,
  [current, ...earlier]: readonly string[],
): string {
  if (earlier.length === 0 || !cookie.includes('tollgate.')) return cookie;
  return cookie.replaceAll(
    /((?:^|;)\s*(?:__Host-)?tollgate\.\w+=)([^;]+)/g,
    (whole, name: string, value: string) => {
      // The library's format: the text, a dot, and the HMAC in base64.
      const plain = decoded(value);
      const dot = plain.lastIndexOf('.');
      const [text, signature] = [plain.slice(0, dot), plain.slice(dot + 1)];
      const isEarlier = earlier.some((key) => isSameText(signature, signatureOf(key, text)));
      return dot > 0 && isEarlier
        ? name + encodeURIComponent(`${text}.${signatureOf(current!, text)}`)
        : whole;
    },
  );
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return '';
  }
}

function signatureOf(key: string, text: string): string {
  return createHmac('sha256', key).update(text, 'utf8').digest('base64');
}
