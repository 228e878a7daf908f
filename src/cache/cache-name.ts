// What a cached answer is found by: everything that it depends on, under a digest that says nothing of it. Keyed with the installation's
// secret, since a plain hash in a stolen database would let anybody try what a customer has asked.
import { hash } from 'node:crypto';
import { canonicalJson } from '../lib/canonical-json.ts';
import { deriveKey, type Secret } from '../lib/secrets.ts';

export type CacheName = {
  /** Beside the digest in every look-up, so that no answer crosses accounts whatever the digests are. */
  readonly accountId: string;
  readonly generation: number;
  readonly digest: string;
};

/** Two requests with all of these equal may have the same answer. */
export type CachedRequest = {
  readonly accountId: string;
  /** The account's `cacheGeneration`. */
  readonly generation: number;
  readonly mode: 'live' | 'test';
  readonly method: string;
  readonly path: string;
  readonly stream: boolean;
  /** The catalogue's, already resolved. */
  readonly modelId: string;
  /** Who would answer: provider, upstream model, wire format. */
  readonly route: string;
  /** The headers that change what an answer means, by name. */
  readonly versionHeaders: Readonly<Record<string, string>>;
  /** Parsed JSON. */
  readonly body: unknown;
};

/** The key of the digests, made from the installation's secret. */
export function nameKeyFrom(secret: Secret): string {
  return deriveKey(secret, 'cache names').toString('base64url');
}

export function nameCached(nameKey: string, request: CachedRequest): CacheName {
  const { accountId, generation, mode, method, path, stream, modelId, route, versionHeaders, body } = request;
  // A JSON array: no two lists of parts have the same text. A hash of key and text, a third of an HMAC's price: what that adds is for
  // digests that a stranger sees and could lengthen, and nobody sees these.
  const text = canonicalJson([accountId, generation, mode, method, path, stream, modelId, route, versionHeaders, body]);
  return { accountId, generation, digest: hash('sha256', nameKey + text, 'base64url') };
}
