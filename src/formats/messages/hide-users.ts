// Replaces the user's name in a written Messages request by a digest.
import { isObject, type JsonObject } from '../../lib/json.ts';
import type { Hiding } from '../hide-users.ts';

export function hideUsers(body: JsonObject, { digest, wantsAccount }: Hiding): JsonObject {
  const metadata = isObject(body.metadata) ? body.metadata : {};
  if (typeof metadata.user_id === 'string')
    return { ...body, metadata: { user_id: digest('user', metadata.user_id) } };
  return wantsAccount ? { ...body, metadata: { user_id: digest('account') } } : body;
}
