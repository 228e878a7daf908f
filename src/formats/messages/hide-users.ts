// Replaces the user's name in a written Messages request by a digest.
import { type JsonObject, objectOf } from '../../lib/json.ts';
import type { Hiding } from '../hide-users.ts';

/** Other entries of `metadata` are not sent: they are tags, and Anthropic refuses them. */
export function hideUsers(
  { metadata, ...body }: JsonObject,
  { digest, wantsAccount }: Hiding,
): JsonObject {
  const user = objectOf(metadata).user_id;
  if (typeof user === 'string') return { ...body, metadata: { user_id: digest('user', user) } };
  return wantsAccount ? { ...body, metadata: { user_id: digest('account') } } : body;
}
