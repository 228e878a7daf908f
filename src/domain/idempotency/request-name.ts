// Identifies a request with an Idempotency-Key: the API key and the Idempotency-Key, with a
// fingerprint of the request.
import { hash } from 'node:crypto';
import { invalidRequest } from '../../canonical/errors.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';

export type RequestName = {
  /** The API key, the scope of the Idempotency-Key. */
  readonly keyId: string;
  /** The account's `cacheGeneration`: memory drops answers of earlier ones. */
  readonly generation: number;
  /** SHA-256 of the Idempotency-Key, whose text is not stored. */
  readonly keyDigest: string;
  /**
   * A hash of method, path and canonical body: the same key with another fingerprint is a conflict.
   */
  readonly fingerprint: string;
};

export type NamedRequest = Pick<RequestName, 'keyId' | 'generation'> & {
  /** The header as Node.js decodes it, one character per byte; undefined when it was not sent. */
  readonly idempotencyKey: string | undefined;
  readonly method: string;
  readonly path: string;
  /** Parsed JSON. */
  readonly body: unknown;
};

/** Bytes of text in any encoding, without control characters. */
const pattern = /^[\x20-\x7e\x80-\xff]{1,1024}$/;

/**
 * Returns null for a request without a key. Throws ApiError `invalid_request` for an unusable key.
 */
export function nameRequest({
  keyId,
  generation,
  idempotencyKey,
  method,
  path,
  body,
}: NamedRequest): RequestName | null {
  if (idempotencyKey === undefined) return null;
  if (!pattern.test(idempotencyKey) || isBlank(idempotencyKey)) {
    const message =
      'The header `Idempotency-Key` must have 1 to 1024 bytes of visible text, without tabs or other control characters. Send a UUID, for example.';
    throw invalidRequest('Idempotency-Key', message);
  }
  const fingerprint = hash('sha256', `${method} ${path}\n${canonicalJson(body)}`, 'base64url');
  return { keyId, generation, keyDigest: hash('sha256', idempotencyKey, 'base64url'), fingerprint };
}

/**
 * Returns true for separators and invisible characters only, decoded as UTF-8, the usual encoding.
 */
function isBlank(key: string): boolean {
  return !/[^\p{Z}\p{C}]/u.test(Buffer.from(key, 'latin1').toString());
}
