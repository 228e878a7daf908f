// Replaces the names of users and caches in a written body by digests. The gateway makes them
// (gateway/routing/end-users.ts); the formats know the fields.
import type { JsonObject } from '../lib/json.ts';

/** The input of a digest. A user has one digest, whichever field carries the name. */
type DigestUse = 'user' | 'account' | 'prompt cache' | 'cache salt';

export type Hiding = {
  readonly digest: (use: DigestUse, name?: string) => string;
  /**
   * True when the account is sent if the client names no user, so that abuse by one account is not
   * blamed on all.
   */
  readonly wantsAccount: boolean;
  /** True when each account gets its own prompt cache there. */
  readonly takesCacheSalt: boolean;
};

/** For OpenAI's two formats. */
export function hideOpenAiUsers(
  body: JsonObject,
  { digest, wantsAccount, takesCacheSalt }: Hiding,
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
