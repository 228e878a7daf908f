// Hides end users from providers. All accounts share the operator's credential. So names of users
// and caches are replaced by keyed digests of account and name, and no account can use, or learn
// of, another's.
import { createHmac } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { UpstreamFormatName } from '../../canonical/format-name.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import { deriveKey, type Secret } from '../../lib/secrets.ts';

export type EndUsers = {
  /**
   * Returns a body with digests instead of the client's names: 43 characters, which every vendor
   * accepts.
   */
  readonly hide: (body: JsonObject, recipient: Recipient) => JsonObject;
};

type Recipient = {
  readonly accountId: string;
  readonly format: UpstreamFormatName;
  /**
   * True when the account is sent if the client names no user, so that abuse by one account is not
   * blamed on all.
   */
  readonly wantsAccount: boolean;
  /** True when each account gets its own prompt cache there. */
  readonly takesCacheSalt: boolean;
};

const digestsCharactersMax = 2_000_000;

/** The input of a digest. A user has one digest, whichever field carries the name. */
type Use = 'user' | 'account' | 'prompt cache' | 'cache salt';

/** `secret`: the installation's current secret. After a rotation providers see other digests. */
export function createEndUsers(secret: Secret): EndUsers {
  const key = deriveKey(secret, 'end users');
  // An HMAC costs a tenth of a request, and most requests send the digest of their account.
  const digests = new LRUCache<string, string>({
    maxSize: digestsCharactersMax,
    sizeCalculation: (digest, text) => digest.length + text.length,
  });
  const digestOf = (text: string) =>
    digests.get(text) ?? remember(text, createHmac('sha256', key).update(text).digest('base64url'));
  const remember = (text: string, digest: string) => {
    digests.set(text, digest);
    return digest;
  };
  return {
    hide: (body, recipient) => {
      const digestFor = (use: Use, name = '') =>
        digestOf(JSON.stringify([use, recipient.accountId, name]));
      switch (recipient.format) {
        case 'responses':
        case 'chat':
          return hideInOpenAi(body, recipient, digestFor);
        case 'messages':
          return hideInMessages(body, recipient, digestFor);
        case 'gemini':
          return body;
      }
    },
  };
}

type Digest = (use: Use, name?: string) => string;

function hideInOpenAi(
  body: JsonObject,
  { wantsAccount, takesCacheSalt }: Recipient,
  digest: Digest,
): JsonObject {
  const { user, safety_identifier: identifier, prompt_cache_key: cacheKey } = body;
  const namesNobody = typeof user !== 'string' && typeof identifier !== 'string';
  return {
    ...body,
    ...(typeof user === 'string' && { user: digest('user', user) }),
    ...(typeof identifier === 'string' && { safety_identifier: digest('user', identifier) }),
    ...(namesNobody && wantsAccount && { safety_identifier: digest('account') }),
    ...(typeof cacheKey === 'string' && { prompt_cache_key: digest('prompt cache', cacheKey) }),
    ...(takesCacheSalt && { cache_salt: digest('cache salt') }),
  };
}

function hideInMessages(body: JsonObject, { wantsAccount }: Recipient, digest: Digest): JsonObject {
  const metadata = isObject(body.metadata) ? body.metadata : {};
  if (typeof metadata.user_id === 'string')
    return { ...body, metadata: { ...metadata, user_id: digest('user', metadata.user_id) } };
  return wantsAccount ? { ...body, metadata: { ...metadata, user_id: digest('account') } } : body;
}
