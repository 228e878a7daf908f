// The lookup key of a cached answer: a digest of everything that the answer depends on. It is keyed
// with the installation's secret, because with a plain hash anybody with a stolen database could
// test guesses of what a customer asked.
import { hash } from 'node:crypto';
import type { Mode } from '../../terms/mode.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';
import { deriveKey, type Secret } from '../../lib/secrets.ts';

export type CacheName = {
  /**
   * Stored beside the digest and compared in every lookup, so that answers cannot cross accounts.
   */
  readonly accountId: string;
  readonly generation: number;
  readonly digest: string;
};

/**
 * Everything that an answer depends on: requests that are equal in all of it may share an answer.
 */
export type CachedRequest = {
  readonly accountId: string;
  /** The account's `cacheGeneration`. */
  readonly generation: number;
  readonly mode: Mode;
  readonly method: string;
  readonly path: string;
  readonly stream: boolean;
  /** The resolved catalogue model. */
  readonly modelId: string;
  /** Provider, upstream model and wire format of the answering route, and which images it may draw. */
  readonly route: string;
  /** Headers that change the meaning of an answer, by name. */
  readonly versionHeaders: Readonly<Record<string, string>>;
  /** Parsed JSON. */
  readonly body: unknown;
};

/** Returns the digest key, derived from the installation's secret. */
export function nameKeyFrom(secret: Secret): string {
  return deriveKey(secret, 'cache names').toString('base64url');
}

export function nameCached(nameKey: string, request: CachedRequest): CacheName {
  const { accountId, generation } = request;
  // A JSON array, so that different parts never give the same text. A plain hash of key and text
  // costs a third of an HMAC. An HMAC protects against length extension, which needs digests that a
  // stranger can see; these are never shown.
  const text = canonicalJson([
    accountId,
    generation,
    request.mode,
    request.method,
    request.path,
    request.stream,
    request.modelId,
    request.route,
    request.versionHeaders,
    request.body,
  ]);
  return { accountId, generation, digest: hash('sha256', nameKey + text, 'base64url') };
}
