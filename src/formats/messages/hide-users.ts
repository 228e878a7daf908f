// Replaces the user's name in a written Messages request by a digest.
import { isObject, type JsonObject } from '../../lib/json.ts';
import type { Hiding } from '../hide-users.ts';

/** Other entries of `metadata` are not sent: they are tags, and Anthropic refuses them. */
export function hideUsers(
  { metadata, ...body }: JsonObject,
  { digest, wantsAccount }: Hiding,
): JsonObject {
  const user = isObject(metadata) ? metadata.user_id : undefined;
  if (typeof user === 'string') return { ...body, metadata: { user_id: digest('user', user) } };
  return wantsAccount ? { ...body, metadata: { user_id: digest('account') } } : body;
}
