// What a provider is told of whom a request is for. All accounts share the operator's credential there, so the names that clients give
// their own users and caches are replaced by keyed digests of account and name: no account can take, or learn of, another's.
import { createHmac } from 'node:crypto';
import type { UpstreamFormatName } from '../canonical/format-name.ts';
import type { JsonObject } from '../formats/format.ts';
import { isObject } from '../lib/json.ts';
import { deriveKey, type Secret } from '../lib/secrets.ts';

export type EndUsers = {
  /** A body for the provider, with digests in the place of the client's names: 43 characters, which every vendor takes. */
  readonly hide: (body: JsonObject, recipient: Recipient) => JsonObject;
};

type Recipient = {
  readonly accountId: string;
  readonly format: UpstreamFormatName;
  /** Whether it is told of the account where the client names no user, so that one that abuses it is not taken for all. */
  readonly wantsAccount: boolean;
  /** Whether each account has a prompt cache of its own there. */
  readonly takesCacheSalt: boolean;
};

/** What a digest is of. One user has one digest, whichever field names it. */
type Use = 'user' | 'account' | 'prompt cache' | 'cache salt';

/** `secret`: the installation's current one. After a rotation a provider is told other names. */
export function createEndUsers(secret: Secret): EndUsers {
  const key = deriveKey(secret, 'end users');
  const digest = (accountId: string, use: Use, name = '') =>
    createHmac('sha256', key)
      .update(JSON.stringify([use, accountId, name]), 'utf8')
      .digest('base64url');
  return {
    hide: (body, recipient) => {
      const digestFor = (use: Use, name?: string) => digest(recipient.accountId, use, name);
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

function hideInOpenAi(body: JsonObject, { wantsAccount, takesCacheSalt }: Recipient, digest: Digest): JsonObject {
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
