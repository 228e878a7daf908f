// What a request that may be sent again is known by: the caller's Idempotency-Key within its API key, and what was asked under it.
import { createHash, hash } from 'node:crypto';
import { invalidRequest } from '../canonical/errors.ts';
import { canonicalJson } from '../lib/canonical-json.ts';

export type RequestName = {
  /** The API key: the scope. */
  readonly keyId: string;
  /** The account's `cacheGeneration`: memory forgets what was kept under an earlier one. */
  readonly generation: number;
  /** Of the Idempotency-Key, whose own text is not kept. */
  readonly keyDigest: string;
  /** Of method, path and canonical body: the same key with another one is a conflict. */
  readonly fingerprint: string;
};

export type NamedRequest = Pick<RequestName, 'keyId' | 'generation'> & {
  /** The header's value; undefined: none was sent. */
  readonly idempotencyKey: string | undefined;
  readonly method: string;
  readonly path: string;
  /** Parsed JSON. */
  readonly body: unknown;
};

const pattern = /^[\x21-\x7e]{1,1024}$/;

/** null: the request has no key. Throws ApiError `invalid_request` on one that cannot be used. */
export function nameRequest({ keyId, generation, idempotencyKey, method, path, body }: NamedRequest): RequestName | null {
  if (idempotencyKey === undefined) return null;
  if (!pattern.test(idempotencyKey)) {
    const message =
      'The header `Idempotency-Key` must have 1 to 1024 visible ASCII characters, without spaces. Send a UUID, for example.';
    throw invalidRequest('Idempotency-Key', message);
  }
  const fingerprint = createHash('sha256').update(`${method} ${path}\n`).update(canonicalJson(body)).digest('base64url');
  return { keyId, generation, keyDigest: hash('sha256', idempotencyKey, 'base64url'), fingerprint };
}
