// Tells an account that a provider refuses its own key.
import type { Database } from '../../db/database.ts';
import { writeNewEvents } from '../../domain/alerts/outbox.ts';
import { noteRefused } from '../../domain/keys/own-keys.ts';
import { hourMs } from '../../lib/utc-time.ts';

/** `status`: the provider's. */
export async function tellOwnKey(
  database: Database,
  { id, status, nowMs }: { readonly id: string; readonly status: number; readonly nowMs: number },
): Promise<void> {
  const refused = await noteRefused(database.write, id, nowMs);
  if (!refused) return;
  const { provider, shown_end, account_id: accountId } = refused;
  const data = { account_id: accountId, provider, own_key_id: id, shown_end, status };
  const onceKey = `own key ${id} ${Math.floor(nowMs / hourMs)}`;
  await writeNewEvents(database, [{ type: 'own_key.refused', data, accountId, onceKey }], nowMs);
}
