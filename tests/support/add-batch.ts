import type { Database } from '../../src/db/database.ts';
import { newIdWithPrefix } from '../../src/lib/ids.ts';
import { hourMs } from '../../src/lib/utc-time.ts';

type Owned = { readonly account: string; readonly key: string; readonly nowMs: number };

/** Adds a batch that runs, without lines. The queue looks at it in an hour. Returns its id. */
export async function addBatch(database: Database, { account, key, nowMs }: Owned) {
  const later = nowMs + hourMs;
  const row = {
    id: newIdWithPrefix('batch'),
    account_id: account,
    mode: 'live',
    key_id: key,
    form: 'anthropic',
    endpoint: '/v1/messages',
    request: '{}',
    state: 'running',
    owner: 'nobody',
    created_at_ms: nowMs,
    expires_at_ms: later,
    kept_until_ms: later,
    due_at_ms: later,
  } as const;
  await database.write.insertInto('batches').values(row).execute();
  return row.id;
}
