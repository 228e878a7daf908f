// Tells an account that a provider refuses its own key.
import type { Database } from '../../db/database.ts';
import { writeNewEvents } from '../../domain/alerts/outbox.ts';
import { noteRefused } from '../../domain/keys/own-keys.ts';
import { hourMs } from '../../lib/utc-time.ts';

type Refusal = {
  readonly accountId: string;
  readonly ownKeyId: string;
  readonly status: number;
  readonly nowMs: number;
};

export async function tellOwnKey(
  database: Database,
  { accountId, ownKeyId, status, nowMs }: Refusal,
): Promise<void> {
  const refused = await noteRefused(database, ownKeyId, nowMs);
  if (!refused) return;
  const { provider, shown_end } = refused;
  const data = { account_id: accountId, provider, own_key_id: ownKeyId, shown_end, status };
  const onceKey = `own key ${ownKeyId} ${Math.floor(nowMs / hourMs)}`;
  await writeNewEvents(database, [{ type: 'own_key.refused', data, accountId, onceKey }], nowMs);
}
