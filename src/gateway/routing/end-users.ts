// Hides end users from providers. All accounts share the operator's credential. So names of users
// and caches are replaced by keyed digests of account and name, and no account can use, or learn
// of, another's.
import { createHmac } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { UpstreamFormatName } from '../../terms/format-name.ts';
import type { Hiding } from '../../formats/hide-users.ts';
import { upstreamFormats } from '../../formats/registry.ts';
import type { JsonObject } from '../../lib/json.ts';
import { deriveKey, type Secret } from '../../lib/secrets.ts';

type Recipient = Omit<Hiding, 'digest'> & {
  readonly accountId: string;
  readonly format: UpstreamFormatName;
};

const digestsCharactersMax = 2_000_000;

/** `secret`: the installation's current secret. After a rotation providers see other digests. */
export function createEndUsers(secret: Secret) {
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
    /**
     * Returns a body with digests instead of the client's names: 43 characters, which every vendor
     * accepts.
     */
    hide: (body: JsonObject, recipient: Recipient) =>
      upstreamFormats[recipient.format].hideUsers(body, {
        ...recipient,
        digest: (use, name = '') => digestOf(JSON.stringify([use, recipient.accountId, name])),
      }),
  };
}
