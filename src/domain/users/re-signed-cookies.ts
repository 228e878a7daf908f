// The sign-in library signs its cookies under one secret. After a rotation, cookies signed under an
// earlier, still accepted secret are signed again before the library sees them.
import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Returns the `Cookie` header with the signatures of earlier keys replaced by the current key's.
 */
export function withCurrentSignatures(
  cookie: string,
  [current, ...earlier]: readonly string[],
): string {
  if (earlier.length === 0 || !cookie.includes('tollgate.')) return cookie;
  return cookie
    .split(';')
    .map((pair) =>
      pair.replace(
        /^(\s*(?:__Host-)?tollgate\.\w+=)([^;]+)$/,
        (whole, name: string, value: string) => {
          const signed = readSigned(value);
          if (
            signed === null ||
            !earlier.some((key) => isSame(signed.signature, signatureOf(key, signed.text)))
          )
            return whole;
          return name + encodeURIComponent(`${signed.text}.${signatureOf(current!, signed.text)}`);
        },
      ),
    )
    .join(';');
}

/** The library's format: the text, a dot, and the HMAC in base64. */
function readSigned(value: string): { readonly text: string; readonly signature: string } | null {
  const plain = decoded(value);
  const dot = plain.lastIndexOf('.');
  return dot < 1 ? null : { text: plain.slice(0, dot), signature: plain.slice(dot + 1) };
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

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
