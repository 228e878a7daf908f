// Replaces the user's name in a written Messages request by a digest.
import { type JsonObject, objectOf } from '../../lib/json.ts';
import { editFields } from '../edit-json.ts';
import type { Hiding } from '../hide-users.ts';

/** Other entries of `metadata` are not sent: they are tags, and Anthropic refuses them. */
export function hideUsers(body: JsonObject, { digest, wantsAccount }: Hiding): JsonObject {
  const user = objectOf(body.metadata).user_id;
  if (typeof user === 'string') return { ...body, metadata: { user_id: digest('user', user) } };
  return editFields(body, {
    metadata: wantsAccount ? { user_id: digest('account') } : undefined,
  });
}
